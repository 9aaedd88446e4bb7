"""Describes a stored change with its series, the points at its edges and the range of commits it blames.

Its range is as wide as the interval of the location: the old level is certain at `after`, the new one at `upto`
(stats/README.md §4.3). Changes that have one cause are grouped: the surest change leads its group and every member
overlaps the leader's range, so that neighbours cannot chain two causes into one. Every number of a sentence is stored,
every direction named (I17).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from paceline_contract.units import quantity

from paceline_server.alerts.explanation import series_place
from paceline_server.series.change_sentences import worsening
from paceline_server.series.declarations import (
    Declaration,
    changed_since,
    read_declaration,
)
from paceline_server.stats import constants
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.history import Change, Series, SeriesPoint

LIVE_CHANGES = ("suspect", "standing")
"""States of changes that detection still sees."""
WORSE = frozenset({"slower", "worse"})

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The time in which a change happened: the old level was measured at `after`, the new one at `upto`."""

    after: datetime
    upto: datetime

    def overlaps(self, other: TimeRange) -> bool:
        """Return whether the same event may lie in both ranges."""
        return self.after < other.upto and other.after < self.upto


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
    """Return the ids of the jobs whose points detection examined, oldest first."""
    return list(change.evidence["window"])


def edges_of(change: Change) -> ChangeEdges:
    """Return the job ids at the edges of a change."""
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
        """True if both sides are known to have measured the same artifact."""
        old = self.certain_before.artifact_hash
        return old is not None and old == self.certain_after.artifact_hash

    @property
    def first(self) -> SeriesPoint:
        return self.points[self.edges.first]

    @property
    def declaration(self) -> Declaration:
        """The meaning of the number at the change; the series has its current meaning."""
        return read_declaration(self.certain_after.declaration) or Declaration(
            self.series.unit, self.series.direction
        )

    def means_the_same(self, point: SeriesPoint) -> bool:
        """Return whether the number of another point can be compared with the levels of this change."""
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
    """Return the change with the largest shift; of equal ones, that with the greatest id. `facts` must not be empty."""
    return max(facts, key=lambda fact: (fact.shift, fact.change.id))


def surest_change(facts: Sequence[ChangeFacts]) -> ChangeFacts:
    """Return the change with the smallest p-value, which leads a group; of equal ones, that with the least id. `facts`
    must not be empty."""
    return min(facts, key=lambda fact: (fact.change.p_value, fact.change.id))


def history_holds(facts: Sequence[ChangeFacts]) -> bool:
    """Return whether history alone suffices: enough points, and the same place in consecutive evaluations."""
    return any(
        fact.change.state == "standing"
        and fact.change.evaluations >= constants.HISTORY_EVALUATIONS
        for fact in facts
    )


@dataclass(frozen=True, slots=True)
class GroupableChange(Generic[Key]):
    """A change to group. Changes of a group have the same `kind`; a smaller `strength` is surer and leads."""

    key: Key
    kind: tuple[str, ...]
    range: TimeRange
    strength: tuple[float, str]


def group_by_cause(
    moves: Sequence[GroupableChange[Key]],
) -> list[list[GroupableChange[Key]]]:
    """Return the changes of each cause, its leader first, the surest cause first."""
    groups: list[list[GroupableChange[Key]]] = []
    for move in sorted(moves, key=lambda move: move.strength):
        home = next(
            (
                group
                for group in groups
                if group[0].kind == move.kind and group[0].range.overlaps(move.range)
            ),
            None,
        )
        if home is None:
            groups.append([move])
        else:
            home.append(move)
    return groups


def short_commit(commit: str) -> str:
    """Return the first ten characters, as sentences show a commit."""
    return commit[:10]


def describe_shift(ratio: float, *, timed: bool) -> str:
    """Return a shift in words: `12.6 % slower`, or `12.6 % worse` for a metric that is not a time. A ratio above 1 is
    worse."""
    bad, good = ("slower", "faster") if timed else ("worse", "better")
    if ratio == 1.0:
        return "unchanged"
    share = ratio - 1.0 if ratio > 1.0 else 1.0 - ratio
    return f"{percent(share)} {bad if ratio > 1.0 else good}"


def is_timed(fact: ChangeFacts) -> bool:
    """Return whether the metric is a time, so that it gets slower or faster."""
    return fact.change.direction in ("slower", "faster")


def describe_change(fact: ChangeFacts) -> str:
    """Return `12.6 % slower: 1.2 ms → 1.351 ms (99 % interval: 10.1 % slower to 15.0 % slower)`."""
    low, high = fact.bounds
    timed, unit = is_timed(fact), fact.declaration.unit
    levels = f"{quantity(fact.change.level_before, unit)} → {quantity(fact.change.level_after, unit)}"
    span = f"{describe_shift(low, timed=timed)} to {describe_shift(high, timed=timed)}"
    return (
        f"{describe_shift(fact.ratio, timed=timed)}: {levels} (99 % interval: {span})"
    )


def change_place(fact: ChangeFacts) -> str:
    """Return words such as `native in sort_batch at batch=1000`."""
    return series_place(fact.series)


def title(facts: Sequence[ChangeFacts], target_name: str, *, environment: bool) -> str:
    """Return one line: what moved, where."""
    worst = worst_change(facts)
    way = describe_shift(worst.ratio, timed=is_timed(worst)).rsplit(" ", 1)[-1]
    if environment:
        what = (
            f"{change_place(worst)} got {way}"
            if len(facts) == 1
            else f"{_series_count(facts)} moved together"
        )
        return f"Environment of {target_name} changed: {what}"
    if len(facts) == 1:
        return f"{change_place(worst)} got {way} on {target_name}"
    return f"{_series_count(facts)} of {worst.series.suite} got {way} on {target_name}"


def _series_count(facts: Sequence[ChangeFacts]) -> str:
    return "1 series" if len(facts) == 1 else f"{len(facts)} series"


def headline(facts: Sequence[ChangeFacts]) -> str:
    """Return the worst change, the number of changes, and the commits they are blamed on."""
    worst, lead = worst_change(facts), surest_change(facts)
    text = f"{change_place(worst)}: {describe_change(worst)}"
    if len(facts) > 1:
        text += f"; {len(facts)} series in all"
    return f"{text}; {commit_range(lead.base_commit, lead.head_commit)}"


def commit_range(base: str | None, head: str | None) -> str:
    """Return a range in words, such as `after 1111111111, by 2222222222`, or the commit if both are the same."""
    if base is None or head is None:
        return "commits unknown"
    if base == head:
        return f"at commit {short_commit(head)}, which was measured before and after"
    return f"after {short_commit(base)}, by {short_commit(head)}"
