"""Measures the spread of samples, with a jackknife interval over launches.

The jackknife of ln(sd) with Student's t holds for samples that are not normal, unlike the chi-square interval
(Miller, Annals of Mathematical Statistics 39, 1968). Outliers are not trimmed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from paceline_server.stats.samples import Floats, Interval, Ints, median
from paceline_server.stats.student import student_quantile


def standard_deviation(values: Floats, launch: Ints) -> float:
    """Return the standard deviation of `values`, shape (n,), with n − 1 degrees of freedom; 0 for a single value."""
    del launch  # part of the signature that `jackknife` calls
    return float(values.std(ddof=1)) if values.size > 1 else 0.0


def relative_deviation(values: Floats, launch: Ints) -> float:
    """Return 100 · sd ÷ mean of all `values`; infinite for a mean of 0."""
    mean = float(values.mean())
    return 100.0 * standard_deviation(values, launch) / abs(mean) if mean else math.inf


def launch_deviation(values: Floats, launch: Ints) -> float:
    """Return 100 · sd ÷ mean of the launches' medians."""
    medians = np.array(
        [median(values[launch == number]) for number in np.unique(launch)]
    )
    return relative_deviation(medians, np.arange(medians.size))


def jackknife(
    spread: Callable[[Floats, Ints], float],
    values: Floats,
    launch: Ints,
    confidence: float,
) -> Interval:
    """Return the jackknife interval of a spread: each launch is left out once, and at least three are needed.

    A spread of 0 has the interval [0, 0]. The interval has no bounds if the spread is 0 without one of the launches.
    """
    whole = spread(values, launch)
    numbers = np.unique(launch)
    if whole == 0.0:
        return Interval(0.0, 0.0)
    without = [
        spread(values[launch != number], launch[launch != number]) for number in numbers
    ]
    if numbers.size < 3 or not math.isfinite(whole) or min(without) <= 0.0:
        return Interval(None, None)
    pseudo = numbers.size * math.log(whole) - (numbers.size - 1) * np.log(without)
    error = float(pseudo.std(ddof=1)) / math.sqrt(numbers.size)
    reach = student_quantile(0.5 + confidence / 2.0, int(numbers.size) - 1) * error
    return Interval(whole * math.exp(-reach), whole * math.exp(min(reach, 700.0)))
