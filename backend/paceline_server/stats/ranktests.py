"""Computes the two-sided Mann–Whitney test and the Benjamini–Hochberg procedure.

Mann–Whitney is exact without ties up to 30 values per side, otherwise the normal approximation with tie and
continuity corrections (Lehmann, Nonparametrics, §1.3 and §1.4).
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from paceline_server.stats.samples import Bools, Floats

EXACT_SIDE = 30
"""Values per side up to which the exact null distribution is tabulated (900 possible statistics)."""


@lru_cache(maxsize=256)
def _exact_cdf(n: int, m: int) -> Floats:
    """Return P[U ≤ u] for u in 0…n·m under the null, shape (n·m + 1,).

    The counts are the coefficients of the Gaussian binomial: ∏ (1 − x^(m+i)) / (1 − x^i), i = 1…n.
    """
    size = n * m + 1
    counts = np.zeros(size)
    counts[0] = 1.0
    for i in range(1, n + 1):
        if m + i < size:
            counts[m + i :] -= counts[: size - m - i].copy()
        for start in range(i):
            counts[start::i] = np.cumsum(counts[start::i])
    return np.asarray(np.cumsum(counts) / math.comb(n + m, n), dtype=np.float64)


def mid_ranks(values: Floats) -> tuple[Floats, Floats]:
    """Return the ranks from 1 with ties averaged, shape (n,), and the sizes of the groups of equal values."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray(
        (ends - (counts - 1) / 2.0)[inverse], dtype=np.float64
    ), counts.astype(np.float64)


def mann_whitney_p(a: Floats, b: Floats) -> float:
    """Return the two-sided p-value for `a` and `b` having the same distribution; 1.0 if a side is empty or all values
    are equal."""
    n, m = int(a.size), int(b.size)
    if n == 0 or m == 0:
        return 1.0
    ranks, ties = mid_ranks(np.concatenate([a, b]))
    u = float(ranks[:n].sum()) - n * (n + 1) / 2.0
    small = min(u, n * m - u)
    if ties.max() == 1.0 and max(n, m) <= EXACT_SIDE:
        return min(1.0, 2.0 * float(_exact_cdf(n, m)[round(small)]))
    total = n + m
    variance = (
        n
        * m
        / 12.0
        * (total + 1.0 - float((ties**3 - ties).sum()) / (total * (total - 1.0)))
    )
    if variance <= 0.0:
        return 1.0
    z = (n * m / 2.0 - small - 0.5) / math.sqrt(variance)
    return min(1.0, math.erfc(z / math.sqrt(2.0))) if z > 0 else 1.0


def shift_interval(
    before: Floats, after: Floats, confidence: float, dependence: float = 1.0
) -> tuple[float, float]:
    """Return the interval of a shift: order statistics of all pairwise differences (Hodges & Lehmann; Lehmann §2.4)."""
    pairs = np.sort((after[:, None] - before[None, :]).ravel())
    n, m = before.size, after.size
    z = NormalDist().inv_cdf((1.0 + confidence) / 2.0)
    rank = math.floor(
        n * m / 2.0 - z * math.sqrt(dependence * n * m * (n + m + 1) / 12.0)
    )
    rank = min(max(rank, 0), pairs.size - 1)
    return float(pairs[rank]), float(pairs[pairs.size - 1 - rank])


def benjamini_hochberg(p_values: Floats, q: float) -> Bools:
    """Return which tests are discoveries at false-discovery rate q, in the shape of `p_values`.

    Rejects the i smallest, i = the largest with p_(i) ≤ i·q/n (Benjamini & Hochberg 1995, eq. 1).
    """
    n = int(p_values.size)
    if n == 0:
        return np.zeros(0, dtype=np.bool_)
    order = np.argsort(p_values, kind="stable")
    under = p_values[order] <= q * np.arange(1, n + 1) / n
    rejected = np.zeros(n, dtype=np.bool_)
    if under.any():
        rejected[order[: int(np.nonzero(under)[0][-1]) + 1]] = True
    return rejected
