"""Proves that stopping when sure errs no more often than the fixed design, and what it saves (stats/README.md).

Both designs see the same draws, so that a rise of their errors would show in few jobs. Seeded. Longer:
`scripts/disturbance --stopping`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from paceline_server.stats.blocks import pair_blocks
from paceline_server.stats.constants import LOOK_ALPHA
from paceline_server.stats.derived import speedup_between_arms
from paceline_server.stats.gates import judge_level
from paceline_server.stats.launch_effect import widen_by_launches
from paceline_server.stats.paired import PairPolicy, PairVerdict, judge_pair
from paceline_server.stats.samples import CaseSamples, Interval
from paceline_server.stats.stopping import judge_by_launches, policy_after
from paceline_server.testing.simulated_jobs import job_cases

PLANNED = 5


def _judge(
    arm: CaseSamples, reference: CaseSamples, launches: int, policy: PairPolicy
) -> PairVerdict:
    first = arm.launch < launches
    blocks = pair_blocks(arm.only(first), reference.only(first), "lower")
    return judge_pair(blocks, 0, policy)


def _compare_designs(
    jobs: int, effect: float, launch_noise: float
) -> tuple[Counter[str], Counter[str], list[int]]:
    """Return the verdicts of the fixed design and of stopping when sure, and the launches that the latter took."""
    rng = np.random.default_rng(40)
    fixed: Counter[str] = Counter()
    sure: Counter[str] = Counter()
    taken = []
    for _ in range(jobs):
        arm, reference = job_cases(rng, effect)
        shift = np.exp(rng.normal(0.0, launch_noise, PLANNED))
        arm = replace(arm, value=arm.value * shift[arm.launch])
        fixed[_judge(arm, reference, PLANNED, PairPolicy()).verdict] += 1
        for launches in range(2, PLANNED + 1):
            policy = policy_after(launches, PLANNED, PairPolicy())
            outcome = _judge(arm, reference, launches, policy)
            if outcome.verdict != "inconclusive":
                break
        sure[outcome.verdict] += 1
        taken.append(launches)
    return fixed, sure, taken


@pytest.mark.parametrize("launch_noise", [0.0, 0.03])
@pytest.mark.parametrize(
    ("effect", "error"), [(0.0, "fail"), (0.03, "pass"), (0.15, "pass")]
)
def test_stopping_errs_no_more_often_than_all_launches(
    effect: float, error: str, launch_noise: float
) -> None:
    fixed, sure, _ = _compare_designs(300, effect, launch_noise)
    assert sure[error] <= fixed[error]


@pytest.mark.parametrize("effect", [0.5, -1 / 3])
def test_a_ratio_of_one_and_a_half_is_decided_after_two_launches(effect: float) -> None:
    _, sure, taken = _compare_designs(200, effect, 0.03)
    assert sure["inconclusive"] == 0
    assert np.quantile(taken, 0.9) == 2


@pytest.mark.parametrize("planned", [2, 5, 10, 100])
def test_all_looks_together_spend_what_the_fixed_design_spends(planned: int) -> None:
    early = [
        policy_after(launches, planned, PairPolicy()).look_alpha[0]
        for launches in range(2, planned)
    ]
    whole = policy_after(planned, planned, PairPolicy()).look_alpha
    assert sum(early) + sum(whole) == pytest.approx(sum(LOOK_ALPHA))
    assert whole[1:] == LOOK_ALPHA[1:]


def test_an_early_verdict_is_made_again_from_its_stored_policy_and_says_when_it_was_made() -> (
    None
):
    arm, reference = job_cases(np.random.default_rng(1), -0.5)
    policy = policy_after(
        2, PLANNED, PairPolicy(extra_percent=3.0, disturbed="on a busy host")
    )
    outcome = _judge(arm, reference, 2, policy)
    assert outcome.verdict == "pass"
    assert outcome.reason.endswith("on a busy host after 2 of 5 launches")
    assert _judge(arm, reference, 2, PairPolicy.from_dict(policy.as_dict())) == outcome


def _judge_gates(
    jobs: int, launch_noise: float, levels: tuple[float, ...]
) -> dict[float, list[tuple[str, str, int]]]:
    """Return by level, for gates that demand it of a true ratio of 1, the verdict of all launches, that of a job that stops
    when sure, and how many launches this took."""
    rng = np.random.default_rng(41)
    verdicts: dict[float, list[tuple[str, str, int]]] = {level: [] for level in levels}
    for _ in range(jobs):
        arm, base = job_cases(rng, 0.0)
        shift = np.exp(rng.normal(0.0, launch_noise, PLANNED))
        arm = replace(arm, value=arm.value * shift[arm.launch])
        alone = [
            speedup_between_arms(
                arm.only(arm.launch == number), base.only(base.launch == number)
            ).interval
            for number in range(PLANNED)
        ]
        ratio = speedup_between_arms(arm, base)
        assert ratio.value is not None
        whole = widen_by_launches(ratio.interval, ratio.value, ratio.by_launch)
        for level in levels:
            fixed, _ = judge_level(ratio.value, whole, ">=", level)
            for launches in range(1, PLANNED):
                sure = judge_by_launches(alone[:launches], (">=", level))
                if sure != "inconclusive":
                    break
            else:
                sure, launches = fixed, PLANNED
            verdicts[level].append((fixed, sure, launches))
    return verdicts


@pytest.mark.parametrize("launch_noise", [0.0, 0.01, 0.03])
def test_gates_that_stop_early_err_no_more_often_and_the_sooner_the_farther(
    launch_noise: float,
) -> None:
    """Levels 1 % and 3 % beyond the true ratio, where chance decides most, and those of our suites: 0.9 of what was
    measured, for which three launches are enough and two hardly ever are."""
    at_level = (1.01, 1.03, 0.99, 0.97)
    verdicts = _judge_gates(400, launch_noise, (*at_level, 0.9, 0.5))
    for level in at_level:
        wrong = "pass" if level > 1.0 else "fail"
        fixed = sum(of_all == wrong for of_all, _, _ in verdicts[level])
        early = sum(sure == wrong for _, sure, _ in verdicts[level])
        assert early <= fixed
    taken = {level: [number for *_, number in of] for level, of in verdicts.items()}
    if launch_noise < 0.03:
        assert np.median(taken[0.9]) == 3
        assert np.mean(np.equal(taken[0.9], 2)) < 0.05
    assert np.quantile(taken[0.5], 0.9) == 2


def test_a_gate_needs_the_interval_of_each_launch_beyond_its_level() -> None:
    far, near = Interval(1.13, 1.2), Interval(1.07, 1.2)
    assert judge_by_launches([far], (">=", 1.0)) == "inconclusive"
    assert judge_by_launches([far, far], (">=", 1.0)) == "pass"
    assert judge_by_launches([far, near], (">=", 1.0)) == "inconclusive"
    assert judge_by_launches([far, near, near], (">=", 1.0)) == "pass"
    assert judge_by_launches([far, far, Interval(None, 1.2)], (">=", 1.0)) == (
        "inconclusive"
    )
    assert judge_by_launches([far, near, near], ("<=", 1.0)) == "fail"
    # Of an overhead, the ratio of the arms lies beyond; of a size, the side that is nearer.
    kind = "overhead_between_arms"
    assert judge_by_launches([far, far], (">=", 1.0), kind) == "inconclusive"
    assert judge_by_launches([far, far], (">=", 0.85), kind) == "pass"
    around = [Interval(-0.3, 0.2)] * 2
    assert judge_by_launches(around, ("<", 0.4), absolute=True) == "pass"
    assert judge_by_launches(around, ("<", 0.31), absolute=True) == "inconclusive"
