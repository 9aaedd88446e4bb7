"""Summarises the samples of a case.

Outliers are not trimmed, because users of the code would see them too.
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
    """Summary of a case's samples per iteration, in the metric's base unit; `sd` has n − 1 degrees of freedom."""

    launches: int
    n: int
    median: float
    mean: float
    p99: float
    min: float
    max: float
    sd: float
    median_lower: float | None
    """Order-statistic interval of the median; None if n is too small."""
    median_upper: float | None


def summarise(values: Floats, launch: Ints) -> Summary:
    """Summarise `values`, shape (n,), n ≥ 1; `launch` has the launch of each.

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
    """Return the numbers of (mild, severe) outliers in `values`, shape (n,), n ≥ 1, as criterion counts them.

    They lie more than 1.5 or 3 interquartile ranges beyond the quartiles (type 7); Tukey, Exploratory Data
    Analysis (1977), §2D.
    """
    first, third = np.quantile(values, [0.25, 0.75])
    distance = np.maximum(first - values, values - third)
    spread = third - first
    severe = int(np.count_nonzero(distance > TUKEY_SEVERE * spread))
    return int(np.count_nonzero(distance > TUKEY_MILD * spread)) - severe, severe


def probably_optimised_away(unit: str, metric_median: float) -> bool:
    """Return whether a time per operation is too short for real work (§1)."""
    return unit == "ns" and metric_median < OPTIMISED_AWAY_NS


def thin_ecdf(values: Floats, points: int) -> tuple[Floats, Floats]:
    """Return the empirical distribution thinned to at most `points` values and shares, both ascending.

    The smallest and the largest sample are kept; in between, the shares are evenly spaced.
    """
    ordered = np.sort(values)
    n = int(ordered.size)
    picks = np.unique(np.round(np.linspace(0, n - 1, min(n, points))).astype(np.int64))
    return ordered[picks], np.asarray((picks + 1) / n, dtype=np.float64)
