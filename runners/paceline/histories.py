"""Reads a tool's whole history, one result for each commit, and says what is in it (`paceline migrate`).

Each entry is read when it is needed and then forgotten, so that memory does not grow with what the figures are. An entry
that cannot be read, and a figure that cannot be stored, are left out with the reason, and the others go in. Which files
make a history is in `paceline_contract.readers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from paceline_contract.imported_series import LeftOut
from paceline_contract.readers.history import HistoryEntry
from paceline_contract.readers.registry import HISTORIES, StatedOrigin, with_origin
from paceline_contract.results import (
    MeasuredMetric,
    Result,
    ResultError,
    cases_without_figures,
)
from paceline_contract.units import quantity
from rich.table import Column, Table

from paceline.errors import UserError
from paceline.result_files import list_files, typical_figure

ADVICE = "docs/harnesses.md says which file or directory it is."
MAX_ROWS = 100
"""Most rows of a summary's table."""
MAX_REASONS, MAX_NAMES = 20, 3
"""Most reasons for which something was left out that are printed, and most names of each."""


def read(form: str, path: str) -> list[HistoryEntry]:
    """Return the entries of a history, the oldest first. Raises UserError."""
    root = Path(path)
    if not root.exists():
        raise UserError(f"{path} is not there.", ADVICE)
    try:
        entries = HISTORIES[form](list_files(root))
    except OSError as error:
        raise UserError(
            f"{error.filename or path} cannot be read: {error.strerror}."
        ) from error
    except ResultError as error:
        raise UserError(f"{path}: {error}.", ADVICE) from error
    if not entries:
        raise UserError(f"{path} has no entry.", ADVICE)
    return entries


def read_results(
    entries: Iterable[HistoryEntry], branch: str | None, left_out: LeftOutCounter
) -> Iterator[tuple[HistoryEntry, Result | None]]:
    """Yield each entry with its result, or None if it has no figures; `left_out` counts what is not in it."""
    for entry in entries:
        try:
            result = with_origin(entry.read(), StatedOrigin(branch=branch))
        except ResultError as error:
            left_out.add(LeftOut.of(entry.place, None, str(error)))
            yield entry, None
            continue
        for problem in cases_without_figures(result):
            left_out.add(problem)
        yield entry, result if any(case.metrics for case in result.cases) else None


class LeftOutCounter:
    """Counts what is left out by its reason: a history leaves out the same benchmark at each commit."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._names: dict[str, dict[str, None]] = {}

    def add(self, left_out: LeftOut) -> None:
        """Count an entry; of its names a few are kept."""
        self._counts[left_out.why] += 1
        names = self._names.setdefault(left_out.why, {})
        if len(names) <= MAX_NAMES:
            names[left_out.id or left_out.name] = None

    @property
    def total(self) -> int:
        return self._counts.total()

    def sentences(self) -> Iterator[str]:
        """Yield one sentence for each reason, the most frequent first."""
        for why, count in self._counts.most_common(MAX_REASONS):
            named = [*filter(None, self._names[why])]
            listed = ", ".join(named[:MAX_NAMES])
            more = ", …" if len(named) > MAX_NAMES else ""
            times = "" if count == 1 else f" ({count:,} times)"
            yield f"left out {listed}{more}{times}: {why}"
        if len(self._counts) > MAX_REASONS:
            yield f"and for {len(self._counts) - MAX_REASONS:,} more reasons"


@dataclass
class _Row:
    """The figures of one benchmark on one target in one metric."""

    commits: int
    unit: str
    newest: float


@dataclass
class HistorySummary:
    """Says what will be where: benchmarks, commits, span of time, targets, units, and what is left out."""

    form: str
    default_target: str
    left_out: LeftOutCounter = field(default_factory=LeftOutCounter)
    entries: int = 0
    points: int = 0
    first: datetime | None = None
    last: datetime | None = None
    _commits: set[str | None] = field(default_factory=set)
    _rows: dict[tuple[str, str, str], _Row] = field(default_factory=dict)

    def add(self, entry: HistoryEntry, result: Result) -> None:
        """Count a result; results are added in the order of time."""
        self.entries += 1
        self.first, self.last = self.first or result.at, result.at
        self._commits.add(result.commit)
        target = entry.target or self.default_target
        for case in result.cases:
            for metric in case.metrics:
                self._add_metric((target, case.spoken_name, metric.name), metric)

    def _add_metric(self, key: tuple[str, str, str], metric: MeasuredMetric) -> None:
        self.points += 1
        newest = typical_figure(metric)
        row = self._rows.setdefault(key, _Row(0, metric.unit, newest))
        row.commits, row.unit, row.newest = row.commits + 1, metric.unit, newest

    def tables(self) -> Iterator[Table | str]:
        """Yield a table for people, and what it does not say."""
        columns = ("metric", "points", "newest")
        table = Table(
            Column("target", overflow="fold"),
            Column("benchmark", overflow="fold"),
            *columns,
        )
        for (target, name, metric), row in sorted(self._rows.items())[:MAX_ROWS]:
            newest = quantity(row.newest, row.unit)
            table.add_row(target, name, metric, f"{row.commits:,}", newest)
        yield table
        if len(self._rows) > MAX_ROWS:
            yield f"and {len(self._rows) - MAX_ROWS:,} more series"
        targets = sorted({target for target, _, _ in self._rows})
        benchmarks = {name for _, name, _ in self._rows}
        units = sorted({row.unit for row in self._rows.values()})
        span = f"{self.first:%Y-%m-%d} to {self.last:%Y-%m-%d}"
        yield (
            f"{self.form}: {self.points:,} points of {len(self._rows):,} series, {count_of(benchmarks, 'benchmark')} at "
            f"{count_of(self._commits - {None}, 'commit')} from {span}, in {', '.join(units)}, on {', '.join(targets)}"
        )
        if None in self._commits:
            yield "some name no commit, and their points will be at an unknown one"


def count_of(things: set[str | None] | set[str], noun: str) -> str:
    """Return `1 commit` or `2,000 commits`."""
    return f"{len(things):,} {noun}{'' if len(things) == 1 else 's'}"
