"""Tests of `detect` on drawn series: a column is a point, and each row is 1.5 % above the one below it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from paceline_server.stats.changepoint import (
    METHOD,
    Parameters,
    Segmentation,
    detect,
    detect_each,
    is_standing,
)

ROW = 1.015
"""ratio between a row of a drawing and the one below."""


def series_of_drawing(picture: str) -> list[float]:
    """Values of a picture; every column holds exactly one mark."""
    rows = picture.split("\n")[1:-1]
    values = []
    for column in range(max(len(row.rstrip()) for row in rows)):
        heights = [
            h for h, row in enumerate(reversed(rows)) if row[column : column + 1] == "*"
        ]
        assert len(heights) == 1, f"column {column} has {len(heights)} marks"
        values.append(100.0 * ROW ** heights[0])
    return values


def indexes(segmentation: Segmentation) -> tuple[list[int], list[int]]:
    return [change.index for change in segmentation.changes], [
        change.index for change in segmentation.suspects
    ]


STEP_UP = """
                         *              **
                      * *  * * *** *  *    *
                       *    * *   * ** *
         *   *            *               *
    *   *            *
  ** *    *   * *  *
**    **   **    ** *
               *
"""

DOWN_THEN_HIGHER = """
                                  *      *     *
                                   *  *    ****
                                **  ** ** *
              *
      * *   ** *
 ** **    *
*      * * *
   *

                **  *   *     *
                   * *** ****
                  *          * *
"""

SPIKE = """
                    *







             *  *           *
                   *     *            *
   *****  *** *  *      * **  **  ** * *
**      **        *  ***     *  **  *
  *            *
"""

THREE_BAD_POINTS = """
                      *

                    *
                     *




   *       *  *                      *
*   * *  **    * *           **       * **   *
 **  *  *   *     *     *** *    *          * **
       *     *  *      *   *   ** **   *   *
                   *                *     *
"""

TWO_MODES = """
     *
               *
          *        *    *  *
         *                   *   *       *
   ** *     *     *   *

                                        *
 **                           **
             *            *     * *       ** *
*       *  *  * *      *           ** **    *  *
       *         *  *    *  *        *
                     *                        *
"""

THREE_POINTS_HIGH = """
                                     ***








                                   *
*      *    *    *    *  * *    * *
 *****  ***  ***     *      *  * *  *
      *         * ***  *  *  **
           *            *
"""

SIX_POINTS_HIGH = """
                                    **
                                  *   **
                                   *




      *   *            *
   *   **  *        *    ****
         *  * *   **  * *     ** *
***  *       * ***   *       *
                                *
    *
"""


@pytest.mark.parametrize(
    ("picture", "changes", "suspects"),
    [
        pytest.param(STEP_UP, [22], [], id="a step among scatter"),
        pytest.param(DOWN_THEN_HIGHER, [16, 32], [], id="two steps"),
        pytest.param(SPIKE, [], [], id="a spike"),
        pytest.param(THREE_BAD_POINTS, [], [], id="three bad points"),
        pytest.param(TWO_MODES, [], [], id="a host with two modes"),
        pytest.param(THREE_POINTS_HIGH, [], [37], id="too young to tell"),
        pytest.param(SIX_POINTS_HIGH, [34], [], id="old enough to tell"),
    ],
)
def test_exactly_the_steps_of_the_drawing_are_named(
    picture: str, changes: list[int], suspects: list[int]
) -> None:
    assert indexes(detect(series_of_drawing(picture))) == (changes, suspects)


def test_a_change_point_stores_its_evidence() -> None:
    (change,) = detect([100.0] * 20 + [110.0] * 20).changes
    assert (change.index, change.confidence, change.n_before, change.n_after) == (
        20,
        "confirmed",
        20,
        20,
    )
    assert change.level_before == pytest.approx(100.0)
    assert change.level_after == pytest.approx(110.0)
    assert change.effect == pytest.approx(0.10)
    assert change.interval == pytest.approx((0.10, 0.10))
    assert change.location[0] <= 20 <= change.location[1]
    assert [f.name for f in change.filters] == [
        "points_before",
        "points_after",
        "probability",
        "effect",
        "p_value",
        "shift_in_sigma",
    ]
    assert all(f.passed for f in change.filters)


def test_segments_cover_the_series_and_meet_at_the_steps() -> None:
    segmentation = detect(series_of_drawing(DOWN_THEN_HIGHER))
    assert [(s.start, s.stop) for s in segmentation.segments] == [
        (0, 16),
        (16, 32),
        (32, 48),
    ]
    assert (
        segmentation.segments[1].level
        < segmentation.segments[0].level
        < segmentation.segments[2].level
    )


def test_a_refused_candidate_stays_with_the_filter_that_refused_it() -> None:
    values = series_of_drawing(STEP_UP)
    strict = Parameters(min_effect=0.5, min_step=0.02)
    segmentation = detect(values, parameters=strict)
    assert segmentation.changes == ()
    (refused,) = segmentation.rejected
    assert [f.name for f in refused.filters if not f.passed] == ["effect"]


def test_a_stored_finding_is_recomputed_bit_by_bit_from_its_parameters() -> None:
    values = series_of_drawing(DOWN_THEN_HIGHER)
    then = Parameters(tempering=1.7, min_effect=0.04)
    stored = detect(values, parameters=then)
    again = detect(values, parameters=Parameters.from_mapping(dict(stored.parameters)))
    assert again == stored
    assert stored.method == METHOD
    assert dict(stored.parameters) != dict(detect(values).parameters)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_values_without_a_logarithm_make_a_series_unusable_and_say_so(
    bad: float,
) -> None:
    segmentation = detect([1.0] * 20 + [bad] + [2.0] * 20)
    assert segmentation.changes == segmentation.suspects == ()
    assert segmentation.segments == ()
    assert "zero, negative or not finite" in segmentation.unusable


def test_eleven_points_are_too_few() -> None:
    segmentation = detect([1.0] * 5 + [2.0] * 6)
    assert segmentation.changes == ()
    assert segmentation.unusable == "11 points; history needs 12"
    assert detect([]).changes == ()


def test_only_the_newest_points_are_evaluated_and_indexes_count_from_the_first() -> (
    None
):
    values = [50.0] * 300 + [100.0] * 700 + [120.0] * 100
    segmentation = detect(values, parameters=Parameters(max_points=500))
    assert [change.index for change in segmentation.changes] == [1000]
    assert segmentation.segments[0].start == 600


def test_two_evaluations_agree_within_two_points() -> None:
    assert is_standing([10, 30], [12, 33, 30]) == (12, 30)
    assert is_standing([], [5]) == ()


def test_repeated_disturbances_raise_the_dependence_and_independent_noise_does_not() -> (
    None
):
    rng = np.random.default_rng(3)
    shocks = rng.normal(0.0, 0.02, 400)
    wandering = shocks.copy()
    for t in range(1, 400):
        wandering[t] += 0.5 * wandering[t - 1]
    assert detect(np.exp(shocks)).dependence < 1.3
    assert detect(np.exp(wandering)).dependence > 1.8


def test_series_evaluated_together_give_the_same_bits_as_alone() -> None:
    rng = np.random.default_rng(20261122)
    series: list[list[float]] = [[1.0, -2.0] * 10, []]
    for length in (12, 40, 40, 40, 97, 200, 200, 230, *([60] * 20)):
        logarithms = rng.normal(0.0, rng.uniform(0.002, 0.05), length)
        logarithms[length // 2 :] += rng.choice([0.0, 0.08, 0.2])
        series.append(np.exp(logarithms).tolist())
    alone = [detect(values) for values in series]
    assert detect_each(series) == alone
    assert detect_each(series[::-1]) == alone[::-1], "the other series change nothing"
    assert {len(segmentation.changes) for segmentation in alone} > {0}, (
        "some of them have steps"
    )
    assert detect_each([]) == []
