"""Finds after how many rounds of a fresh process an arm is as fast as when warm (§3).

A round is cold if its fitted penalty exceeds the margin, and so does the raw penalty in four fifths of the launches.
The fit never rises from round to round. The reference's penalty in the same round is subtracted. Launches are resampled
for the interval.
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
    """The cold rounds of an arm; None if the penalty outlasts the examined rounds or is unknown (`reason`).

    `penalties`: the fitted slowdown after 0, 1, … rounds, at the worst value of the param."""

    rounds: int | None
    lower: int | None = None
    upper: int | None = None
    penalties: tuple[float, ...] = ()
    calls_per_round: int | None = None
    reason: str = ""


def find_coldness(
    cases: Sequence[tuple[CaseSamples, CaseSamples]], margin_percent: float
) -> Coldness:
    """Find the rounds after which an arm's cold penalty is inside the margin.

    `cases` has (arm, reference) with their warm-up rounds for each value of the param."""
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
    ordered = np.sort(_resampled_cold_rounds(penalties, picks, margin))
    skip = math.floor((1.0 - constants.POLICY_CONFIDENCE) / 2.0 * ordered.size)
    bounds = int(ordered[skip]), int(ordered[-1 - skip])
    worst = fitted[0, int(np.argmax(fitted[0, :, 0]))]
    shares = tuple(float(share) for share in np.expm1(worst))
    cold_rounds = int(cold[0])
    return Coldness(
        cold_rounds if cold_rounds < rounds else None,
        min(bounds[0], cold_rounds),
        None if bounds[1] >= rounds else max(bounds[1], cold_rounds),
        shares,
        _calls_per_round(cases),
        ""
        if cold_rounds < rounds
        else f"still {shares[-1]:.1%} slower in round {rounds}".replace("%", " %"),
    )


def _penalties(arm: CaseSamples, reference: CaseSamples) -> Floats | None:
    """Return the penalties of an arm's rounds beyond those of the reference, shape (launches, rounds).

    The reference is subtracted because the target itself may speed up. None without warm-up rounds from the
    first on."""
    rows: list[Floats] = []
    for number in np.unique(arm.launch):
        arm_rounds, reference_rounds = (
            _launch(arm, int(number)),
            _launch(reference, int(number)),
        )
        if arm_rounds is None or reference_rounds is None:
            continue
        count = min(arm_rounds.size, reference_rounds.size)
        rows.append(
            np.minimum(
                arm_rounds[:count], arm_rounds[:count] - reference_rounds[:count]
            )
        )
    examined = min((row.size for row in rows), default=0)
    return (
        np.stack([row[: min(examined, constants.POLICY_WARMUP_ROUNDS)] for row in rows])
        if rows
        else None
    )


def _launch(case: CaseSamples, number: int) -> Floats | None:
    """Return ln(round ÷ steady level) of a launch's first half; the level is the median of its second half."""
    here = case.launch == number
    rounds, values = _medians_by_round(case.round[here], case.value[here])
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


def _medians_by_round(rounds: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Return the sorted rounds with the median of each."""
    unique, where, counts = np.unique(rounds, return_inverse=True, return_counts=True)
    ordered = values[np.argsort(where, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    medians = [
        median(ordered[start : start + count])
        for start, count in zip(starts, counts, strict=True)
    ]
    return unique, np.array(medians)


def _cold_rounds(penalties: Floats, margin: float) -> tuple[Ints, Floats]:
    """Count the rounds up to the last cold one of any value, and fit the penalties.

    Shapes: (resamples, launches, values, rounds) → (resamples,) and (resamples, values, rounds)."""
    launches = penalties.shape[1]
    agreeing = math.ceil(constants.LAUNCH_SHARE * launches - 1e-9)
    fitted = non_increasing(np.median(penalties, axis=1))
    cold = ((fitted > margin) & ((penalties > margin).sum(axis=1) >= agreeing)).any(
        axis=1
    )
    after = np.arange(1, cold.shape[-1] + 1)
    return np.where(cold, after, 0).max(axis=-1), fitted


def _resampled_cold_rounds(penalties: Floats, picks: Ints, margin: float) -> Ints:
    """Return the cold rounds of every resample, computed in slices to limit memory."""
    step = max(1, 2_000_000 // penalties.size)
    return np.concatenate(
        [
            _cold_rounds(penalties[picks[start : start + step]], margin)[0]
            for start in range(0, picks.shape[0], step)
        ]
    )


def _calls_per_round(cases: Sequence[tuple[CaseSamples, CaseSamples]]) -> int | None:
    counts = [
        case.iterations
        for case, _ in cases
        if case.iterations is not None and case.iterations.size
    ]
    return int(np.median(np.concatenate(counts))) if counts else None
