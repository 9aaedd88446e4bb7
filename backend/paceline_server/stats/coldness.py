"""Finds after how many rounds of a fresh process an arm is as fast as when warm (§3).

Uses the warm-up rounds that every verdict leaves out. A round counts as cold only where
its penalty, fitted so that it never rises again, exceeds the margin, and the raw
penalty does so in four fifths of the launches. A cost that the reference has in the
same round is not the arm's. Launches are resampled for the interval. Work before the
first recorded round, such as calibration, is not visible here; a benchmark of fresh
processes measures it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paceline_server.stats import constants
from paceline_server.stats.isotonic import non_increasing
from paceline_server.stats.samples import CaseSamples, Floats, Ints, median

METHOD = "isotonic penalty by round, launches resampled"


@dataclass(frozen=True)
class Coldness:
    """`rounds`: None when the penalty outlasts what was looked at, or nothing could be (`reason`).
    `penalties`: after 0, 1, … rounds, the fitted share of time on top, at the worst value of the param."""

    rounds: int | None
    lower: int | None = None
    upper: int | None = None
    penalties: tuple[float, ...] = ()
    calls_per_round: int | None = None
    reason: str = ""


def find_coldness(
    cases: Sequence[tuple[CaseSamples, CaseSamples]], margin_percent: float
) -> Coldness:
    """Rounds after which the cold penalty of an arm is inside the margin: `cases`, (arm, reference) with
    their warm-up rounds, one pair per value of the param."""
    tables = [table for pair in cases if (table := _penalties(*pair)) is not None]
    if not tables:
        return Coldness(None, reason="no warm-up rounds were measured")
    launches = min(table.shape[0] for table in tables)
    if launches < constants.MIN_LAUNCHES:
        reason = f"insufficient: {launches} launches; a penalty needs {constants.MIN_LAUNCHES}"
        return Coldness(None, reason=reason)
    rounds = min(table.shape[1] for table in tables)
    penalties = np.stack([table[:launches, :rounds] for table in tables], axis=1)
    margin = math.log1p(margin_percent / 100.0)
    cold, fitted = _cold_rounds(penalties[None], margin)
    rng = np.random.default_rng(constants.BOOTSTRAP_SEED)
    picks = rng.integers(0, launches, (constants.BOOTSTRAP_REPLICATES, launches))
    ordered = np.sort(_in_slices(penalties, picks, margin))
    skip = math.floor((1.0 - constants.POLICY_CONFIDENCE) / 2.0 * ordered.size)
    bounds = int(ordered[skip]), int(ordered[-1 - skip])
    worst = fitted[0, int(np.argmax(fitted[0, :, 0]))]
    shares = tuple(float(share) for share in np.expm1(worst))
    found = int(cold[0])
    return Coldness(
        found if found < rounds else None,
        min(bounds[0], found),
        None if bounds[1] >= rounds else max(bounds[1], found),
        shares,
        _calls(cases),
        ""
        if found < rounds
        else f"still {shares[-1]:.1%} slower in round {rounds}".replace("%", " %"),
    )


def _penalties(arm: CaseSamples, reference: CaseSamples) -> Floats | None:
    """What a round of the arm costs on top, by itself and beyond what the same round costs the reference:
    shape (launches, rounds from 0 on). A target that speeds up meanwhile is no coldness of the arm. None
    without warm-up rounds from the first on."""
    rows: list[Floats] = []
    for number in np.unique(arm.launch):
        own, other = _launch(arm, int(number)), _launch(reference, int(number))
        if own is None or other is None:
            continue
        count = min(own.size, other.size)
        rows.append(np.minimum(own[:count], own[:count] - other[:count]))
    looked_at = min((row.size for row in rows), default=0)
    return (
        np.stack(
            [row[: min(looked_at, constants.POLICY_WARMUP_ROUNDS)] for row in rows]
        )
        if rows
        else None
    )


def _launch(case: CaseSamples, number: int) -> Floats | None:
    """ln(round ÷ steady level) of one launch's first half; the level is the median of its second half."""
    here = case.launch == number
    rounds, values = _by_round(case.round[here], case.value[here])
    settled = rounds.size // 2
    if (
        settled < 2
        or rounds[0] != 0
        or not case.warmup[here].any()
        or (values <= 0).any()
    ):
        return None
    logs = np.log(values)
    row = logs[: rounds.size - settled] - median(logs[rounds.size - settled :])
    return row if case.direction == "lower" else -row


def _by_round(rounds: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Rounds ascending, each with the median of its values."""
    unique, where, counts = np.unique(rounds, return_inverse=True, return_counts=True)
    ordered = values[np.argsort(where, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    found = [
        median(ordered[at : at + count])
        for at, count in zip(starts, counts, strict=True)
    ]
    return unique, np.array(found)


def _cold_rounds(penalties: Floats, margin: float) -> tuple[Ints, Floats]:
    """(cold rounds, fitted penalties): of shape (resamples, launches, values, rounds) → (resamples,) and
    (resamples, values, rounds). One after the last cold round of any value."""
    launches = penalties.shape[1]
    agreeing = math.ceil(constants.LAUNCH_SHARE * launches - 1e-9)
    fitted = non_increasing(np.median(penalties, axis=1))
    cold = ((fitted > margin) & ((penalties > margin).sum(axis=1) >= agreeing)).any(
        axis=1
    )
    after = np.arange(1, cold.shape[-1] + 1)
    return np.where(cold, after, 0).max(axis=-1), fitted


def _in_slices(penalties: Floats, picks: Ints, margin: float) -> Ints:
    """The cold rounds of every resample, a few hundred at a time: memory stays small."""
    step = max(1, 2_000_000 // penalties.size)
    return np.concatenate(
        [
            _cold_rounds(penalties[picks[start : start + step]], margin)[0]
            for start in range(0, picks.shape[0], step)
        ]
    )


def _calls(cases: Sequence[tuple[CaseSamples, CaseSamples]]) -> int | None:
    counts = [
        case.iterations
        for case, _ in cases
        if case.iterations is not None and case.iterations.size
    ]
    return int(np.median(np.concatenate(counts))) if counts else None
