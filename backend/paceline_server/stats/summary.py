"""Describes the samples of one case: the numbers of a measurement row.

Outliers are not trimmed: a spike is part of what a user of the code would see.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paceline_server.stats.binomial import quantile_interval
from paceline_server.stats.constants import (
    MEDIAN_CONFIDENCE,
    OPTIMISED_AWAY_NS,
    TUKEY_MILD,
    TUKEY_SEVERE,
)
from paceline_server.stats.samples import Floats, Ints


@dataclass(frozen=True)
class Summary:
    """Of the measured samples of one case, in the metric's base unit per iteration; `sd` has n − 1 below."""

    launches: int
    n: int
    median: float
    mean: float
    p99: float
    min: float
    max: float
    sd: float
    median_lower: float | None
    """Order-statistic interval of the median; None where n is too small for it to exist."""
    median_upper: float | None


def summarise(values: Floats, launch: Ints) -> Summary:
    """Summary of `values`, shape (n,), n ≥ 1; `launch` says which process start each came from.

    p99 interpolates linearly between order statistics (Hyndman & Fan type 7). Raises ValueError for n = 0.
    """
    if values.size == 0:
        raise ValueError("a summary needs at least one sample")
    median, p99 = (float(x) for x in np.quantile(values, [0.5, 0.99]))
    interval = quantile_interval(values, 0.5, MEDIAN_CONFIDENCE)
    return Summary(
        launches=int(np.unique(launch).size),
        n=int(values.size),
        median=median,
        mean=float(values.mean()),
        p99=p99,
        min=float(values.min()),
        max=float(values.max()),
        sd=float(values.std(ddof=1)) if values.size > 1 else 0.0,
        median_lower=interval.lower,
        median_upper=interval.upper,
    )


def tukey_outliers(values: Floats) -> tuple[int, int]:
    """How many of `values`, shape (n,), n ≥ 1, lie beyond Tukey's fences: (mild, severe), farther than 1.5
    and than 3 interquartile ranges from the quartiles, which are of type 7.

    Source: Tukey, Exploratory Data Analysis (1977), §2D; criterion counts so.
    """
    first, third = np.quantile(values, [0.25, 0.75])
    away = np.maximum(first - values, values - third)
    spread = third - first
    severe = int(np.count_nonzero(away > TUKEY_SEVERE * spread))
    return int(np.count_nonzero(away > TUKEY_MILD * spread)) - severe, severe


def probably_optimised_away(unit: str, metric_median: float) -> bool:
    """Whether a time per operation is too short to have done anything (§1)."""
    return unit == "ns" and metric_median < OPTIMISED_AWAY_NS


def thin_ecdf(values: Floats, points: int) -> tuple[Floats, Floats]:
    """The empirical distribution as at most `points` (value, share ≤ value), both ascending, shape (≤
    points,).

    Keeps the smallest and the largest sample; in between the shares are evenly spaced.
    """
    ordered = np.sort(values)
    n = int(ordered.size)
    picks = np.unique(np.round(np.linspace(0, n - 1, min(n, points))).astype(np.int64))
    return ordered[picks], np.asarray((picks + 1) / n, dtype=np.float64)
