"""Student's t against scipy."""

from __future__ import annotations

import math

import pytest
from paceline_server.stats.student import (
    bootstrap_widening,
    student_cdf,
    student_quantile,
)
from scipy import stats


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 20, 99])
def test_the_distribution_is_scipys(freedom: int) -> None:
    for t in (-30.0, -2.5, -0.1, 0.0, 0.7, 3.0, 12.0):
        assert student_cdf(t, freedom) == pytest.approx(
            stats.t.cdf(t, freedom), rel=1e-9, abs=1e-12
        )
    for p in (0.5, 0.75, 0.975, 0.99, 0.999):
        assert student_quantile(p, freedom) == pytest.approx(
            stats.t.ppf(p, freedom), rel=1e-9, abs=1e-9
        )


def test_a_bootstrap_over_few_launches_is_widened_and_over_many_is_not() -> None:
    assert bootstrap_widening(0.95, 5) == pytest.approx(
        math.sqrt(5 / 4) * stats.t.ppf(0.975, 4) / stats.norm.ppf(0.975)
    )
    assert (
        bootstrap_widening(0.95, 3)
        > bootstrap_widening(0.95, 5)
        > bootstrap_widening(0.95, 10)
        > bootstrap_widening(0.95, 10_000)
        > 1.0
    )
    assert bootstrap_widening(0.95, 10_000) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(("p", "freedom"), [(0.4, 3), (1.0, 3), (0.9, 0)])
def test_an_invalid_quantile_is_refused(p: float, freedom: int) -> None:
    with pytest.raises(ValueError, match="quantile of t"):
        student_quantile(p, freedom)
