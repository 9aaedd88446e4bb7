"""Computes exact binomial tails and the ranks of order-statistic intervals.

They assume only that blocks are independent (David & Nagaraja, Order Statistics, 3rd ed., §7.1; Conover,
Practical Nonparametric Statistics, §3.1). scipy is a test dependency only; tests compare every value with it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from paceline_server.stats.samples import Floats, Interval


def _log_pmf(n: int, p: float) -> Floats:
    """Return ln P[Bin(n, p) = i] for i in 0…n, shape (n + 1,)."""
    i = np.arange(1, n + 1, dtype=np.float64)
    log_comb = np.concatenate([[0.0], np.cumsum(np.log((n - i + 1.0) / i))])
    j = np.arange(n + 1, dtype=np.float64)
    return np.asarray(
        log_comb + j * math.log(p) + (n - j) * math.log1p(-p), dtype=np.float64
    )


@lru_cache(maxsize=512)
def _tails(n: int, p: float) -> tuple[Floats, Floats]:
    """Return (P[Bin ≤ i], P[Bin ≥ i]) for i in 0…n, each summed from its small end to keep its precision."""
    pmf = np.exp(_log_pmf(n, p))
    lower = np.minimum(np.cumsum(pmf), 1.0)
    upper = np.minimum(np.cumsum(pmf[::-1])[::-1], 1.0)
    return lower, upper


def upper_tail(k: int, n: int, p: float = 0.5) -> float:
    """Return P[Bin(n, p) ≥ k]; 1 for k ≤ 0 and 0 for k > n."""
    if n < 0 or not 0.0 < p < 1.0:
        raise ValueError(f"a binomial tail needs n ≥ 0 and 0 < p < 1, got n={n}, p={p}")
    if k <= 0:
        return 1.0
    if k > n:
        return 0.0
    return float(_tails(n, p)[1][k])


@lru_cache(maxsize=2048)
def quantile_ranks(
    n: int, q: float, confidence: float
) -> tuple[int | None, int | None]:
    """Return the ranks (1-based) of the order statistics that enclose the q-quantile; None if n is too small.

    lower = the largest k with P[Bin(n, q) ≤ k − 1] ≤ (1 − confidence)/2,
    upper = the smallest k with P[Bin(n, q) ≥ k] ≤ (1 − confidence)/2.
    """
    if n <= 0:
        return None, None
    tail = (1.0 - confidence) / 2.0 * (1.0 + 1e-12)
    below, above = _tails(n, q)
    lower_count = int(np.count_nonzero(below[:n] <= tail))
    upper_hits = np.nonzero(above[1:] <= tail)[0]
    lower = lower_count if lower_count >= 1 else None
    upper = int(upper_hits[0]) + 1 if upper_hits.size else None
    return lower, upper


def quantile_interval(values: Floats, q: float, confidence: float) -> Interval:
    """Return the order-statistic interval of the q-quantile of `values`, shape (n,), any order."""
    ordered = np.sort(values)
    lower, upper = quantile_ranks(int(ordered.size), q, confidence)
    return Interval(
        None if lower is None else float(ordered[lower - 1]),
        None if upper is None else float(ordered[upper - 1]),
    )
