"""A stored change with its series, the points at its edges and the range of commits it
blames.

The only reader of `Change.evidence`, whose shape is detection's. A range is as wide as
the interval of the location: the old level is certain at `after`, the new one at `upto`
(STATISTICS §4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paceline_server.alerts.changes.grouping import TimeRange
from paceline_server.series.change_sentences import worsening
from paceline_server.store.tables.history import Change, Series, SeriesPoint

WORSE = frozenset({"slower", "worse"})


@dataclass(frozen=True)
class ChangeEdges:
    """Job ids at a change, by its evidence: last surely old, last called old, first called new, first surely
    new."""

    certain_before: str
    before: str
    first: str
    certain_after: str

    def all(self) -> set[str]:
        return {self.certain_before, self.before, self.first, self.certain_after}


def window_of(change: Change) -> list[str]:
    """Ids of the jobs whose points detection looked at, oldest first."""
    return list(change.evidence["window"])


def edges_of(change: Change) -> ChangeEdges:
    """Where a change lies, as job ids."""
    window, at = window_of(change), int(change.evidence["index"])
    low, high = _location(change.evidence, at)
    return ChangeEdges(
        window[max(0, low - 1)],
        window[max(0, at - 1)],
        window[at],
        window[min(len(window) - 1, high)],
    )


def _location(evidence: Mapping[str, Any], at: int) -> tuple[int, int]:
    """The ends of the location's interval, which holds the change itself."""
    low, high = evidence["location"]
    return min(int(low), at), max(int(high), at)


@dataclass(frozen=True)
class ChangeFacts:
    """A change, its series, and its points by job id (at least those of its edges)."""

    change: Change
    series: Series
    points: Mapping[str, SeriesPoint]
    edges: ChangeEdges

    @property
    def worse(self) -> bool:
        return self.change.direction in WORSE

    @property
    def range(self) -> TimeRange:
        return TimeRange(
            self.points[self.edges.certain_before].at,
            self.points[self.edges.certain_after].at,
        )

    @property
    def base_commit(self) -> str:
        """The newest commit that was measured at the old level for certain."""
        return self.points[self.edges.certain_before].commit

    @property
    def head_commit(self) -> str:
        """The oldest commit that was measured at the new level for certain."""
        return self.points[self.edges.certain_after].commit

    @property
    def head_run_id(self) -> str:
        return self.points[self.edges.certain_after].run_id

    @property
    def before(self) -> SeriesPoint:
        return self.points[self.edges.before]

    @property
    def first(self) -> SeriesPoint:
        return self.points[self.edges.first]

    @property
    def ratio(self) -> float:
        """Above 1 it got worse, whichever way the metric counts: level after ÷ before, turned round where
        higher is better."""
        return 1.0 + worsening(self.change.effect, self.series.direction)

    @property
    def bounds(self) -> tuple[float, float]:
        """The 99 % interval of `ratio`."""
        ends = (
            1.0 + worsening(end, self.series.direction)
            for end in (self.change.lower, self.change.upper)
        )
        low, high = sorted(ends)
        return low, high

    @property
    def key(self) -> tuple[str, str, str, str]:
        """(benchmark, arm, params key, metric)."""
        return (
            self.series.benchmark,
            self.series.arm,
            self.series.params_key,
            self.series.metric,
        )


def worst_change(facts: Sequence[ChangeFacts]) -> ChangeFacts:
    """The largest move in its own direction, the first of equals. `facts` must not be empty."""
    return max(
        facts,
        key=lambda fact: (
            fact.ratio if fact.worse else 1.0 / fact.ratio,
            fact.change.id,
        ),
    )


def surest_change(facts: Sequence[ChangeFacts]) -> ChangeFacts:
    """The best located: the leader of a group. `facts` must not be empty."""
    return min(facts, key=lambda fact: (fact.change.p_value, fact.change.id))
