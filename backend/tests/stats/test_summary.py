"""Tests summaries of samples, thinned distributions and sentences about ratios."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from paceline_contract.units import quantity
from paceline_server.stats.plain_words import (
    describe_comparison,
    describe_ratio,
    percent,
)
from paceline_server.stats.summary import probably_optimised_away, summarise, thin_ecdf


def test_summary_of_a_textbook_sample() -> None:
    summary = summarise(
        np.array([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]),
        np.array([0, 0, 0, 0, 1, 1, 1, 1]),
    )
    assert (summary.n, summary.launches, summary.median, summary.mean) == (
        8,
        2,
        4.5,
        5.0,
    )
    assert (summary.min, summary.max) == (2.0, 9.0)
    assert summary.sd == pytest.approx((32 / 7) ** 0.5)
    assert summary.p99 == pytest.approx(8.86)


def test_the_interval_of_a_median_misses_once_in_a_hundred() -> None:
    """Smallest to largest of n samples miss the median 2 · 2⁻ⁿ of the times: 1 in 64, 1 in 128."""
    seven, eight = (
        summarise(np.arange(1.0, n + 1), np.zeros(n, dtype=np.int64)) for n in (7, 8)
    )
    assert (seven.median_lower, seven.median_upper) == (None, None)
    assert (eight.median_lower, eight.median_upper) == (1.0, 8.0)


def test_one_sample_has_no_spread_and_none_is_refused() -> None:
    assert summarise(np.array([3.0]), np.array([0])).sd == 0.0
    with pytest.raises(ValueError, match="at least one"):
        summarise(np.array([]), np.array([]))


def test_a_time_below_one_nanosecond_is_suspect() -> None:
    """A report states 843 ps for an FFI call: nothing can have been called."""
    assert probably_optimised_away("ns", 0.843)
    assert not probably_optimised_away("ns", 1.0)
    assert not probably_optimised_away("count", 0.5)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=600))
def test_a_thinned_distribution_keeps_both_ends_and_ascends(
    values: list[float],
) -> None:
    at, share = thin_ecdf(np.array(values), 150)
    assert len(at) <= 150
    assert (at[0], at[-1], share[-1]) == (min(values), max(values), 1.0)
    assert (np.diff(at) >= 0).all()
    assert (np.diff(share) > 0).all()


@given(st.floats(1e-12, 50))
def test_a_measured_difference_is_never_rounded_to_nothing(fraction: float) -> None:
    assert float(percent(fraction).removesuffix(" %")) > 0


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.126, "12.6 % slower"),
        (0.9, "10.0 % faster"),
        (1.00034, "0.034 % slower"),
        (1.0, "exactly as fast"),
        (3.4, "240 % slower"),
        (0.9999995, "0.000050 % faster"),
    ],
)
def test_the_direction_is_given_in_words(ratio: float, words: str) -> None:
    assert describe_ratio(ratio, "ns") == words


@pytest.mark.parametrize(
    ("unit", "above", "below"),
    [
        ("op/s", "12.0 % slower", "12.0 % faster"),
        ("bytes/s", "12.0 % slower", "12.0 % faster"),
        ("bytes", "12.0 % worse", "12.0 % better"),
        ("count", "12.0 % worse", "12.0 % better"),
    ],
)
def test_only_speeds_are_slower_or_faster(unit: str, above: str, below: str) -> None:
    assert (describe_ratio(1.12, unit), describe_ratio(0.88, unit)) == (above, below)
    sentence = describe_comparison(
        1.12, 1.1, 1.14, 0.998, unit=unit, reference="fallback"
    )
    way = above.removeprefix("12.0 % ")
    assert (
        sentence == f"{above} than fallback (99.8 % interval: 10.0 % to 14.0 % {way})"
    )


def test_an_unchanged_metric_that_is_no_speed_is_not_called_as_fast() -> None:
    sentence = describe_comparison(
        1.0, 0.99, 1.01, 0.998, unit="bytes", reference="base"
    )
    assert (
        sentence
        == "exactly the same as base (99.8 % interval: 1.0 % better to 1.0 % worse)"
    )


def test_an_interval_around_zero_names_both_directions() -> None:
    assert (
        describe_comparison(1.126, 1.119, 1.133, 0.998, unit="ns")
        == "12.6 % slower (99.8 % interval: 11.9 % to 13.3 % slower)"
    )
    assert (
        describe_comparison(0.75, 0.7, 0.8, 0.998, unit="ns")
        == "25.0 % faster (99.8 % interval: 20.0 % to 30.0 % faster)"
    )
    assert (
        describe_comparison(1.01, 0.99, 1.03, 0.998, unit="ns")
        == "1.0 % slower (99.8 % interval: 1.0 % faster to 3.0 % slower)"
    )
    assert (
        describe_comparison(1.01, None, None, 0.998, unit="ns")
        == "1.0 % slower (too few blocks for an interval)"
    )
    assert describe_comparison(1.0, 1.0, 1.0, 0.998, unit="ns").startswith(
        "exactly as fast"
    )
    assert (
        describe_comparison(None, None, None, 0.998, unit="ns") == "nothing to compare"
    )


def test_quantities_carry_a_readable_unit() -> None:
    assert quantity(123456, "ns") == "123.5 µs"
    assert quantity(0.5, "ns") == "0.5 ns"
    assert quantity(4096, "bytes") == "4 KiB"
    assert quantity(2.5e6, "op/s") == "2.5 M op/s"
    assert quantity(12, "count") == "12"
