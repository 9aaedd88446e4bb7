"""Estimates how much launches differ, and an effect only as surely as they agree (stats/README.md §2, "The launches").

A process is one draw of memory layout, so its blocks share an error that no number of them removes:

    noise²  = (b · 1.4826 · MAD of the K launch medians)² − v     b: unbiased for so few (Croux & Rousseeuw 1992)
    v       = what the blocks of a launch explain of the scatter of its median
    middle  = the mean of the launch medians, those farther than 1.5 of their scatter pulled there (Huber 1964)
    error   = √((noise² + v) / K);  bounds: Student's t with K − 1 degrees of freedom

A gate says with how much certainty it decides, so that its bounds are those of Student's t and nothing more robust
(`widen_by_launches`): by the middle and error above, 3.8 of 100 gates at their level would pass where 1 is said.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from paceline_server.stats.constants import GATE_CONFIDENCE, MIN_LAUNCHES
from paceline_server.stats.samples import Floats, Interval, Ints
from paceline_server.stats.student import student_cdf, student_quantile

_SIGMA_OF_MAD = 1.4826
_FEW = {
    2: 1.196,
    3: 1.495,
    4: 1.363,
    5: 1.206,
    6: 1.200,
    7: 1.140,
    8: 1.129,
    9: 1.107,
}
"""What makes the median absolute deviation of so few values unbiased; of more it is K over K less
0.8."""
_REACH = 1.5
"""Standard deviations; Huber's constant, at which the mean is 96 % as sure as that of normal launches."""
_ROUNDS = 5
"""By then the middle moves by less than a thousandth of its error."""


class LaunchEffect:
    """The effects of W pairs with K ≥ 2 launches each, by their launches, in log units."""

    def __init__(
        self, medians: Floats, variances: Floats, job_noise: float = 0.0
    ) -> None:
        """`medians` are the launches' log-ratios, (W, K); `variances` what their blocks explain of one, (W,).
        `job_noise`: how much the launches of the job's pairs differ at the least."""
        self.launches = medians.shape[1]
        start = np.median(medians, axis=1, keepdims=True)
        mad = np.median(np.abs(medians - start), axis=1)
        unbiased = _FEW.get(self.launches, self.launches / (self.launches - 0.8))
        own = (unbiased * _SIGMA_OF_MAD * mad) ** 2 - variances
        self.own_noise = np.sqrt(np.maximum(own, 0.0))
        self.noise = np.maximum(self.own_noise, job_noise)
        scatter = np.sqrt(self.noise**2 + variances)[:, None]
        middle = start
        for _ in range(_ROUNDS):
            pulled = np.clip(medians - middle, -_REACH * scatter, _REACH * scatter)
            middle = middle + pulled.mean(axis=1, keepdims=True)
        self.middle = middle[:, 0]
        self.error = scatter[:, 0] / math.sqrt(self.launches)

    def half_width(self, certainty: float, batches: int = 1) -> Floats:
        """Return how far at most the effect lies below the middle with this certainty, and how far above; by an error
        that is known as well as that of so many times the launches."""
        freedom = batches * self.launches - 1
        return np.asarray(student_quantile(certainty, freedom) * self.error)

    def p_at_most(self, log_ratio: float) -> float:
        """Return the probability that the effect of the first pair is at most a log-ratio."""
        distance, error = float(self.middle[0]) - log_ratio, float(self.error[0])
        if not error:
            return 0.0 if distance > 0.0 else 1.0
        return student_cdf(-distance / error, self.launches - 1)


def widen_by_launches(
    interval: Interval, value: float, by_launch: Sequence[float]
) -> Interval:
    """Return the interval of a gate's value, at least as wide as its launches demand; `by_launch` is what each gives alone.

    Too few launches say nothing, as of a pair. A bound that too few samples left out stays so, and both are left out where
    a launch has no value."""
    lower, upper = interval.lower, interval.upper
    if len(by_launch) < MIN_LAUNCHES or (lower is None and upper is None):
        return interval
    figures = np.array(by_launch)
    if not np.isfinite(figures).all():
        return Interval(None, None)
    error = float(figures.std(ddof=1)) / math.sqrt(figures.size)
    half = student_quantile(0.5 + GATE_CONFIDENCE / 2.0, figures.size - 1) * error
    return Interval(
        None if lower is None else min(lower, value - half),
        None if upper is None else max(upper, value + half),
    )


def median_variance(d: Floats, launch: Ints, medians: Floats) -> float:
    """Return how far a launch's median scatters because of its blocks alone, as a variance.

    It is read off the blocks of all launches around their median, between the ranks that a median of so many blocks
    reaches within one standard deviation: blocks have heavy tails, and beside neighbours two modes."""
    _, index, sizes = np.unique(launch, return_inverse=True, return_counts=True)
    scatter = _scatter_of_median((d - medians[index])[None, :], float(sizes.mean()))
    return float(scatter[0]) ** 2


def median_variances(d: Floats) -> Floats:
    """Return the same for W pairs with K launches of n blocks each, `d` of shape (W, K, n)."""
    around = (d - np.median(d, axis=2, keepdims=True)).reshape(d.shape[0], -1)
    return _scatter_of_median(around, float(d.shape[2])) ** 2


def _scatter_of_median(around: Floats, blocks: float) -> Floats:
    """Return the standard deviation of a median of so many blocks, by blocks around theirs, shape (W,)."""
    reach = min(0.5, 0.5 / math.sqrt(blocks))
    low, high = np.quantile(around, [0.5 - reach, 0.5 + reach], axis=1)
    return np.asarray((high - low) / 2.0)
