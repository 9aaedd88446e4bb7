"""Tests properties of `detect` that hold for any data: units, direction of time, no change without a cause."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from paceline_server.stats.changepoint import detect

COMMON = settings(max_examples=25)
seeds = st.integers(0, 2**32 - 1)


def series(seed: int) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], int]:
    """A series with one step of 6 sigma somewhere in its middle half, and where it is."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    place = int(rng.integers(n // 4, 3 * n // 4))
    x = rng.normal(0.0, 0.02, n)
    x[place:] += 0.12 * float(rng.choice([-1.0, 1.0]))
    return np.exp(x), place


def named(values: object) -> list[int]:
    return [change.index for change in detect(np.asarray(values)).changes]


@COMMON
@given(seeds, st.integers(-60, 60))
def test_the_unit_changes_nothing_but_the_levels(seed: int, power: int) -> None:
    """Any factor; powers of two keep every bit of the values, so the indexes must be the same ones."""
    values, _ = series(seed)
    plain, scaled = detect(values), detect(values * 2.0**power)
    assert [c.index for c in scaled.changes] == [c.index for c in plain.changes]
    for a, b in zip(plain.changes, scaled.changes, strict=True):
        assert abs(a.effect - b.effect) < 1e-9
        assert abs(b.level_after / a.level_after / 2.0**power - 1.0) < 1e-9


@COMMON
@given(seeds, st.sampled_from([1e-9, 1e-6, 1e-3, 1 / 60, 1 / 3, 60.0, 1e3, 1e6, 1e9]))
def test_nanoseconds_minutes_and_bytes_step_at_the_same_indexes(
    seed: int, factor: float
) -> None:
    values, _ = series(seed)
    assert named(values * factor) == named(values)


@COMMON
@given(seeds)
def test_a_rate_steps_where_its_time_steps_the_other_way(seed: int) -> None:
    """1/y mirrors the logarithms; only rounding to the grid may move an index, by a point."""
    values, place = series(seed)
    there, mirrored = named(values), named(1.0 / values)
    assert len(there) == len(mirrored)
    assert all(abs(a - b) <= 1 for a, b in zip(there, mirrored, strict=True)), place


@COMMON
@given(seeds)
def test_a_reversed_series_has_the_same_steps(seed: int) -> None:
    """Point t of n becomes n − 1 − t, so a step before t becomes one before n − t. The model is reversible;
    ties between equally probable indexes are broken to the left, so a plateau may move an index by two."""
    values, _ = series(seed)
    forward, backward = named(values), named(values[::-1])
    assert len(forward) == len(backward)
    turned = [values.size - index for index in reversed(backward)]
    assert all(abs(a - b) <= 2 for a, b in zip(forward, turned, strict=True))


@COMMON
@given(seeds)
def test_a_step_of_six_sigma_is_named_within_the_margin(seed: int) -> None:
    values, place = series(seed)
    assert any(abs(index - place) <= 5 for index in named(values))


@COMMON
@given(st.floats(1e-12, 1e12), st.integers(0, 200))
def test_a_constant_never_steps(level: float, n: int) -> None:
    segmentation = detect([level] * n)
    assert segmentation.changes == segmentation.suspects == segmentation.rejected == ()


@COMMON
@given(seeds, st.floats(1.05, 50.0))
def test_one_spike_is_no_step_however_high(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    values = np.exp(rng.normal(0.0, 0.02, 60))
    values[int(rng.integers(5, 55))] *= factor
    assert named(values) == []


@COMMON
@given(st.lists(st.sampled_from([100.0, 101.0]), min_size=12, max_size=80))
def test_two_values_a_percent_apart_never_step(values: list[float]) -> None:
    """Whatever their order: a percent is below the smallest step."""
    assert named(values) == []


@COMMON
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=40))
def test_any_list_of_numbers_is_evaluated_without_an_error(values: list[float]) -> None:
    detect(values)


@COMMON
@given(seeds)
def test_repeating_the_evaluation_gives_the_same_bits(seed: int) -> None:
    values, _ = series(seed)
    assert detect(values) == detect(values.copy())
