"""Drives benchmarks of Go's package `testing`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from paceline_contract.readers.go_testing import read_text
from paceline_contract.results import Result

from paceline.harnesses.port import (
    DriveRequest,
    FinishedStart,
    Invocation,
    has_option,
    program_of,
    without_options,
)

BENCH = ("-bench", "--bench", "-test.bench")
_NAME = re.compile(r"(?:.*\.)?(Benchmark[^/.]*)((?:/.*)?)", re.DOTALL)
"""Matches an optional package, the function, and the names of its sub-benchmarks."""
_PROCS = re.compile(r"-\d+\Z")


class GoTesting:
    name = "go"
    title = "Go's package testing"
    can_filter = True

    def detect(self, command: Sequence[str], directory: Path) -> bool:  # noqa: ARG002 - the port's signature
        if program_of(command) == "go" and "test" in command[1:2]:
            return True
        return has_option(command, "-test.bench")

    def make_invocation(self, request: DriveRequest) -> Invocation:
        prefix = "-" if program_of(request.command) == "go" else "-test."
        argv = list(request.command)
        if request.only:
            argv = without_options(argv, *BENCH)
            argv.insert(
                2 if prefix == "-" else 1,
                f"{prefix}bench={_bench_pattern(request.only)}",
            )

        def add_default(name: str, value: str) -> None:
            if not has_option(argv, f"-{name}", f"--{name}", f"-test.{name}"):
                # Before the packages and `-args`, where the command has its own options.
                argv.insert(2 if prefix == "-" else 1, f"{prefix}{name}={value}")

        add_default("bench", ".")
        add_default("run", "^$")
        add_default("count", str(request.repetitions))
        add_default("benchtime", f"{request.min_time_ns}ns")
        if not has_option(argv, "-benchmem", "--benchmem", "-test.benchmem"):
            argv.insert(2 if prefix == "-" else 1, f"{prefix}benchmem")
        return Invocation(argv)

    def read(self, finished: FinishedStart) -> Result:
        return read_text(finished.stdout)


def _bench_pattern(names: Sequence[str]) -> str:
    """Return the value of -bench that selects these benchmarks.

    Each level of a name has a pattern of its own, so that few other benchmarks run with them.
    """
    paths = [
        [match[1], *match[2].split("/")[1:]]
        for name in names
        if (match := _NAME.fullmatch(name))
    ]
    depth = 1 if len({len(path) for path in paths}) > 1 else len(paths[0])
    return "/".join(_match_any(path[level] for path in paths) for level in range(depth))


def _match_any(parts: Iterable[str]) -> str:
    # Go matches names without the number of processors that it appends.
    texts = {text for part in parts for text in (part, _PROCS.sub("", part))}
    return f"^({'|'.join(re.escape(text) for text in sorted(texts))})$"
