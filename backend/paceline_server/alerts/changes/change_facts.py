"""A stored change with its series, the points at its edges and the range of commits it blames.

Its range is as wide as the interval of the location: the old level is certain at `after`,
the new one at `upto` (stats/README.md §4.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paceline_server.alerts.changes.grouping import TimeRange
from paceline_server.series.change_sentences import worsening
from paceline_server.series.declarations import (
    Declaration,
    changed_since,
    read_declaration,
)
from paceline_server.store.tables.history import Change, Series, SeriesPoint

WORSE = frozenset({"slower", "worse"})


@dataclass(frozen=True)
class ChangeEdges:
    """Ids of the jobs at a change. `before` and `first` are the last old and the first new one by detection;
    the certain ones are the nearest outside the interval of the location."""

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
    """The job ids at the edges of a change."""
    window, at = window_of(change), int(change.evidence["index"])
    low, high = change.evidence["location"]
    return ChangeEdges(
        window[max(0, min(int(low), at) - 1)],
        window[max(0, at - 1)],
        window[at],
        window[min(len(window) - 1, max(int(high), at))],
    )


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
    def certain_before(self) -> SeriesPoint:
        """The newest point that is at the old level for certain."""
        return self.points[self.edges.certain_before]

    @property
    def certain_after(self) -> SeriesPoint:
        """The oldest point that is at the new level for certain."""
        return self.points[self.edges.certain_after]

    @property
    def range(self) -> TimeRange:
        return TimeRange(self.certain_before.at, self.certain_after.at)

    @property
    def base_commit(self) -> str:
        return self.certain_before.commit

    @property
    def head_commit(self) -> str:
        return self.certain_after.commit

    @property
    def has_same_artifact(self) -> bool:
        """Whether both sides are known to have measured the same artifact."""
        old = self.certain_before.artifact_hash
        return old is not None and old == self.certain_after.artifact_hash

    @property
    def first(self) -> SeriesPoint:
        return self.points[self.edges.first]

    @property
    def declaration(self) -> Declaration:
        """What the number meant at the change; the series says what it means now."""
        return read_declaration(self.certain_after.declaration) or Declaration(
            self.series.unit, self.series.direction
        )

    def means_the_same(self, point: SeriesPoint) -> bool:
        """Whether the number of another point can be compared with the levels of this change."""
        other = read_declaration(point.declaration)
        return changed_since("", self.declaration, other, "") is None

    @property
    def ratio(self) -> float:
        """The level after ÷ before, inverted where higher is better, so that above 1 is always worse."""
        return 1.0 + worsening(self.change.effect, self.declaration.direction)

    @property
    def bounds(self) -> tuple[float, float]:
        """The 99 % interval of `ratio`."""
        low, high = sorted(
            1.0 + worsening(end, self.declaration.direction)
            for end in (self.change.lower, self.change.upper)
        )
        return low, high

    @property
    def shift(self) -> float:
        """How far the level moved, above 1 in either direction."""
        return self.ratio if self.worse else 1.0 / self.ratio

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
    """The change with the largest shift; of equal ones, that with the greatest id. `facts` must not be empty."""
    return max(facts, key=lambda fact: (fact.shift, fact.change.id))


def surest_change(facts: Sequence[ChangeFacts]) -> ChangeFacts:
    """The change with the smallest p-value, which leads a group; of equal ones, that with the least id. `facts` must not be empty."""
    return min(facts, key=lambda fact: (fact.change.p_value, fact.change.id))
