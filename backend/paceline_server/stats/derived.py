"""Derived metrics: numbers computed from other measurements, with their interval.

Place: after `blocks` and `summary`, before `gates`. Invariant: an overhead between arms is paired by block
like a verdict; numbers across params (which no round shares) are medians, bootstrapped by launch.
Deliberately names no benchmark: `detect/analyse.py` selects the cases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from paceline_server.stats.binomial import quantile_interval
from paceline_server.stats.blocks import pair_blocks
from paceline_server.stats.bootstrap import cluster_bootstrap, nan_median
from paceline_server.stats.constants import DERIVED_CONFIDENCE
from paceline_server.stats.samples import CaseSamples, Floats, Interval, Ints

Warm = tuple[Floats, Ints]
"""(values, launch) of the warm samples of one case, shape (n,) each."""

NOTHING = Interval(None, None)


@dataclass(frozen=True)
class DerivedValue:
    """None where the samples do not say."""

    value: float | None
    interval: Interval = NOTHING


def ratio_across_param(at_from: Warm, at_to: Warm) -> DerivedValue:
    """Median at `to` ÷ median at `from`, e.g. the degradation from a small to a large working set."""
    if not at_from[0].size or not at_to[0].size or not float(np.median(at_from[0])):
        return DerivedValue(None)
    interval = cluster_bootstrap(
        [at_to, at_from],
        lambda groups: np.asarray(nan_median(groups[0]) / nan_median(groups[1])),
        DERIVED_CONFIDENCE,
    )
    return DerivedValue(float(np.median(at_to[0]) / np.median(at_from[0])), interval)


def overhead_between_arms(arm: CaseSamples, base: CaseSamples) -> DerivedValue:
    """metric(arm) ÷ metric(base) − 1, the median over paired blocks; 0.05 is 5 % more, whatever is better."""
    d = pair_blocks(arm, base, "lower").d
    if not d.size:
        return DerivedValue(None)
    bounds = quantile_interval(d, 0.5, DERIVED_CONFIDENCE)
    interval = Interval(
        None if bounds.lower is None else math.expm1(bounds.lower),
        None if bounds.upper is None else math.expm1(bounds.upper),
    )
    return DerivedValue(math.expm1(float(np.median(d))), interval)


def slope(points: Sequence[tuple[float, Warm]]) -> DerivedValue:
    """Exponent of a power law: least-squares slope of ln(median) over ln(param), from ≥ 2 distinct params
    > 0.

    0 is flat (O(1)), 1 is linear. The interval resamples launches for all points together.
    """
    usable = [(x, warm) for x, warm in points if x > 0 and warm[0].size and float(np.median(warm[0])) > 0]
    if len({x for x, _ in usable}) < 2:
        return DerivedValue(None)
    log_x = np.log(np.array([x for x, _ in usable]))
    weights = (log_x - log_x.mean()) / float(((log_x - log_x.mean()) ** 2).sum())

    def fitted(log_medians: Floats) -> Floats:
        return np.asarray(log_medians @ weights, dtype=np.float64)

    value = float(fitted(np.log(np.array([np.median(warm[0]) for _, warm in usable]))))
    interval = cluster_bootstrap(
        [warm for _, warm in usable],
        lambda groups: fitted(np.log(np.stack([nan_median(group) for group in groups], axis=1))),
        DERIVED_CONFIDENCE,
    )
    return DerivedValue(value, interval)
