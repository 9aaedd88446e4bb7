"""Tests of the extra margin that a disturbed target demands, and that no disturbance makes equal arms fail.

The disturbances of whole jobs are simulated and seeded; `scripts/disturbance` measures real ones.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from paceline_server.detect.compare import policy_under
from paceline_server.stats.blocks import pair_blocks
from paceline_server.stats.disturbance import Disturbance, separate_disturbances
from paceline_server.stats.paired import (
    BOUNDING_METHOD,
    PairPolicy,
    PairVerdict,
    control_run,
    judge_pair,
)
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.voids import Reading, Void, advise, find_voids
from paceline_server.testing.simulated_jobs import job_cases


def _void(code: str, strength: float | None) -> Void:
    return Void(code, None, None, code, strength, "waited")


def _disturbed(*conditions: Void) -> Disturbance:
    """Return what disturbs an arm at two revisions: of equal code, as the jobs below simulate it."""
    voids, disturbance = separate_disturbances(conditions, "host", sides="revisions")
    assert voids == ()
    return disturbance


@pytest.mark.parametrize(
    ("code", "strength", "log_extra", "phrase"),
    [
        ("pressure", 0.1, 0.0125, "on a busy host"),
        ("pressure", 0.5, 0.03, "on a busy host"),
        ("steal", 0.1, 0.05, "on a busy host"),
        ("steal", 0.5, 0.12, "on a busy host"),
        ("memory_pressure", 0.1, math.log(1.25), "on a busy host"),
        ("calibration", 0.14, math.log(1.14), "on a drifting host"),
        ("frequency_cap", 0.25, math.log(1.25), "on a drifting host"),
        ("warm", 0.3, math.log(1.3), "on a warm host"),
    ],
)
def test_each_kind_demands_its_own_extra_margin(
    code: str, strength: float, log_extra: float, phrase: str
) -> None:
    disturbance = _disturbed(_void(code, strength))
    assert math.log1p(disturbance.extra_percent / 100) == pytest.approx(log_extra)
    assert disturbance.phrase == phrase


@pytest.mark.parametrize(
    ("share", "log_extra"), [(0.06, 0.024), (0.5, 0.2), (0.75, 0.3), (0.8, 0.3)]
)
def test_arms_of_different_code_demand_what_neighbours_moved_them_by(
    share: float, log_extra: float
) -> None:
    """Of waiting for a CPU alone, beside the other kinds; and a ratio of 1.5 clears it either way."""
    conditions = [_void("pressure", share), _void("steal", 0.1)]
    _, disturbance = separate_disturbances(conditions, "host")
    assert math.log1p(disturbance.extra_percent / 100) == pytest.approx(
        log_extra + 0.05
    )
    _, waiting = separate_disturbances(conditions[:1], "host")
    policy = policy_under(waiting, 2.0)
    assert -math.log(1.5) < policy.holds_below < policy.slower_from < math.log(1.5)


@pytest.mark.parametrize(("share", "log_extra"), [(0.1, 0.025), (0.5, 0.06)])
def test_the_former_method_demands_what_it_did(share: float, log_extra: float) -> None:
    """Stored reports name it, and are made again by it: all of a drift, too."""
    conditions = [_void("pressure", share), _void("calibration", 0.1)]
    _, disturbance = separate_disturbances(conditions, "host", BOUNDING_METHOD)
    expected = log_extra + math.log(1.1)
    assert math.log1p(disturbance.extra_percent / 100) == pytest.approx(expected)
    policy = policy_under(disturbance, 2.0)
    assert policy.drift_percent == 0.0


def test_kinds_add_up_and_of_one_kind_the_strongest_counts() -> None:
    """Attempts report each condition for themselves."""
    disturbance = _disturbed(
        _void("calibration", 0.1), _void("pressure", 0.5), _void("calibration", 0.2)
    )
    log_extra = math.log(1.2) + 0.03
    assert math.log1p(disturbance.extra_percent / 100) == pytest.approx(log_extra)
    assert disturbance.phrase == "on a drifting, busy host"


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        (_void("boot_id", None), "boot_id"),
        (_void("pressure", 0.81), "waited; beyond 80 % no pair was measured"),
        (_void("steal", 0.81), "waited; beyond 80 % no pair was measured"),
        (
            _void("memory_pressure", 0.5),
            "waited; from 50 % on all of it may have slowed one arm",
        ),
    ],
)
def test_what_breaks_the_design_or_is_beyond_all_that_was_measured_voids(
    condition: Void, says: str
) -> None:
    """And the sentence names the limit that made it void, not the one from which it would only have disturbed."""
    (void,), disturbance = separate_disturbances([condition], "host")
    assert (void.code, void.text, void.strength) == (condition.code, says, None)
    assert disturbance == Disturbance((), "host")


def test_what_to_do_about_a_void_by_pressure_is_not_to_raise_the_limit_of_disturbing() -> (
    None
):
    (void,), _ = separate_disturbances([_void("pressure", 0.988)], "host")
    advice = advise(void, "host")
    assert "PACELINE_PRESSURE_LIMIT_PERCENT" not in advice
    assert "Up to the limit of 80 %" in advice


def test_waiting_as_long_as_was_measured_only_disturbs() -> None:
    assert _disturbed(_void("pressure", 0.79), _void("steal", 0.79)).conditions


def test_a_target_that_nothing_disturbed_demands_no_extra_margin() -> None:
    assert (Disturbance().extra_percent, Disturbance().phrase) == (0.0, "")
    policy = PairPolicy(extra_percent=0.0)
    assert policy.slower_from == policy.holds_below == math.log1p(0.02)


# --- Verdicts of whole jobs under a disturbance ---------------------------------------------------


def _judge(cases: tuple[CaseSamples, CaseSamples], *conditions: Void) -> PairVerdict:
    disturbance = _disturbed(*conditions)
    policy = policy_under(disturbance, 2.0)
    blocks = pair_blocks(*cases, "lower")
    (outcome,) = control_run([judge_pair(blocks, 0, policy)], policy=policy)
    return outcome


def _preempt(rng: np.random.Generator, case: CaseSamples, share: float) -> CaseSamples:
    """The case on a CPU that was taken away for a share of the time, in slices of three samples' length."""
    taken = rng.random(case.value.size) < share
    slices = rng.geometric(1 - share, case.value.size)
    return replace(case, value=case.value * (1 + 3 * taken * slices))


@pytest.mark.parametrize("share", [0.1, 0.33, 0.67])
def test_equal_arms_never_fail_beside_busy_neighbours(share: float) -> None:
    rng = np.random.default_rng(int(100 * share))
    counts: Counter[str] = Counter()
    for _ in range(700):
        arm, reference = job_cases(rng, 0.0)
        pair = _preempt(rng, arm, share), _preempt(rng, reference, share)
        counts[_judge(pair, _void("pressure", share)).verdict] += 1
    assert counts["fail"] == 0


@pytest.mark.parametrize("drift", [0.06, 0.14, 0.3])
def test_equal_arms_never_fail_however_the_target_drifts(drift: float) -> None:
    """Even where one arm alone becomes slower, as one that is bound by memory may beside a greedy neighbour."""
    rng = np.random.default_rng(int(100 * drift))
    readings = [
        Reading("before", 0, {"calibration_ns": 1e6}),
        Reading("after", 1, {"calibration_ns": 1e6 * (1 + drift)}),
    ]
    counts: Counter[str] = Counter()
    for _ in range(300):
        arm, reference = job_cases(rng, 0.0, biased_share=0.0)
        slower = 1 + drift * np.linspace(0, 1, arm.value.size)
        pair = replace(arm, value=arm.value * slower), reference
        counts[_judge(pair, *find_voids(readings)).verdict] += 1
    assert counts == {"inconclusive": 300}


@pytest.mark.parametrize("drift", [0.06, 0.14, 0.3])
@pytest.mark.parametrize("effect", [0.5, 1.0])
def test_a_ratio_of_1_5_is_decided_at_any_drift(drift: float, effect: float) -> None:
    rng = np.random.default_rng(int(1000 * drift * effect))
    condition = _void("calibration", drift)
    for _ in range(100):
        arm, reference = job_cases(rng, effect)
        drifted = 1 + drift * np.linspace(0, 1, arm.value.size)
        arm = replace(arm, value=arm.value * drifted)
        reference = replace(reference, value=reference.value * drifted)
        slower = _judge((arm, reference), condition)
        assert slower.verdict == "fail"
        assert slower.reason.endswith(")")
        assert "that are demanded on a drifting host" in slower.reason
        faster = _judge((reference, arm), condition)
        assert faster.verdict == "pass"
        assert faster.reason.endswith("inside the 2 % margin, on a drifting host")


def test_a_true_3_percent_never_passes_beside_busy_neighbours() -> None:
    rng = np.random.default_rng(33)
    for _ in range(500):
        arm, reference = job_cases(rng, 0.03)
        pair = _preempt(rng, arm, 0.33), _preempt(rng, reference, 0.33)
        assert _judge(pair, _void("pressure", 0.33)).verdict != "pass"


def test_what_does_not_clear_the_extra_margin_is_undecided_and_says_so() -> None:
    rng = np.random.default_rng(1)
    outcome = _judge(
        job_cases(rng, 0.1, sigma=0.004, biased_share=0.0), _void("warm", 0.14)
    )
    assert outcome.verdict == "inconclusive"
    assert outcome.reason == (
        "the interval is not clear of the 2 % margin and the 14.0 % more that are demanded on a warm host"
    )
    assert outcome.launches_needed is None, "more launches remove no bias"
    quiet = _judge(job_cases(rng, 0.1, sigma=0.004, biased_share=0.0))
    assert quiet.verdict == "fail"


@pytest.mark.parametrize("drift", [0.06, 0.1, 0.14, 0.3])
def test_a_ratio_of_1_1_is_decided_at_any_drift_that_both_arms_share(
    drift: float,
) -> None:
    """Pairs are measured within moments of each other, so a drift of the target over the job is none within a pair."""
    rng = np.random.default_rng(int(1000 * drift))
    slower: Counter[str] = Counter()
    for _ in range(100):
        arm, reference = job_cases(rng, 0.1, biased_share=0.0)
        drifted = 1 + drift * np.linspace(0, 1, arm.value.size)
        pair = (
            replace(arm, value=arm.value * drifted),
            replace(reference, value=reference.value * drifted),
        )
        outcome = _judge(pair, _void("calibration", drift))
        slower[outcome.verdict] += 1
        assert 0.0 < outcome.extra_percent < 100.0 * drift
    assert slower["fail"] >= 95


def test_what_a_pair_may_have_parted_by_is_the_farther_end_of_99_percent_intervals() -> (
    None
):
    arm, reference = job_cases(np.random.default_rng(3), 0.1)
    blocks = pair_blocks(arm, reference, "lower")
    d = blocks.d[np.lexsort((blocks.round, blocks.launch))]
    quarters = np.split(d, 4)
    ends = []
    for before, after in (((0, 1), (2, 3)), ((0, 3), (1, 2))):
        one, other = (
            np.concatenate([quarters[i] for i in part]) for part in (before, after)
        )
        shifts = np.sort((other[:, None] - one[None, :]).ravel())
        count = one.size
        rank = math.floor(
            count**2 / 2 - 2.5758 * math.sqrt(count**2 * (2 * count + 1) / 12)
        )
        ends += [abs(shifts[rank]), abs(shifts[-1 - rank])]
    outcome = _judge((arm, reference), _void("calibration", 0.5))
    assert outcome.extra_percent == pytest.approx(100 * math.expm1(2 * max(ends)))


@pytest.mark.parametrize("course", ["steady", "from the first to the last fifth"])
def test_arms_that_part_by_the_drift_demand_all_of_it(course: str) -> None:
    rng = np.random.default_rng(14)
    arm, reference = job_cases(rng, 0.1, sigma=0.004, biased_share=0.0)
    at = np.linspace(0, 1, arm.value.size)
    over_time = at if course == "steady" else np.where(abs(at - 0.5) < 0.3, 1.0, 0.0)
    pair = replace(arm, value=arm.value * (1 + 0.14 * over_time)), reference
    outcome = _judge(pair, _void("calibration", 0.14))
    assert outcome.extra_percent == pytest.approx(14.0, abs=0.5)
    stored = policy_under(_disturbed(_void("calibration", 0.14)), 2.0).as_dict()
    again = judge_pair(pair_blocks(*pair, "lower"), 0, PairPolicy.from_dict(stored))
    assert replace(again, filters=()) == replace(outcome, filters=())
