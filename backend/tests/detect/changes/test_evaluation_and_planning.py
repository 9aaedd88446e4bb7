"""Tests the pure parts of history: environments, windows, matching, rounds, thinning.

A text such as `▁▁▅▅` draws the values of a series. In `stretch`, each character is a point, and its letter is the
target's fingerprint.
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
    columns = {
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
    return ChangePoint(index=index, location=location or (index, index), **columns)


def window_of_drawing(picture: str, fingerprints: str | None = None) -> Window:
    """A window from a picture: each block is 5 % above the one below, with a little scatter."""
    values = np.array([LEVELS.index(level) for level in picture], dtype=np.float64)
    noise = np.random.default_rng(3).normal(0.0, 0.004, len(picture))
    level = 1000.0 * 1.05**values * np.exp(noise)
    jobs = [f"job_{number:03d}" for number in range(len(picture))]
    return Window(
        "ser", jobs, level.tolist(), list(fingerprints or "a" * len(picture)), True
    )


def row(job: int, state: str = "suspect", **fields: Any) -> Change:
    """A kept change at a job."""
    columns = {"p_value": 1e-5, "evaluations": 1, "evidence": {}, **fields}
    return Change(
        id=f"chg_{job}",
        series_id="ser",
        state=state,
        job_id=f"job_{job:03d}",
        **columns,
    )


def evaluated_at(window: Window, count: int, **fields: Any) -> SeriesState:
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
def test_every_change_of_the_fingerprint_starts_an_environment(
    stretch: str, cuts: Any
) -> None:
    assert [cut[:3] for cut in environments.cut_into_environments(stretch)] == cuts


def test_the_difference_of_two_environments_is_worded_by_factor() -> None:
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
    seen_now = evaluate([window_of_drawing("▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▃▃▃▃▃▃▃▃▃▃▃")])[0]
    assert [(change.index, change.confidence) for change in seen_now.changes] == [
        (16, "confirmed")
    ]


def test_a_step_where_the_environment_changes_is_not_reported() -> None:
    picture, stretch = "▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃▃", "a" * 16 + "b" * 16
    seen_now = evaluate([window_of_drawing(picture, stretch)])[0]
    assert (seen_now.changes, seen_now.offset, len(seen_now.own_jobs)) == ((), 16, 16)


def test_indexes_count_from_the_newest_environment() -> None:
    seen_now = evaluate(
        [window_of_drawing("▅▅▅▅▁▁▁▁▁▁▁▁▁▁▁▁▃▃▃▃▃▃▃▃▃▃▃▃", "a" * 4 + "b" * 24)]
    )[0]
    assert [change.index for change in seen_now.changes] == [12]
    assert seen_now.own_jobs[12] == "job_016"


# --- matching -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "kept", "matched"),
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
def test_a_change_matches_a_row_within_two_points_or_its_location(
    changes: list[ChangePoint], kept: dict[str, int], matched: dict[int, str]
) -> None:
    assert match_changes(changes, kept) == matched
    assert match_changes(changes, dict(reversed(kept.items()))) == matched


# --- planning -------------------------------------------------------------------------------------
STEP = "▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▃▃▃▃▃▃▃▃▃▃▃▃"


def plan_of(
    window: Window, kept: list[Change], state: SeriesState | None
) -> ChangePlan:
    return plan_changes(evaluate([window])[0], kept, state)


def test_a_new_change_has_one_evaluation_and_the_next_look_counts_it_again() -> None:
    window = window_of_drawing(STEP)
    (first,) = plan_of(window, [], None).matched
    assert (first.row, first.evaluations) == (None, 1)
    (second,) = plan_of(window, [row(16)], evaluated_at(window, 27)).matched
    assert second.evaluations == 2
    (again,) = plan_of(
        window, [row(16, evaluations=2)], evaluated_at(window, 28)
    ).matched
    assert again.evaluations == 2


def test_evaluations_agree_about_a_place_within_two_points_and_with_enough_points() -> (
    None
):
    window = window_of_drawing(STEP)
    (sharp,) = evaluate([window])
    changes = (replace(sharp.changes[0], location=(10, 20)),)
    wide = replace(sharp, segmentation=replace(sharp.segmentation, changes=changes))
    (near,) = plan_changes(
        wide, [row(18, evaluations=2)], evaluated_at(window, 27)
    ).matched
    (far,) = plan_changes(
        wide, [row(19, evaluations=2)], evaluated_at(window, 27)
    ).matched
    assert (near.evaluations, far.evaluations) == (3, 1)
    assert far.row is not None, (
        "it is the same change, only not yet seen twice at one place"
    )
    (early,) = plan_changes(
        wide,
        [row(16, evaluations=3, evidence={"n_after": 4})],
        evaluated_at(window, 27),
    ).matched
    (enough,) = plan_changes(
        wide,
        [row(16, evaluations=3, evidence={"n_after": 5})],
        evaluated_at(window, 27),
    ).matched
    assert (early.evaluations, enough.evaluations) == (1, 4)


def test_an_undetected_change_vanishes_unless_it_is_accepted_or_out_of_reach() -> None:
    window = window_of_drawing("▁" * 28)
    old, accepted = row(16), row(10, "accepted")
    plan = plan_of(window, [old, accepted], evaluated_at(window, 27))
    assert plan.vanished == (old,)
    switched = window_of_drawing("▁" * 28, "a" * 20 + "b" * 8)
    assert plan_of(switched, [old], evaluated_at(window, 27)).vanished == ()


def test_an_accepted_change_and_what_lies_before_the_baseline_are_not_reported() -> (
    None
):
    window = window_of_drawing(STEP)
    assert (
        plan_of(window, [row(17, "accepted")], evaluated_at(window, 27)).matched == ()
    )
    assert (
        plan_of(window, [], evaluated_at(window, 27, baseline_job_id="job_018")).matched
        == ()
    )
    assert (
        len(
            plan_of(
                window, [], evaluated_at(window, 27, baseline_job_id="job_012")
            ).matched
        )
        == 1
    )


def test_evaluating_many_series_requires_a_smaller_p() -> None:
    silent = [plan_of(window_of_drawing("▁" * 28), [], None)] * 999
    matched = MatchedChange(point(16, p_value=5e-4), None, 1, None)
    finding = replace(silent[0], matched=(matched,))
    alone, crowded = Round.of([finding]), Round.of([finding, *silent])
    assert state_of(matched, alone.decide(matched)) == "standing"
    assert state_of(matched, crowded.decide(matched)) == "suspect"
    decision = crowded.decide(matched)
    assert decision == {"series": 1000, "p": 5e-4, "limit": 0.05 / 1000, "kept": False}


def test_one_evaluation_decides_each_change_once() -> None:
    decision = {"series": 2, "p": 5e-4, "limit": 1e-4, "kept": False}
    again = MatchedChange(point(16, p_value=5e-4), row(16), 1, decision)
    assert Round(1, 0.05).decide(again) == decision


def test_earlier_changes_are_no_new_hypotheses_and_stay() -> None:
    window = window_of_drawing(STEP)
    plan = plan_of(
        window, [row(16, "standing", evaluations=5)], evaluated_at(window, 27)
    )
    (matched,) = plan.matched
    silent = [plan_of(window_of_drawing("▁" * 28), [], None)] * 999
    crowded = Round.of([plan, *silent])
    assert (plan.p_value, crowded.decide(matched)) == (1.0, None)
    assert state_of(matched, None) == "standing"


# --- thinning -------------------------------------------------------------------------------------
def test_thinning_keeps_ends_extremes_and_requested_points() -> None:
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
    ("bounds", "unit", "better", "sentence"),
    [
        ((0.049, 0.088), "ns", "lower", "4.9 % to 8.8 % slower"),
        ((-0.088, -0.049), "ns", "lower", "4.9 % to 8.8 % faster"),
        ((-0.088, 0.049), "ns", "lower", "8.8 % faster to 4.9 % slower"),
        ((-0.088, 0.049), "op/s", "higher", "9.6 % slower to 4.7 % faster"),
        ((0.0, 0.049), "bytes", "lower", "unchanged to 4.9 % worse"),
    ],
)
def test_the_interval_of_an_effect_words_the_direction_of_each_bound(
    bounds: tuple[float, float], unit: str, better: str, sentence: str
) -> None:
    assert interval_sentence(*bounds, unit, better) == sentence


def test_a_change_is_one_sentence_with_both_levels() -> None:
    assert (
        change_sentence(0.142, 1.2e6, 1.37e6, "ns", "lower")
        == "14.2 % slower: 1.2 ms → 1.37 ms"
    )
    fell = change_sentence(-0.1, 1e8, 9e7, "op/s", "higher")
    assert fell == "11.1 % slower: 100 M op/s → 90 M op/s", (
        "as a comparison of both would say"
    )
