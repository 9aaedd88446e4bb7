"""Plans how an evaluation alters the stored changes of its series.

Rules (stats/README.md §4.5, §4.6):

    1–4 points after ─▶ suspect ─ ≥ 5 points, and it holds among all series of the round ─▶ standing
    no longer detected, its place still in the window ─▶ vanished (finally; detected again, it is a new change)
    its place left the newest environment or the window ─▶ vanished while suspect, superseded while standing
    accepted ─▶ unchanged: people called it expected, and everything before it

Evaluating the same points twice counts once. A change that moved by more than two points keeps its identity, but
its evaluations are counted from one again. A change outside the newest environment is never judged again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paceline_server.detect.changes.evaluation import Evaluation
from paceline_server.stats import constants
from paceline_server.stats.changepoint import STAND_WITHIN
from paceline_server.stats.history import ChangePoint
from paceline_server.stats.target_shifts import stands_in_round
from paceline_server.store.tables.history import Change, SeriesState

NO_FINDING = 1.0
"""The p-value of a series without a new change; it counts as tested (§4.6)."""


@dataclass(frozen=True)
class MatchedChange:
    """A detected change, with its row if it is stored already."""

    change: ChangePoint
    row: Change | None
    evaluations: int
    decision: Mapping[str, Any] | None
    """The decision of its round, if the same points were evaluated before."""

    @property
    def is_settled(self) -> bool:
        """True if it already stands, and so is no new hypothesis."""
        return self.row is not None and self.row.state == "standing"

    @property
    def needs_decision(self) -> bool:
        """True if its round decides now if it stands."""
        return (
            not self.is_settled
            and self.decision is None
            and self.change.confidence == "confirmed"
        )


@dataclass(frozen=True)
class ChangePlan:
    """The consequences of an evaluation for stored changes."""

    evaluation: Evaluation
    matched: tuple[MatchedChange, ...]
    vanished: tuple[Change, ...]
    out_of_reach: tuple[Change, ...]
    """Live rows before the newest environment or the window."""
    kept: tuple[Change, ...]
    """The series' rows that had not vanished before."""

    @property
    def p_value(self) -> float:
        """The smallest p-value of a change that needs a decision."""
        return min(
            (
                matched.change.p_value
                for matched in self.matched
                if matched.needs_decision
            ),
            default=NO_FINDING,
        )


def match_changes(
    changes: Sequence[ChangePoint], kept: Mapping[str, int], within: int = STAND_WITHIN
) -> dict[int, str]:
    """Return keys of `kept` by position in `changes`; the values of `kept` are indexes into the same window.

    Each change matches at most one row and vice versa, nearest pairs first. A change is that of a row if their
    places differ by at most two points, or if the row's place lies inside the change's location interval
    (stats/README.md §4.5).
    """
    pairs = sorted(
        (abs(change.index - index), position, key)
        for position, change in enumerate(changes)
        for key, index in kept.items()
        if abs(change.index - index) <= within
        or change.location[0] <= index <= change.location[1]
    )
    matched: dict[int, str] = {}
    for _, position, key in pairs:
        if position not in matched and key not in matched.values():
            matched[position] = key
    return matched


def plan_changes(
    evaluation: Evaluation, kept: Sequence[Change], state: SeriesState | None
) -> ChangePlan:
    """Match detected changes with the stored ones."""
    own_jobs = evaluation.own_jobs
    index = (
        {job_id: position for position, job_id in enumerate(own_jobs)}
        if kept or _baseline(state)
        else {}
    )
    indexes_in_window = {
        row.id: index[row.job_id] for row in kept if row.job_id in index
    }
    rows = {row.id: row for row in kept}
    changes = evaluation.changes
    matched = match_changes(changes, indexes_in_window)
    is_repeated = state is not None and (state.last_job_id, state.points) == (
        own_jobs[-1],
        len(own_jobs),
    )
    accepted_until = index.get(_baseline(state) or "", -1)
    matched_changes = []
    for position, change in enumerate(changes):
        row = rows.get(matched.get(position, ""))
        if row is not None and row.state == "accepted":
            continue
        if row is None and change.index <= accepted_until:
            continue
        matched_changes.append(
            _matched_change(
                change,
                row,
                moved=_has_moved(change, row, indexes_in_window),
                is_repeated=is_repeated,
            )
        )
    live = [row for row in kept if row.state in ("suspect", "standing")]
    vanished = tuple(
        row
        for row in live
        if row.id in indexes_in_window and row.id not in matched.values()
    )
    out_of_reach = tuple(row for row in live if row.id not in indexes_in_window)
    return ChangePlan(
        evaluation, tuple(matched_changes), vanished, out_of_reach, tuple(kept)
    )


def _baseline(state: SeriesState | None) -> str | None:
    return None if state is None else state.baseline_job_id


def _has_moved(
    change: ChangePoint, row: Change | None, indexes_in_window: Mapping[str, int]
) -> bool:
    """Return whether its evaluations are counted from one: it moved, or has just been confirmed."""
    if row is None:
        return True
    was_suspect = (
        row.evidence.get("n_after", math.inf) < constants.HISTORY_CONFIRM_POINTS
    )
    return (was_suspect and change.confidence == "confirmed") or abs(
        change.index - indexes_in_window[row.id]
    ) > STAND_WITHIN


def _matched_change(
    change: ChangePoint, row: Change | None, *, moved: bool, is_repeated: bool
) -> MatchedChange:
    if row is None:
        return MatchedChange(change, None, 1, None)
    is_unchanged = is_repeated and row.p_value == change.p_value
    decision = (
        row.evidence.get("round") if is_unchanged or row.state == "standing" else None
    )
    return MatchedChange(
        change, row, 1 if moved else row.evaluations + (not is_repeated), decision
    )


@dataclass(frozen=True)
class Round:
    """A round of series; its changes with p up to `limit` stand at the false-discovery rate q."""

    series: int
    limit: float

    @classmethod
    def of(cls, plans: Sequence[ChangePlan]) -> Round:
        """Apply Benjamini–Hochberg to all series that were evaluated together."""
        p_values = [plan.p_value for plan in plans]
        standing = [
            p
            for p, stands in zip(p_values, stands_in_round(p_values), strict=True)
            if stands
        ]
        lowest = constants.HISTORY_FALSE_DISCOVERY_Q / max(1, len(plans))
        return cls(len(plans), max(standing, default=lowest))

    def decide(self, matched: MatchedChange) -> dict[str, Any] | None:
        """Return the round's decision about a change, for its evidence; None if it needs none."""
        if matched.decision is not None:
            return dict(matched.decision)
        if not matched.needs_decision:
            return None
        p_value = matched.change.p_value
        return {
            "series": self.series,
            "p": p_value,
            "limit": self.limit,
            "kept": p_value <= self.limit,
        }


def state_of(matched: MatchedChange, decision: Mapping[str, Any] | None) -> str:
    """Return the state of a change: suspect or standing."""
    if matched.is_settled:
        return "standing"
    return "standing" if decision is not None and decision["kept"] else "suspect"
