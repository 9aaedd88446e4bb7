"""Mann–Whitney and Benjamini–Hochberg, compared with scipy and the example of the 1995 paper."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paceline_server.stats.ranktests import benjamini_hochberg, mann_whitney_p
from scipy import stats as scipy_stats

FLOATS = st.floats(-1e6, 1e6, allow_nan=False)


@given(values=st.lists(FLOATS, min_size=2, max_size=40, unique=True), data=st.data())
@settings(max_examples=150)
def test_exact_p_equals_scipys(values: list[float], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(values) - 1))
    a, b = np.array(values[:cut]), np.array(values[cut:])
    if max(a.size, b.size) <= 30:
        expected = float(scipy_stats.mannwhitneyu(a, b, method="exact").pvalue)
        assert mann_whitney_p(a, b) == pytest.approx(expected, rel=1e-9)


@given(
    a=st.lists(st.integers(0, 6), min_size=5, max_size=60),
    b=st.lists(st.integers(0, 6), min_size=5, max_size=60),
)
@settings(max_examples=150)
def test_tied_p_equals_scipys_approximation(a: list[int], b: list[int]) -> None:
    left, right = np.array(a, dtype=np.float64), np.array(b, dtype=np.float64)
    if len(set(a + b)) > 1 and len(set(a + b)) < len(a + b):
        expected = float(
            scipy_stats.mannwhitneyu(left, right, method="asymptotic").pvalue
        )
        assert mann_whitney_p(left, right) == pytest.approx(expected, rel=1e-9)


def test_nothing_to_compare_is_no_evidence() -> None:
    same = np.full(10, 3.0)
    assert mann_whitney_p(same, same) == 1.0
    assert mann_whitney_p(same, np.array([])) == 1.0


def test_benjamini_hochberg_1995_worked_example() -> None:
    """§3.2 of the paper: 15 p-values of which, at q = 0.05, the first four are rejected."""
    p = np.array(
        [
            0.0001,
            0.0004,
            0.0019,
            0.0095,
            0.0201,
            0.0278,
            0.0298,
            0.0344,
            0.0459,
            0.3240,
            0.4262,
            0.5719,
            0.6528,
            0.7590,
            1.0,
        ]
    )
    assert benjamini_hochberg(p, 0.05).tolist() == [True] * 4 + [False] * 11


@given(
    p=st.lists(st.floats(0, 1), min_size=1, max_size=50),
    q=st.sampled_from([0.01, 0.05, 0.2]),
)
@settings(max_examples=150)
def test_benjamini_hochberg_equals_scipys_adjusted_p(p: list[float], q: float) -> None:
    values = np.array(p)
    adjusted = scipy_stats.false_discovery_control(values)
    clear = np.abs(adjusted - q) > 1e-9
    assert (benjamini_hochberg(values, q)[clear] == (adjusted <= q)[clear]).all()
