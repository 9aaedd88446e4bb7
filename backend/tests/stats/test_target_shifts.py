"""Many series at once: a common change is one shift of the target, and false discoveries are controlled."""

from __future__ import annotations

import numpy as np
from paceline_server.stats.target_shifts import find_target_shifts, stands_in_round


def test_three_of_ten_series_within_two_runs_are_one_shift() -> None:
    (found,) = find_target_shifts(
        {"a": [40], "b": [41], "c": [39], "d": [12]}, measured=10
    )
    assert (found.run, found.series, found.share) == (40, ("a", "b", "c"), 0.3)


def test_two_of_ten_are_changes_of_their_own() -> None:
    assert find_target_shifts({"a": [40], "b": [41]}, measured=10) == ()


def test_three_runs_apart_is_not_together() -> None:
    assert find_target_shifts({"a": [40], "b": [43], "c": [46]}, measured=6) == ()


def test_one_series_is_no_shift_of_the_target_even_if_it_is_the_only_one() -> None:
    assert find_target_shifts({"a": [40]}, measured=1) == ()


def test_two_shifts_are_told_apart_and_the_larger_comes_first() -> None:
    moved = {"a": [10, 50], "b": [10, 51], "c": [50], "d": [11]}
    assert [(i.run, i.series) for i in find_target_shifts(moved, measured=5)] == [
        (10, ("a", "b", "d")),
        (50, ("a", "b", "c")),
    ]


def test_the_order_of_the_series_does_not_matter() -> None:
    moved = {"a": [40], "b": [41], "c": [39]}
    assert find_target_shifts(moved, measured=4) == find_target_shifts(
        dict(reversed(moved.items())), measured=4
    )


def test_of_twenty_tests_a_p_of_four_percent_alone_does_not_stand_but_a_small_one_does() -> (
    None
):
    assert stands_in_round([0.04] + [0.5] * 19) == (False,) * 20
    assert stands_in_round([0.001] + [0.5] * 19) == (True,) + (False,) * 19
    assert stands_in_round([]) == ()


def test_without_effects_one_round_in_twenty_or_fewer_says_anything() -> None:
    rng = np.random.default_rng(8)
    rounds = [any(stands_in_round(rng.random(40).tolist())) for _ in range(1000)]
    assert sum(rounds) <= 65
