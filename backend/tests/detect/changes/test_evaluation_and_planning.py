"""The pure parts of history: environments, windows, matching, rounds, thinning. Data is drawn as it is meant.

A line of `stretch` is one point per character: the letter is the target's fingerprint.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paceline_server.detect.changes.evaluation import Window, evaluate
from paceline_server.detect.changes.planning import (
    ChangePlan,
    MatchedChange,
    Round,
    match_changes,
    plan_changes,
    state_of,
)
from paceline_server.series import environments
from paceline_server.series.change_sentences import (
    change_sentence,
    direction_word,
    interval_sentence,
)
from paceline_server.series.thinning import thin_points
from paceline_server.stats.history import ChangePoint
from paceline_server.store.tables.history import Change, SeriesState

LEVELS = "▁▂▃▄▅▆▇█"


def point(
    index: int, location: tuple[int, int] | None = None, **fields: Any
) -> ChangePoint:
    """A change at an index; everything else is ordinary."""
    said = {
        "confidence": "confirmed",
        "level_before": 100.0,
        "level_after": 110.0,
        "effect": 0.1,
        "interval": (0.08, 0.12),
        "p_value": 1e-5,
        "n_before": index,
        "n_after": 10,
        "filters": (),
        **fields,
    }
    return ChangePoint(index=index, location=location or (index, index), **said)


def drawn(picture: str, fingerprints: str | None = None) -> Window:
    """A window from a picture: each block is 5 % above the one below, with a little scatter."""
    values = np.array([LEVELS.index(one) for one in picture], dtype=np.float64)
    noise = np.random.default_rng(3).normal(0.0, 0.004, len(picture))
    level = 1000.0 * 1.05**values * np.exp(noise)
    jobs = [f"job_{number:03d}" for number in range(len(picture))]
    return Window(
        "ser", jobs, level.tolist(), list(fingerprints or "a" * len(picture)), True
    )


def row(job: int, state: str = "suspect", **fields: Any) -> Change:
    """A kept change at a job."""
    said = {"p_value": 1e-5, "evaluations": 1, "evidence": {}, **fields}
    return Change(
        id=f"chg_{job}", series_id="ser", state=state, job_id=f"job_{job:03d}", **said
    )


def seen(window: Window, count: int, **fields: Any) -> SeriesState:
    """The state after `count` points of a window."""
    return SeriesState(
        series_id="ser", last_job_id=window.job_ids[count - 1], points=count, **fields
    )


# --- environments ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("stretch", "cuts"),
    [
        ("aaaaaa", [(0, 6, "a")]),
        ("aaabbb", [(0, 3, "a"), (3, 6, "b")]),
        ("aabbaa", [(0, 2, "a"), (2, 4, "b"), (4, 6, "a")]),
        ("a", [(0, 1, "a")]),
        ("", []),
    ],
)
def test_a_switch_of_the_fingerprint_starts_an_environment_also_back(
    stretch: str, cuts: Any
) -> None:
    assert environments.cut_into_environments(stretch) == cuts


def test_the_difference_of_two_environments_is_said_by_factor() -> None:
    before = {"kernel": "6.1.0-12", "cpu_model": "A", "governor": None}
    after = {"kernel": "6.1.0-13", "cpu_model": "A", "governor": "performance"}
    assert (
        environments.describe_switch(before, after)
        == "governor none → performance, kernel 6.1.0-12 → 6.1.0-13"
    )
    assert environments.describe_switch({}, after) == environments.UNKNOWN
    assert environments.describe_switch(before, None) == environments.UNKNOWN


# --- windows --------------------------------------------------------------------------------------
def test_a_step_inside_the_newest_environment_is_found_where_it_is() -> None:
    seen_now = evaluate([drawn("▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▃▃▃▃▃▃▃▃▃▃▃")])[0]
    assert [(one.index, one.confidence) for one in seen_now.found] == [
        (16, "confirmed")
    ]


def test_a_step_at_a_switch_of_the_environment_is_not_looked_for() -> None:
    picture, stretch = "▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃", "a" * 16 + "b" * 16
    seen_now = evaluate([drawn(picture, stretch)])[0]
    assert (seen_now.found, seen_now.offset, len(seen_now.own_jobs)) == ((), 16, 16)


def test_indexes_count_from_the_newest_environment() -> None:
    seen_now = evaluate([drawn("▅▅▅▅▁▁▁▁▁▁▁▁▁▁▁▁▃▃▃▃▃▃▃▃▃▃▃▃", "a" * 4 + "b" * 24)])[0]
    assert [one.index for one in seen_now.found] == [12]
    assert seen_now.own_jobs[12] == "job_016"


# --- matching -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("found", "kept", "matched"),
    [
        ([point(20)], {"k": 20}, {0: "k"}),
        ([point(20)], {"k": 22}, {0: "k"}),
        ([point(20)], {"k": 23}, {}),
        ([point(20, (16, 26))], {"k": 25}, {0: "k"}),
        ([point(20), point(22)], {"k": 21}, {0: "k"}),
        ([point(20), point(23)], {"k": 22, "l": 19}, {0: "l", 1: "k"}),
        ([point(20)], {"k": 21, "l": 19}, {0: "k"}),
        ([], {"k": 20}, {}),
    ],
)
def test_a_change_is_the_one_that_was_found_within_two_points_or_its_location(
    found: list[ChangePoint], kept: dict[str, int], matched: dict[int, str]
) -> None:
    assert match_changes(found, kept) == matched
    assert match_changes(found, dict(reversed(kept.items()))) == matched


# --- planning -------------------------------------------------------------------------------------
STEP = "▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▃▃▃▃▃▃▃▃▃▃▃"


def planned(
    window: Window, kept: list[Change], state: SeriesState | None
) -> ChangePlan:
    return plan_changes(evaluate([window])[0], kept, state)


def test_a_new_change_has_one_evaluation_and_the_next_look_counts_it_again() -> None:
    window = drawn(STEP)
    (first,) = planned(window, [], None).found
    assert (first.row, first.evaluations) == (None, 1)
    (second,) = planned(window, [row(16)], seen(window, 27)).found
    assert second.evaluations == 2
    (again,) = planned(window, [row(16, evaluations=2)], seen(window, 28)).found
    assert again.evaluations == 2


def test_evaluations_agree_about_a_place_within_two_points_and_with_enough_points() -> (
    None
):
    window = drawn(STEP)
    (sharp,) = evaluate([window])
    changes = (replace(sharp.found[0], location=(10, 20)),)
    wide = replace(sharp, segmentation=replace(sharp.segmentation, changes=changes))
    (near,) = plan_changes(wide, [row(18, evaluations=2)], seen(window, 27)).found
    (far,) = plan_changes(wide, [row(19, evaluations=2)], seen(window, 27)).found
    assert (near.evaluations, far.evaluations) == (3, 1)
    assert far.row is not None, (
        "it is the same change, only not yet seen twice at one place"
    )
    (early,) = plan_changes(
        wide, [row(16, evaluations=3, evidence={"n_after": 4})], seen(window, 27)
    ).found
    (enough,) = plan_changes(
        wide, [row(16, evaluations=3, evidence={"n_after": 5})], seen(window, 27)
    ).found
    assert (early.evaluations, enough.evaluations) == (1, 4)


def test_what_is_found_no_more_vanishes_unless_it_is_accepted_or_out_of_sight() -> None:
    window = drawn("▁" * 28)
    old, accepted = row(16), row(10, "accepted")
    gone = planned(window, [old, accepted], seen(window, 27))
    assert gone.vanished == (old,)
    switched = drawn("▁" * 28, "a" * 20 + "b" * 8)
    assert planned(switched, [old], seen(window, 27)).vanished == ()


def test_an_accepted_change_and_what_lies_before_the_baseline_are_not_reported() -> (
    None
):
    window = drawn(STEP)
    assert planned(window, [row(17, "accepted")], seen(window, 27)).found == ()
    assert planned(window, [], seen(window, 27, baseline_job_id="job_018")).found == ()
    assert (
        len(planned(window, [], seen(window, 27, baseline_job_id="job_012")).found) == 1
    )


def test_a_round_of_many_series_asks_for_a_smaller_p() -> None:
    silent = [planned(drawn("▁" * 28), [], None)] * 999
    found = MatchedChange(point(16, p_value=5e-4), None, 1, None)
    finding = replace(silent[0], found=(found,))
    alone, crowded = Round.of([finding]), Round.of([finding, *silent])
    assert state_of(found, alone.decides(found)) == "standing"
    assert state_of(found, crowded.decides(found)) == "suspect"
    decided = crowded.decides(found)
    assert decided == {"series": 1000, "p": 5e-4, "limit": 0.05 / 1000, "kept": False}


def test_a_round_says_once_what_it_decided() -> None:
    decided = {"series": 2, "p": 5e-4, "limit": 1e-4, "kept": False}
    again = MatchedChange(point(16, p_value=5e-4), row(16), 1, decided)
    assert Round(1, 0.05).decides(again) == decided


def test_what_stood_before_is_no_new_hypothesis_and_stays() -> None:
    window = drawn(STEP)
    made = planned(window, [row(16, "standing", evaluations=5)], seen(window, 27))
    (found,) = made.found
    silent = [planned(drawn("▁" * 28), [], None)] * 999
    crowded = Round.of([made, *silent])
    assert (made.p_value, crowded.decides(found)) == (1.0, None)
    assert state_of(found, None) == "standing"


# --- thinning -------------------------------------------------------------------------------------
def test_thinning_keeps_ends_extremes_and_what_it_is_asked_to_keep() -> None:
    values = [100.0] * 1000
    values[333], values[777] = 50.0, 200.0
    kept = thin_points(values, 100, always=[500])
    assert len(kept) <= 103
    assert {0, 999, 333, 777, 500} <= set(kept)
    assert kept == sorted(set(kept))


def test_few_points_are_not_thinned() -> None:
    assert thin_points([3.0, 1.0, 2.0], 10) == [0, 1, 2]


# --- words ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("effect", "unit", "better", "word"),
    [
        (0.1, "ns", "lower", "slower"),
        (-0.1, "ns", "lower", "faster"),
        (0.1, "op/s", "higher", "faster"),
        (-0.1, "op/s", "higher", "slower"),
        (0.1, "bytes", "lower", "worse"),
    ],
)
def test_a_change_has_a_direction_in_words(
    effect: float, unit: str, better: str, word: str
) -> None:
    assert direction_word(effect, unit, better) == word


@pytest.mark.parametrize(
    ("bounds", "unit", "better", "said"),
    [
        ((0.049, 0.088), "ns", "lower", "4.9 % to 8.8 % slower"),
        ((-0.088, -0.049), "ns", "lower", "4.9 % to 8.8 % faster"),
        ((-0.088, 0.049), "ns", "lower", "8.8 % faster to 4.9 % slower"),
        ((-0.088, 0.049), "op/s", "higher", "9.6 % slower to 4.7 % faster"),
        ((0.0, 0.049), "bytes", "lower", "unchanged to 4.9 % worse"),
    ],
)
def test_the_interval_of_an_effect_says_which_way_each_end_lies(
    bounds: tuple[float, float], unit: str, better: str, said: str
) -> None:
    assert interval_sentence(*bounds, unit, better) == said


def test_a_change_is_one_sentence_with_both_levels() -> None:
    assert (
        change_sentence(0.142, 1.2e6, 1.37e6, "ns", "lower")
        == "14.2 % slower: 1.2 ms → 1.37 ms"
    )
    fell = change_sentence(-0.1, 1e8, 9e7, "op/s", "higher")
    assert fell == "11.1 % slower: 100 M op/s → 90 M op/s", (
        "as a comparison of both would say"
    )
