"""Prints the slowest tests of a run of scripts/test, by CPU time: `scripts/slowest.py DIRECTORY [NUMBER]`.

DIRECTORY holds what the parts left: `timings*/*.json` of pytest (paceline_server.testing.timings),
`vitest.json`, and the log of `cargo test`. The last two tell wall time alone: they are sorted by it, and have
`-` for CPU time.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CARGO_BINARY = re.compile(r"^\s*(?:Running (?P<what>.+) \(|Doc-tests (?P<docs>\S+))")
CARGO_RESULT = re.compile(r"^test result: .* finished in (?P<wall>[\d.]+)s")


class Row(NamedTuple):
    name: str
    wall_s: float
    cpu_s: float | None
    kind: str

    @property
    def weight(self) -> float:
        return self.wall_s if self.cpu_s is None else self.cpu_s


def of_pytest(directory: Path) -> Iterator[Row]:
    for path in sorted(directory.glob("timings*/*.json")):
        for row in json.loads(path.read_text()):
            yield Row(row["name"], row["wall_s"], row["cpu_s"], row["kind"])


def of_vitest(path: Path) -> Iterator[Row]:
    if path.is_file():
        for file in json.loads(path.read_text())["testResults"]:
            for test in file["assertionResults"]:
                yield Row(
                    f"vitest: {test['fullName']}",
                    (test["duration"] or 0.0) / 1000,
                    None,
                    "test",
                )


def of_cargo(path: Path) -> Iterator[Row]:
    """Whole binaries of tests, because cargo does not report the time of each test."""
    binary = "?"
    for line in path.read_text(errors="replace").splitlines() if path.is_file() else []:
        if begun := CARGO_BINARY.match(line):
            binary = begun["what"] or f"{begun['docs']} (documentation)"
        elif ended := CARGO_RESULT.match(line):
            yield Row(f"cargo: {binary}", float(ended["wall"]), None, "test")


def summed(rows: list[Row]) -> list[Row]:
    """Merges rows of one name, because every worker has its own shared fixtures."""
    found: dict[str, Row] = {}
    for row in rows:
        before = found.get(row.name, Row(row.name, 0.0, 0.0, row.kind))
        cpu = (before.cpu_s or 0.0) + (row.cpu_s or 0.0)
        found[row.name] = Row(row.name, before.wall_s + row.wall_s, cpu, row.kind)
    return list(found.values())


def table(title: str, rows: list[Row], number: int) -> Iterator[str]:
    chosen = sorted(rows, key=lambda row: -row.weight)[:number]
    if chosen:
        yield f"{title}\n  CPU s   wall s"
        for row in chosen:
            cpu = "      -" if row.cpu_s is None else f"{row.cpu_s:7.1f}"
            yield f"{cpu}  {row.wall_s:7.1f}  {row.name}"


def main(directory: Path, number: int) -> None:
    python = list(of_pytest(directory))
    tests = [row for row in python if row.kind == "test"]
    shared = [row for row in python if row.kind != "test"]
    others = [
        *of_vitest(directory / "vitest.json"),
        *of_cargo(directory / "cargo-test.log"),
    ]
    for line in table(
        f"The {number} slowest tests (- : CPU time not known)",
        [*tests, *others],
        number,
    ):
        sys.stdout.write(f"{line}\n")
    for line in table(
        "What tests of Python share, all workers together", summed(shared), 10
    ):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 25)
