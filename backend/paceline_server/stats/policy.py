"""Finds from which value on an arm pays off, and judges the threshold in force (§3).

An arm wins at a measured value if the 99.8 % interval of its paired ratio lies below 1 and the launches agree.
Between measured values, an isotonic fit has a 95 % interval. Warm-up is judged in `coldness`.

    ln ratio  ·                      measured: the reference wins at 1,000, the arm at 5,000 and 10,000
         0 ───────╲──────────────    fitted:   non-increasing over ln(param), straight between values
                   ╲·                answer:   from where the fit crosses 0; launches resampled → its interval
                1,870  ╲·
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from paceline_server.stats import constants
from paceline_server.stats.binomial import quantile_interval
from paceline_server.stats.blocks import PairedBlocks
from paceline_server.stats.bootstrap import cluster_replicates, nan_median
from paceline_server.stats.isotonic import non_increasing
from paceline_server.stats.samples import Floats, Interval, median
from paceline_server.stats.student import bootstrap_widening

Answer = Literal["from", "always", "never", "undecided", "unknown"]
Winner = Literal["arm", "reference", "undecided"]
METHOD = "isotonic crossover of paired log-ratios, launches resampled"


@dataclass(frozen=True)
class MeasuredPoint:
    """A measured value of the param. `middle`, `lower`, `upper` and `fitted` are log-ratios arm ÷ reference, below
    0 if the arm is faster; the interval has 99.8 % confidence."""

    at: int
    middle: float
    lower: float | None
    upper: float | None
    fitted: float
    winner: Winner
    blocks: int
    launches: int


@dataclass(frozen=True)
class Crossover:
    """The value from which on the arm wins.

    `value` is the estimate, rounded up; `lower` and `upper` are None if the interval exceeds the measured range.
    `measured_from` is the smallest measured value from which on the arm wins with confidence.
    """

    answer: Answer
    points: tuple[MeasuredPoint, ...] = ()
    value: int | None = None
    lower: int | None = None
    upper: int | None = None
    measured_from: int | None = None
    monotone: bool = True
    reason: str = ""
    curves: Floats = field(
        default_factory=lambda: np.zeros((0, 0)), repr=False, compare=False
    )
    """The fit of every resample, widened for few launches, shape (replicates, points)."""

    def at(self, value: int) -> Interval:
        """Return the 95 % interval of the fitted log-ratio at a value; without bounds outside the measured range."""
        places = np.array([point.at for point in self.points], dtype=np.float64)
        if not self.curves.size or not places[0] <= value <= places[-1]:
            return Interval(None, None)
        high = int(np.clip(np.searchsorted(places, value), 1, max(places.size - 1, 1)))
        if places.size == 1:
            log_ratios = self.curves[:, 0]
        else:
            span = math.log(places[high] / places[high - 1])
            share = math.log(value / places[high - 1]) / span
            log_ratios = (
                self.curves[:, high - 1] * (1.0 - share) + self.curves[:, high] * share
            )
        lower, upper = _bounds(log_ratios)
        return Interval(lower, upper)


def find_crossover(
    measured: Sequence[tuple[int, PairedBlocks]], margin_percent: float
) -> Crossover:
    """Find the crossover from the paired blocks at each value of the param (> 0, distinct)."""
    ordered = sorted(measured, key=lambda point: point[0])
    if not ordered:
        return Crossover("unknown", reason="nothing was measured")
    for at, blocks in ordered:
        launches = int(np.unique(blocks.launch).size)
        if blocks.d.size < constants.MIN_BLOCKS or launches < constants.MIN_LAUNCHES:
            return Crossover(
                "unknown", reason=_insufficient(at, int(blocks.d.size), launches)
            )
    samples = [(blocks.d, blocks.launch) for _, blocks in ordered]
    weights = np.array([blocks.d.size for _, blocks in ordered], dtype=np.float64)
    middles = np.array([median(blocks.d) for _, blocks in ordered])
    drawn = cluster_replicates(
        samples,
        lambda groups: np.stack([nan_median(group) for group in groups], axis=1),
    )
    if drawn is None:
        return Crossover(
            "unknown", reason="its values were measured in different launches"
        )
    launches = min(int(np.unique(blocks.launch).size) for _, blocks in ordered)
    drawn = middles + (drawn - middles) * bootstrap_widening(
        constants.POLICY_CONFIDENCE, launches
    )
    fitted = non_increasing(middles, weights)
    points = tuple(
        _point(at, blocks, float(fit))
        for (at, blocks), fit in zip(ordered, fitted, strict=True)
    )
    return _answer(points, non_increasing(drawn, weights), margin_percent)


def _insufficient(at: int, blocks: int, launches: int) -> str:
    needed = f"{constants.MIN_BLOCKS} blocks in {constants.MIN_LAUNCHES} launches"
    return f"insufficient: {at} has {blocks} blocks in {launches} launches, advice needs {needed}"


def _point(at: int, blocks: PairedBlocks, fitted: float) -> MeasuredPoint:
    bounds = quantile_interval(blocks.d, 0.5, constants.DERIVED_CONFIDENCE)
    medians = [
        median(blocks.d[blocks.launch == number]) for number in np.unique(blocks.launch)
    ]
    agreeing = math.ceil(constants.LAUNCH_SHARE * len(medians) - 1e-9)
    winner: Winner = "undecided"
    if (
        bounds.upper is not None
        and bounds.upper < 0.0
        and sum(middle < 0.0 for middle in medians) >= agreeing
    ):
        winner = "arm"
    elif (
        bounds.lower is not None
        and bounds.lower > 0.0
        and sum(middle > 0.0 for middle in medians) >= agreeing
    ):
        winner = "reference"
    return MeasuredPoint(
        at,
        median(blocks.d),
        bounds.lower,
        bounds.upper,
        fitted,
        winner,
        int(blocks.d.size),
        len(medians),
    )


def _answer(
    points: tuple[MeasuredPoint, ...], curves: Floats, margin_percent: float
) -> Crossover:
    winners = [point.winner for point in points]
    first = len(points)
    while first and winners[first - 1] == "arm":
        first -= 1
    monotone = not ("arm" in winners and "reference" in winners[winners.index("arm") :])
    if first == len(points):
        return _no_crossover(points, curves, monotone, margin_percent)
    measured_from = points[first].at
    if first == 0:
        return Crossover(
            "always",
            points,
            measured_from,
            None,
            measured_from,
            measured_from,
            monotone,
            "",
            curves,
        )
    if not monotone:
        reason = "the ratio does not fall steadily, so there is no estimate between measured values"
        below = next(
            (
                point.at
                for point in reversed(points[:first])
                if point.winner == "reference"
            ),
            None,
        )
        lower = None if below is None else below + 1
        return Crossover(
            "from",
            points,
            measured_from,
            lower,
            measured_from,
            measured_from,
            False,
            reason,
            curves,
        )
    places = np.log([point.at for point in points])
    estimate = float(
        _crossing(places, np.array([[point.fitted for point in points]]))[0]
    )
    lower_log, upper_log = _bounds(_crossing(places, curves))
    value = (
        points[0].at
        if estimate == -math.inf
        else min(_ceil_whole(estimate), measured_from)
    )
    lower = None if lower_log == -math.inf else min(_ceil_whole(lower_log), value)
    upper = (
        None
        if upper_log == math.inf
        else max(value, _ceil_whole(max(upper_log, float(places[0]))))
    )
    return Crossover(
        "from", points, value, lower, upper, measured_from, True, "", curves
    )


def _no_crossover(
    points: tuple[MeasuredPoint, ...],
    curves: Floats,
    monotone: bool,
    margin_percent: float,
) -> Crossover:
    """Return the answer if the arm does not win at the largest measured value."""
    last = points[-1]
    margin = math.log1p(margin_percent / 100.0)
    beyond = last.lower is not None and last.lower > -margin
    if last.winner == "reference" or beyond:
        reason = (
            "at the largest measured value the arm does not win by more than the margin"
        )
        return Crossover(
            "never", points, monotone=monotone, reason=reason, curves=curves
        )
    reason = "at the largest measured value the interval does not decide who wins"
    return Crossover(
        "undecided", points, monotone=monotone, reason=reason, curves=curves
    )


def _crossing(places: Floats, curves: Floats) -> Floats:
    """Return the value at which each non-increasing curve, linear between `places` (ascending), falls below 0: −inf if
    it starts below, +inf if it never does.
    """
    below = curves < 0.0
    index = np.argmax(below, axis=1)
    crossings = np.full(curves.shape[0], math.inf)
    crosses = below.any(axis=1)
    crossings[crosses & (index == 0)] = -math.inf
    inside = np.nonzero(crosses & (index > 0))[0]
    right = index[inside]
    above, under = curves[inside, right - 1], curves[inside, right]
    share = above / (above - under)
    crossings[inside] = places[right - 1] + share * (places[right] - places[right - 1])
    return crossings


def _bounds(values: Floats) -> tuple[float, float]:
    """Return the 95 % interval of resampled values by order statistics, as they may be infinite."""
    ordered = np.sort(values)
    skip = math.floor((1.0 - constants.POLICY_CONFIDENCE) / 2.0 * ordered.size)
    return float(ordered[skip]), float(ordered[ordered.size - 1 - skip])


def _ceil_whole(log_value: float) -> int:
    """Return the smallest whole number ≥ exp(log_value), ignoring rounding errors of the logarithm."""
    return math.ceil(math.exp(log_value) * (1.0 - 1e-9))


@dataclass(frozen=True)
class MinimumVerdict:
    """Whether a threshold is right (None if undecided), and why. At `loss_at` the policy picks the slower side,
    which takes longer by the fraction `loss`."""

    holds: bool | None
    because: Literal["picks_loser", "inside", "picks_winners", "open", "unknown"]
    loss_at: int | None = None
    loss: float | None = None
    picked: Literal["arm", "reference"] | None = None


def judge_minimum(
    crossover: Crossover, minimum: int, margin_percent: float
) -> MinimumVerdict:
    """Judge using the arm from `minimum` on.

    It is right if the arm nowhere loses from there on (beyond the margin, with confidence), and either `minimum`
    lies in the crossover's interval within the measured range, or the reference nowhere loses below it."""
    if crossover.answer == "unknown" or not crossover.points:
        return MinimumVerdict(None, "unknown")
    margin = math.log1p(margin_percent / 100.0)
    largest = crossover.points[-1].at if crossover.upper is None else crossover.upper
    inside = crossover.answer in ("from", "always") and (
        (crossover.lower is None or crossover.lower <= minimum) and minimum <= largest
    )
    losing = [
        pick
        for pick in _losing_picks(crossover, minimum, margin)
        if pick[2] == "arm" or not inside
    ]
    if losing:
        loss, at, picked = max(losing)
        return MinimumVerdict(False, "picks_loser", at, math.expm1(loss), picked)
    if inside:
        return MinimumVerdict(True, "inside")
    sure = all(
        point.upper is not None and point.upper < margin
        if point.at >= minimum
        else point.lower is not None and point.lower > -margin
        for point in crossover.points
    )
    return (
        MinimumVerdict(True, "picks_winners") if sure else MinimumVerdict(None, "open")
    )


Loss = tuple[float, int, Literal["arm", "reference"]]
"""(log-ratio, value, what the policy picks there)"""


def _losing_picks(crossover: Crossover, minimum: int, margin: float) -> list[Loss]:
    """Return the losses of a policy at the measured values and at the threshold."""
    losing: list[Loss] = []
    for point in crossover.points:
        if (
            point.at >= minimum
            and point.winner == "reference"
            and (point.lower or 0.0) > margin
        ):
            losing.append((point.middle, point.at, "arm"))
        if (
            point.at < minimum
            and point.winner == "arm"
            and (point.upper or 0.0) < -margin
        ):
            losing.append((-point.middle, point.at, "reference"))
    if crossover.monotone and minimum > crossover.points[0].at:
        at_minimum = crossover.at(minimum)
        if at_minimum.lower is not None and at_minimum.lower > margin:
            losing.append((at_minimum.lower, minimum, "arm"))
        if at_minimum.upper is not None and at_minimum.upper < -margin:
            losing.append((-at_minimum.upper, minimum - 1, "reference"))
    return losing
