"""Computes derived metrics with their intervals.

Values between arms are paired by block, like a verdict. Values across params, which share no rounds, are medians
bootstrapped by launch. `detect/derive.py` selects the cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from paceline_contract.events import Direction

from paceline_server.stats.binomial import quantile_interval
from paceline_server.stats.blocks import pair_blocks
from paceline_server.stats.bootstrap import cluster_bootstrap, nan_median
from paceline_server.stats.constants import DERIVED_CONFIDENCE
from paceline_server.stats.paired import launch_medians
from paceline_server.stats.samples import CaseSamples, Floats, Interval, Ints, median

Warm = tuple[Floats, Ints]
"""(values, launch) of a case's warm samples, shape (n,) each."""

NOTHING = Interval(None, None)
NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class DerivedValue:
    """A derived value, or why there is none.

    If `value` is None and `answered` is true, the answer is that no such value exists (no crossover).
    Otherwise `note` names what is missing."""

    value: float | None
    interval: Interval = NOTHING
    answered: bool = False
    note: str = ""
    censored: bool = False
    """The value is the smallest measured one; the true value may be lower."""
    by_launch: tuple[float, ...] = ()
    """The value of each launch alone, infinite where it has none; empty for a crossover, which is no estimate."""


def _each_launch(formula: Callable[..., float], *samples: Warm) -> tuple[float, ...]:
    """Return what `formula` makes of the medians of each launch that all samples have."""
    common = set.intersection(*({*launch.tolist()} for _, launch in samples))
    return tuple(
        formula(*(median(values[launch == number]) for values, launch in samples))
        for number in sorted(common)
    )


def _quotient(over: float, under: float) -> float:
    return over / under if under else math.inf


def ratio_across_param(at_from: Warm, at_to: Warm) -> DerivedValue:
    """Return median at `to` ÷ median at `from`."""
    if not at_from[0].size or not at_to[0].size or not float(np.median(at_from[0])):
        return DerivedValue(None)
    interval = cluster_bootstrap(
        [at_to, at_from],
        lambda groups: np.asarray(nan_median(groups[0]) / nan_median(groups[1])),
        DERIVED_CONFIDENCE,
    )
    return DerivedValue(
        float(np.median(at_to[0]) / np.median(at_from[0])),
        interval,
        by_launch=_each_launch(_quotient, at_to, at_from),
    )


def degradation_across_param(
    at_from: Warm, at_to: Warm, direction: Direction
) -> DerivedValue:
    """Return how many times worse the median is at `to` than at `from`: 4.8 is 4.8 times as slow, for times and
    rates."""
    return (
        ratio_across_param(at_from, at_to)
        if direction == "lower"
        else ratio_across_param(at_to, at_from)
    )


RATIOS: Mapping[str, float] = {
    "speedup_between_arms": 0.0,
    "overhead_between_arms": 1.0,
    "ratio_across_param": 0.0,
    "degradation_across_param": 0.0,
    "share_between_metrics": -1.0,
    "share_at_rate": 0.0,
}
"""The kinds whose value is a ratio, or one but for what stands here: an overhead is a ratio less 1, a share 1 less a ratio."""


def widen_ratio(kind: str, interval: Interval, extra_percent: float) -> Interval:
    """Widen the interval of a kind of `RATIOS`, or of a statistic, as far as its ratio moves by so many percent."""
    factor, offset = 1.0 + extra_percent / 100.0, RATIOS.get(kind, 0.0)
    lower, upper = (
        None
        if bound is None
        else ((bound + offset) / factor, (bound + offset) * factor)
        for bound in (interval.lower, interval.upper)
    )
    return Interval(
        None if lower is None else min(lower) - offset,
        None if upper is None else max(upper) - offset,
    )


def overhead_between_arms(arm: CaseSamples, base: CaseSamples) -> DerivedValue:
    """Return metric(arm) ÷ metric(base) − 1, median over paired blocks; 0.05 means 5 % more, better or worse."""
    blocks = pair_blocks(arm, base, "lower")
    d = blocks.d
    if not d.size:
        return DerivedValue(None)
    bounds = quantile_interval(d, 0.5, DERIVED_CONFIDENCE)
    interval = Interval(
        None if bounds.lower is None else math.expm1(bounds.lower),
        None if bounds.upper is None else math.expm1(bounds.upper),
    )
    return DerivedValue(
        math.expm1(float(np.median(d))),
        interval,
        by_launch=tuple(np.expm1(launch_medians(blocks)).tolist()),
    )


def speedup_between_arms(arm: CaseSamples, base: CaseSamples) -> DerivedValue:
    """Return how many times as fast as `base` the arm is, for times and rates: the median over paired blocks."""
    blocks = pair_blocks(arm, base, arm.direction)
    d = blocks.d
    if not d.size:
        return DerivedValue(None)
    bounds = quantile_interval(d, 0.5, DERIVED_CONFIDENCE)
    interval = Interval(
        None if bounds.upper is None else math.exp(-bounds.upper),
        None if bounds.lower is None else math.exp(-bounds.lower),
    )
    return DerivedValue(
        math.exp(-float(np.median(d))),
        interval,
        by_launch=tuple(np.exp(-launch_medians(blocks)).tolist()),
    )


def share_between_metrics(part: Warm, whole: Warm) -> DerivedValue:
    """Return 1 − median(part) ÷ median(whole), for example the overhead around an inner digest."""
    if not part[0].size or not whole[0].size or not float(np.median(whole[0])):
        return DerivedValue(None)
    interval = cluster_bootstrap(
        [part, whole],
        lambda groups: np.asarray(1.0 - nan_median(groups[0]) / nan_median(groups[1])),
        DERIVED_CONFIDENCE,
    )
    return DerivedValue(
        1.0 - float(np.median(part[0]) / np.median(whole[0])),
        interval,
        by_launch=_each_launch(
            lambda inner, outer: 1.0 - _quotient(inner, outer), part, whole
        ),
    )


def share_at_rate(
    warm: Warm, bytes_per_iteration: int, rate_bytes_per_s: int
) -> DerivedValue:
    """Return the fraction of a thread's time that `rate_bytes_per_s` needs; above 1, one thread is too slow."""
    if not warm[0].size or bytes_per_iteration <= 0:
        return DerivedValue(None)
    factor = rate_bytes_per_s / bytes_per_iteration / NS_PER_S
    interval = cluster_bootstrap(
        [warm],
        lambda groups: np.asarray(nan_median(groups[0]) * factor),
        DERIVED_CONFIDENCE,
    )
    return DerivedValue(
        float(np.median(warm[0])) * factor,
        interval,
        by_launch=_each_launch(lambda time: time * factor, warm),
    )


def crossover(points: Sequence[tuple[int, CaseSamples, CaseSamples]]) -> DerivedValue:
    """Return the smallest measured value from which the arm is faster with confidence, there and at all larger values.

    `points` has (value, arm, base) for ≥ 2 distinct values. The lower bound is the smallest value from which the
    arm is not slower with confidence, or None if that is the smallest measured value. Without a value,
    `answered` says that no measured value is a crossover.
    """
    ordered = sorted(points, key=lambda point: point[0])
    if len({value for value, *_ in ordered}) < 2:
        return DerivedValue(None, note="fewer than two values were measured")
    wins: float | None = None
    may_win: float | None = None
    faster_above = not_slower_above = True
    for value, arm, base in reversed(ordered):
        bounds = quantile_interval(
            pair_blocks(arm, base, arm.direction).d, 0.5, DERIVED_CONFIDENCE
        )
        if bounds.lower is None or bounds.upper is None:
            return DerivedValue(None, note=f"too few blocks for an interval at {value}")
        faster_above = faster_above and bounds.upper < 0.0
        not_slower_above = not_slower_above and bounds.lower <= 0.0
        wins = float(value) if faster_above else wins
        may_win = float(value) if not_slower_above else may_win
    if wins is not None and may_win == ordered[0][0]:
        may_win = None
    return DerivedValue(
        wins, Interval(may_win, wins), answered=True, censored=wins == ordered[0][0]
    )


def slope(points: Sequence[tuple[float, Warm]]) -> DerivedValue:
    """Return the exponent of a power law: least-squares slope of ln(median) over ln(param), for ≥ 2 distinct params >
    0.

    0 is constant, 1 is linear. The interval resamples launches for all points together.
    """
    usable = [
        (x, warm)
        for x, warm in points
        if x > 0 and warm[0].size and float(np.median(warm[0])) > 0
    ]
    if len({x for x, _ in usable}) < 2:
        return DerivedValue(None)
    log_x = np.log(np.array([x for x, _ in usable]))
    weights = (log_x - log_x.mean()) / float(((log_x - log_x.mean()) ** 2).sum())

    def fitted(log_medians: Floats) -> Floats:
        return np.asarray(log_medians @ weights, dtype=np.float64)

    value = float(fitted(np.log(np.array([np.median(warm[0]) for _, warm in usable]))))
    interval = cluster_bootstrap(
        [warm for _, warm in usable],
        lambda groups: fitted(
            np.log(np.stack([nan_median(group) for group in groups], axis=1))
        ),
        DERIVED_CONFIDENCE,
    )

    def fit_launch(*medians: float) -> float:
        if min(medians) <= 0.0:
            return math.inf
        return float(fitted(np.log(np.array(medians))))

    by_launch = _each_launch(fit_launch, *(warm for _, warm in usable))
    return DerivedValue(value, interval, by_launch=by_launch)
