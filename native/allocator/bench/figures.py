"""Figures of the allocator suite, from what its judge wrote and from tables of counts.

Place: under `plots.py` and `pages.py`, which show them. Invariant: a ratio is one that the judge computed,
with its interval, or the reciprocal of one with that of its interval; nothing is computed from samples here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

Params = Mapping[str, Any]


class Figure(NamedTuple):
    """A value with its interval, where one is known."""

    value: float
    lower: float | None = None
    upper: float | None = None

    def __str__(self) -> str:
        digits = 0 if self.value >= 1000 else 1 if self.value >= 20 else 3
        if self.lower is None or self.upper is None:
            return f"{self.value:.{digits}f}"
        return f"{self.value:.{digits}f} ({self.lower:.{digits}f} to {self.upper:.{digits}f})"

    def reciprocal(self) -> Figure:
        """Turn a speedup into a share of the time, or back."""
        lower = 1 / self.upper if self.upper else None
        return Figure(1 / self.value, lower, 1 / self.lower if self.lower else None)


class Table(NamedTuple):
    """A table that instructions.sh printed: arm → column → count."""

    columns: Sequence[str]
    rows: Mapping[str, Mapping[str, float]]


class Report(NamedTuple):
    """The figures that the judge wrote about one or several runs."""

    derived: Sequence[Mapping[str, Any]]
    measurements: Sequence[Mapping[str, Any]]
    gates: Sequence[Mapping[str, Any]]

    def _find(
        self, name: str, at: Params
    ) -> Iterator[tuple[Mapping[str, Any], Figure]]:
        for row in self.derived:
            here = row["params"]
            if (
                row["name"] == name
                and row["value"] is not None
                and at.items() <= here.items()
            ):
                yield row, Figure(row["value"], row["lower"], row["upper"])

    def by_value(
        self, name: str, arm: str, param: str, at: Params
    ) -> dict[int, Figure]:
        """Return a derived metric of an arm by the values of a param."""
        found = [
            (row["params"][param], one)
            for row, one in self._find(name, at)
            if row["arm"] == arm
        ]
        return dict(sorted(found))

    def by_arm(self, name: str, at: Params) -> dict[str, Figure]:
        """Return a derived metric of every arm at one combination of params."""
        return {row["arm"]: one for row, one in self._find(name, at)}

    def by_best(
        self, name: str, param: str, at: Params
    ) -> dict[int, tuple[Figure, str]]:
        """Return, by value of a param, our speed relative to the fastest other arm, and that arm. The metric `name` has
        the speed of each other arm relative to ours."""
        best: dict[int, tuple[Figure, str]] = {}
        for row, one in self._find(name, at):
            value = row["params"][param]
            if value not in best or one.value > best[value][0].value:
                best[value] = (one, row["arm"])
        return {
            value: (one.reciprocal(), arm) for value, (one, arm) in sorted(best.items())
        }

    def programs(self, arms: Sequence[str]) -> list[tuple[str, str, Figure]]:
        """Return (program, arm, its time ÷ mimalloc's); the mean over all programs is last."""
        rows = [
            (str(row["params"]["program"]), str(row["arm"]), one.reciprocal())
            for row, one in self._find("programs_vs_mimalloc343", {})
            if row["arm"] in arms
        ]
        return sorted(
            rows, key=lambda row: (row[0] == "all", row[0], arms.index(row[1]))
        )

    def medians(self, benchmark: str, metric: str, per: float) -> dict[str, Figure]:
        """Return the medians of a metric by arm, divided by `per`."""
        return {
            row["arm"]: Figure(row["median"] / per)
            for row in self.measurements
            if (row["benchmark"], row["metric"]) == (benchmark, metric)
        }


def read_reports(paths: Iterable[Path]) -> Report:
    """Read several reports as one. Of two with the same figure, the later one counts."""
    derived: dict[str, Any] = {}
    measurements: dict[str, Any] = {}
    gates: dict[str, Any] = {}
    for path in paths:
        whole = json.loads(path.read_text(encoding="utf-8"))
        for rows, into, names in (
            (whole["derived"], derived, ("name", "benchmark", "arm", "params")),
            (
                whole["measurements"],
                measurements,
                ("benchmark", "arm", "params", "metric"),
            ),
            (
                whole["gates"],
                gates,
                (
                    "benchmark",
                    "arm",
                    "params",
                    "statistic",
                    "metric",
                    "level",
                    "target",
                ),
            ),
        ):
            into.update(
                {
                    json.dumps([row[name] for name in names], sort_keys=True): row
                    for row in rows
                }
            )
    return Report(
        list(derived.values()), list(measurements.values()), list(gates.values())
    )


def read_table(path: Path) -> Table:
    """Read a table of a heading line and a line per arm. A count of 0 could not be measured."""
    head, *lines = [
        line.split()
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    ]
    rows = {
        words[0]: dict(zip(head[1:], map(float, words[1:]), strict=True))
        for words in lines
    }
    return Table(head[1:], rows)
