"""Exact binomial tails and ranks, compared with scipy and textbook tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paceline_server.stats.binomial import (
    quantile_interval,
    quantile_ranks,
    upper_tail,
)
from scipy import stats as scipy_stats


@given(n=st.integers(0, 600), p=st.sampled_from([0.5, 0.01, 0.9, 0.99]), data=st.data())
@settings(max_examples=200)
def test_upper_tail_equals_scipys(n: int, p: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(-2, n + 2))
    expected = float(scipy_stats.binom.sf(k - 1, n, p))
    assert upper_tail(k, n, p) == pytest.approx(expected, rel=1e-9, abs=1e-250)


def test_small_tails_keep_their_digits() -> None:
    assert upper_tail(100, 100) == pytest.approx(2.0**-100, rel=1e-12)
    assert upper_tail(1000, 1000) == pytest.approx(2.0**-1000, rel=1e-10)


def test_sign_test_of_a_textbook_example() -> None:
    """Conover, Practical Nonparametric Statistics: 8 of 9 in one direction has p = 10/512 one-sided."""
    assert upper_tail(8, 9) == pytest.approx(10 / 512, rel=1e-12)


def test_a_tail_outside_its_domain_is_refused() -> None:
    with pytest.raises(ValueError, match="0 < p < 1"):
        upper_tail(1, 2, 1.0)


@pytest.mark.parametrize(
    ("n", "confidence", "ranks"),
    [
        (6, 0.95, (1, 6)),
        (10, 0.95, (2, 9)),
        (15, 0.95, (4, 12)),
        (20, 0.95, (6, 15)),
        (5, 0.95, (None, None)),
    ],
)
def test_ranks_of_the_median_equal_the_published_table(
    n: int, confidence: float, ranks: tuple[int | None, int | None]
) -> None:
    """The table of distribution-free intervals of the median (Conover, table A3 at level 0.025)."""
    assert quantile_ranks(n, 0.5, confidence) == ranks


@given(
    n=st.integers(1, 400),
    q=st.sampled_from([0.5, 0.9, 0.99]),
    confidence=st.sampled_from([0.95, 0.998]),
)
@settings(max_examples=150)
def test_ranks_are_the_tightest_that_cover(n: int, q: float, confidence: float) -> None:
    tail = (1 - confidence) / 2
    lower, upper = quantile_ranks(n, q, confidence)
    if lower is None:
        assert scipy_stats.binom.cdf(0, n, q) > tail * (1 - 1e-9)
    else:
        assert scipy_stats.binom.cdf(lower - 1, n, q) <= tail * (1 + 1e-9)
        assert scipy_stats.binom.cdf(lower, n, q) > tail * (1 - 1e-9)
    if upper is None:
        assert scipy_stats.binom.sf(n - 1, n, q) > tail * (1 - 1e-9)
    else:
        assert scipy_stats.binom.sf(upper - 1, n, q) <= tail * (1 + 1e-9)
        assert scipy_stats.binom.sf(upper - 2, n, q) > tail * (1 - 1e-9)


def test_interval_of_the_median_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(4000):
        bounds = quantile_interval(rng.standard_cauchy(40), 0.5, 0.95)
        assert bounds.lower is not None
        assert bounds.upper is not None
        covered += bounds.lower <= 0.0 <= bounds.upper
    assert covered / 4000 >= 0.94
