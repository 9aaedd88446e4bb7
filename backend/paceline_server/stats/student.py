"""Computes the distribution and quantiles of Student's t, for intervals over a few launches.

Formulas: Abramowitz & Stegun 26.7.3 and 26.7.4 (whole degrees of freedom). scipy is a test dependency
only; tests compare every value with it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_HALVINGS = 200
"""The number of bisection steps, after which no double is left between the two ends."""


def student_cdf(t: float, freedom: int) -> float:
    """Return P[T ≤ t] with `freedom` ≥ 1 degrees of freedom."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2 == 1
    total, term = 0.0, cosine if odd else 1.0
    for k in range(2 if odd else 1, freedom, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    between = (angle + sine * total) * 2.0 / math.pi if odd else sine * total
    return 0.5 + between / 2.0


@lru_cache(maxsize=256)
def student_quantile(p: float, freedom: int) -> float:
    """Return t with P[T ≤ t] = p. Raises ValueError unless 0.5 ≤ p < 1 and `freedom` ≥ 1."""
    if not 0.5 <= p < 1.0 or freedom < 1:
        raise ValueError(
            f"a quantile of t needs 0.5 ≤ p < 1 and at least 1 degree of freedom, got {p} and {freedom}"
        )
    high = 1.0
    while student_cdf(high, freedom) < p:
        high *= 2.0
    low = 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (
            (middle, high) if student_cdf(middle, freedom) < p else (low, middle)
        )
    return high


def bootstrap_widening(confidence: float, clusters: int) -> float:
    """Return the factor that makes a bootstrap's percentile interval over `clusters` ≥ 2 as wide as a t interval.

    A bootstrap of the mean of n values is too narrow by √((n − 1)/n) and corresponds to z instead of t
    (Hesterberg, The American Statistician 69(4), 2015). His wider percentiles cannot exceed the most extreme
    of a few launches, so deviations are multiplied instead.
    """
    level = 0.5 + confidence / 2.0
    return (
        math.sqrt(clusters / (clusters - 1))
        * student_quantile(level, clusters - 1)
        / NormalDist().inv_cdf(level)
    )
