"""Decides what an evaluation means for the stored changes of its series; writes nothing.

Rules (STATISTICS §4.5, §4.6):

    1–4 points after ─▶ suspect ─ ≥ 5 points, and it holds among all series of the round ─▶ standing
    found no more, its place still in the window ─▶ vanished (for ever; found again it is a new change)
    its place left the newest environment or the window ─▶ vanished while suspect, superseded while standing
    accepted ─▶ left alone: an alert about it was called expected, and so is everything before it

- evaluating the same points twice counts once and decides the same;
- a change found more than two points away from where it was is still the same change,
  but the evaluations that agree about its place are counted from one again, as they are
  while it has too few points;
- a change outside the newest environment is never judged again.
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
from paceline_server.stats.incidents import stands_in_round
from paceline_server.store.tables.history import Change, SeriesState

NO_FINDING = 1.0
"""p of a series without a finding: it counts among those that were tested (§4.6)."""


@dataclass(frozen=True)
class MatchedChange:
    """A change that was found now, and its row when it was found before."""

    change: ChangePoint
    row: Change | None
    evaluations: int
    decided: Mapping[str, Any] | None
    """What its round said when the same points were looked at before."""

    @property
    def settled(self) -> bool:
        """Whether it stood already: it is no new hypothesis."""
        return self.row is not None and self.row.state == "standing"

    @property
    def asks(self) -> bool:
        """Whether it would stand now if its round agrees."""
        return (
            not self.settled
            and self.decided is None
            and self.change.confidence == "confirmed"
        )


@dataclass(frozen=True)
class ChangePlan:
    """What follows from one evaluation."""

    evaluation: Evaluation
    found: tuple[MatchedChange, ...]
    vanished: tuple[Change, ...]
    left: tuple[Change, ...]
    """Live rows at which detection looks no more: the environment is another one since, or the window moved
    on."""
    kept: tuple[Change, ...]
    """Every row of the series that did not vanish before, whatever becomes of it."""

    @property
    def p_value(self) -> float:
        """Of the strongest finding that is new in this round."""
        return min(
            (matched.change.p_value for matched in self.found if matched.asks),
            default=NO_FINDING,
        )


def match_changes(
    found: Sequence[ChangePoint], kept: Mapping[str, int], within: int = STAND_WITHIN
) -> dict[int, str]:
    """Position in `found` → key of `kept` (whose values are indexes into the same window).

    A change is matched to at most one kept row and a row to at most one change, the nearest pairs first.
    Two changes are the same when their places differ by at most two points, or when the row's place lies
    inside the interval in which detection locates the change (STATISTICS §4.5).
    """
    pairs = sorted(
        (abs(change.index - index), position, key)
        for position, change in enumerate(found)
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
    """Match what was found with what is kept."""
    own = evaluation.own_jobs
    index = (
        {job_id: at for at, job_id in enumerate(own)}
        if kept or _baseline(state)
        else {}
    )
    here = {row.id: index[row.job_id] for row in kept if row.job_id in index}
    rows = {row.id: row for row in kept}
    found = evaluation.found
    matched = match_changes(found, here)
    again = state is not None and (state.last_job_id, state.points) == (
        own[-1],
        len(own),
    )
    accepted_until = index.get(_baseline(state) or "", -1)
    told = []
    for position, change in enumerate(found):
        row = rows.get(matched.get(position, ""))
        if row is not None and row.state == "accepted":
            continue
        if row is None and change.index <= accepted_until:
            continue
        told.append(
            _matched_change(
                change, row, moved=_has_moved(change, row, here), again=again
            )
        )
    live = [row for row in kept if row.state in ("suspect", "standing")]
    gone = tuple(
        row for row in live if row.id in here and row.id not in matched.values()
    )
    left = tuple(row for row in live if row.id not in here)
    return ChangePlan(evaluation, tuple(told), gone, left, tuple(kept))


def _baseline(state: SeriesState | None) -> str | None:
    return None if state is None else state.baseline_job_id


def _has_moved(
    change: ChangePoint, row: Change | None, here: Mapping[str, int]
) -> bool:
    """Whether it was seen elsewhere, or is only now more than a suspect: nothing agrees with it yet."""
    if row is None:
        return True
    early = row.evidence.get("n_after", math.inf) < constants.HISTORY_CONFIRM_POINTS
    return (early and change.confidence == "confirmed") or abs(
        change.index - here[row.id]
    ) > STAND_WITHIN


def _matched_change(
    change: ChangePoint, row: Change | None, *, moved: bool, again: bool
) -> MatchedChange:
    if row is None:
        return MatchedChange(change, None, 1, None)
    same = again and row.p_value == change.p_value
    decided = row.evidence.get("round") if same or row.state == "standing" else None
    return MatchedChange(
        change, row, 1 if moved else row.evaluations + (not again), decided
    )


@dataclass(frozen=True)
class Round:
    """Which findings of a round stand at the false-discovery rate q: those with p up to `limit`."""

    series: int
    limit: float

    @classmethod
    def of(cls, plans: Sequence[ChangePlan]) -> Round:
        """Benjamini–Hochberg over all series that were looked at together."""
        p_values = [plan.p_value for plan in plans]
        kept = [
            p
            for p, stands in zip(p_values, stands_in_round(p_values), strict=True)
            if stands
        ]
        lowest = constants.HISTORY_FALSE_DISCOVERY_Q / max(1, len(plans))
        return cls(len(plans), max(kept, default=lowest))

    def decides(self, found: MatchedChange) -> dict[str, Any] | None:
        """What the round says of a finding, for its evidence; None while it need not be asked."""
        if found.decided is not None:
            return dict(found.decided)
        if not found.asks:
            return None
        p_value = found.change.p_value
        return {
            "series": self.series,
            "p": p_value,
            "limit": self.limit,
            "kept": p_value <= self.limit,
        }


def state_of(found: MatchedChange, decided: Mapping[str, Any] | None) -> str:
    """suspect or standing."""
    if found.settled:
        return "standing"
    return "standing" if decided is not None and decided["kept"] else "suspect"
