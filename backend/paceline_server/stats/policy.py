"""Finds from which value on an arm pays off, and judges the threshold in force (§3).

Pure. An arm wins only where the whole 99.8 % interval of its paired ratio lies below 1
and the launches agree, at that value and at every larger measured one. A number between
measured values comes from an isotonic fit and carries a 95 % interval. "Never" and
"from the smallest measured, or below" are answers. `coldness` says after how many
rounds; `detect.policies` words the result.

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
    """One value of the param. `middle`, `lower`, `upper`, `fitted`: log-ratios arm ÷ reference, below 0 the
    arm is faster; the bounds hold with 99.8 %."""

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
    """From which value on the arm wins.

    `value`: smallest whole value at or above the estimate; `lower`, `upper`: None where the interval reaches
    beyond what was measured. `measured_from`: smallest measured value from which on it wins with confidence.
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
    """The fit of every resample, widened for the few launches there are, shape (replicates, points)."""

    def at(self, value: int) -> Interval:
        """95 % interval of the fitted log-ratio at a value; no bounds outside of what was measured."""
        places = np.array([point.at for point in self.points], dtype=np.float64)
        if not self.curves.size or not places[0] <= value <= places[-1]:
            return Interval(None, None)
        high = int(np.clip(np.searchsorted(places, value), 1, max(places.size - 1, 1)))
        if places.size == 1:
            found = self.curves[:, 0]
        else:
            span = math.log(places[high] / places[high - 1])
            share = math.log(value / places[high - 1]) / span
            found = (
                self.curves[:, high - 1] * (1.0 - share) + self.curves[:, high] * share
            )
        lower, upper = _bounds(found)
        return Interval(lower, upper)


def find_crossover(
    measured: Sequence[tuple[int, PairedBlocks]], margin_percent: float
) -> Crossover:
    """From where on the arm wins, from its paired blocks at each value of the param (> 0, distinct)."""
    ordered = sorted(measured, key=lambda one: one[0])
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
        reason = "the ratio does not fall steadily, so nothing is said between measured values"
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
    """It does not win at the largest measured value: there is none, or the samples leave it open."""
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
    """Where each non-increasing curve, straight between `places` (ascending), goes below 0: −inf when it
    begins there, +inf when it never does."""
    below = curves < 0.0
    index = np.argmax(below, axis=1)
    found = np.full(curves.shape[0], math.inf)
    some = below.any(axis=1)
    found[some & (index == 0)] = -math.inf
    inside = np.nonzero(some & (index > 0))[0]
    right = index[inside]
    above, under = curves[inside, right - 1], curves[inside, right]
    share = above / (above - under)
    found[inside] = places[right - 1] + share * (places[right] - places[right - 1])
    return found


def _bounds(values: Floats) -> tuple[float, float]:
    """The 95 % interval of resampled values that may be infinite, so by order statistics."""
    ordered = np.sort(values)
    skip = math.floor((1.0 - constants.POLICY_CONFIDENCE) / 2.0 * ordered.size)
    return float(ordered[skip]), float(ordered[ordered.size - 1 - skip])


def _ceil_whole(log_value: float) -> int:
    """The smallest whole number that is not below; what rounding of the logarithm adds does not count."""
    return math.ceil(math.exp(log_value) * (1.0 - 1e-9))


@dataclass(frozen=True)
class MinimumVerdict:
    """Whether a threshold is right, None when the samples do not say, and what that rests on. `loss`: at
    `loss_at` the policy picks what takes so much longer, a share."""

    holds: bool | None
    because: Literal["picks_loser", "inside", "picks_winners", "open", "unknown"]
    loss_at: int | None = None
    loss: float | None = None
    picked: Literal["arm", "reference"] | None = None


def judge_minimum(
    found: Crossover, minimum: int, margin_percent: float
) -> MinimumVerdict:
    """Whether using the arm from `minimum` on is right: the arm loses nowhere from there on (beyond the
    margin, with confidence), and `minimum` lies in the crossover's interval (where that has no upper end, not
    above what was measured) or the reference loses nowhere below it either. No threshold can use an arm that
    wins early and loses again before it wins for good."""
    if found.answer == "unknown" or not found.points:
        return MinimumVerdict(None, "unknown")
    margin = math.log1p(margin_percent / 100.0)
    largest = found.points[-1].at if found.upper is None else found.upper
    inside = found.answer in ("from", "always") and (
        (found.lower is None or found.lower <= minimum) and minimum <= largest
    )
    losing = [
        pick
        for pick in _losing_picks(found, minimum, margin)
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
        for point in found.points
    )
    return (
        MinimumVerdict(True, "picks_winners") if sure else MinimumVerdict(None, "open")
    )


Loss = tuple[float, int, Literal["arm", "reference"]]
"""(log-ratio, value, what the policy picks there)"""


def _losing_picks(found: Crossover, minimum: int, margin: float) -> list[Loss]:
    """Where the policy loses, and how much, among measured values and at the threshold itself."""
    losing: list[Loss] = []
    for point in found.points:
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
    if found.monotone and minimum > found.points[0].at:
        here = found.at(minimum)
        if here.lower is not None and here.lower > margin:
            losing.append((here.lower, minimum, "arm"))
        if here.upper is not None and here.upper < -margin:
            losing.append((-here.upper, minimum - 1, "reference"))
    return losing
