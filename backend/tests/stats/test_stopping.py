"""Proves that stopping when sure errs no more often than the fixed design, and what it saves (stats/README.md).

Both designs see the same draws, so that a rise of their errors would show in few jobs. Seeded.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from paceline_server.stats.blocks import pair_blocks
from paceline_server.stats.constants import LOOK_ALPHA
from paceline_server.stats.paired import PairPolicy, PairVerdict, judge_pair
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.stopping import policy_after
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
