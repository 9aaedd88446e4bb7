"""Tests of what launches say about an effect: where they differ, blocks alone decide nothing, and a biased one of five
does not widen what the others say."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from paceline_server.detect.compare import policy_under
from paceline_server.stats.blocks import Dropped, PairedBlocks
from paceline_server.stats.constants import LAUNCH_NOISE_PAIRS, LOOK_ALPHA
from paceline_server.stats.disturbance import Disturbance
from paceline_server.stats.launch_effect import (
    LaunchEffect,
    median_variance,
    median_variances,
)
from paceline_server.stats.paired import (
    PairPolicy,
    control_run,
    judge_pair,
    pool_launch_noise,
)
from paceline_server.stats.samples import Floats
from paceline_server.stats.stopping import policy_after
from scipy import stats as scipy_stats

LAUNCHES, BLOCKS, PAIRS = 5, 20, 20


def _blocks(d: Floats) -> PairedBlocks:
    launches, each = d.shape
    ones = np.ones(d.size)
    return PairedBlocks(
        d.ravel(),
        np.repeat(np.arange(launches), each),
        np.tile(np.arange(each), launches),
        ones,
        ones,
        Dropped(),
        (),
    )


def _verdicts(
    seed: int, jobs: int, effect: float, noise: float, pairs: int = PAIRS
) -> tuple[Counter[str], Counter[str]]:
    """Return the verdicts after one batch, and after up to three, of jobs with so many pairs each."""
    rng = np.random.default_rng(seed)
    first: Counter[str] = Counter()
    last: Counter[str] = Counter()
    for _ in range(jobs):
        launches = LAUNCHES * len(LOOK_ALPHA)
        d = math.log1p(effect) + rng.normal(0.0, 0.005, (pairs, launches, BLOCKS))
        d += rng.normal(0.0, noise, (pairs, launches, 1))
        undecided = list(range(pairs))
        for look in range(len(LOOK_ALPHA)):
            batch = d[:, : LAUNCHES * (look + 1)]
            effects = LaunchEffect(np.median(batch, axis=2), median_variances(batch))
            pooled = float(np.median(effects.own_noise))
            policy = policy_under(
                Disturbance(), 2.0, pooled if pairs >= LAUNCH_NOISE_PAIRS else 0.0
            )
            outcomes = {
                pair: control_run([judge_pair(_blocks(batch[pair]), look, policy)])[0]
                for pair in undecided
            }
            for counts in [first] if look == 0 else []:
                counts.update(outcome.verdict for outcome in outcomes.values())
            decided = {p: o for p, o in outcomes.items() if not o.extendable}
            last.update(outcome.verdict for outcome in decided.values())
            undecided = [pair for pair in undecided if pair not in decided]
    return first, last


def test_3_percent_launch_noise_calls_no_equal_arm_slower_and_passes_no_3_percent() -> (
    None
):
    """Where the other pairs of the job show how much launches differ."""
    assert _verdicts(30, 100, 0.0, 0.03)[1]["fail"] == 0
    assert _verdicts(31, 100, 0.03, 0.03)[1]["pass"] == 0


def test_1_percent_launch_noise_hides_neither_equal_arms_nor_3_percent() -> None:
    first, _ = _verdicts(32, 25, 0.0, 0.01)
    assert first["pass"] >= 0.95 * 25 * PAIRS
    assert _verdicts(33, 25, 0.03, 0.01)[1]["fail"] >= 0.98 * 25 * PAIRS
    first, _ = _verdicts(34, 500, 0.0, 0.01, pairs=1)
    assert first["pass"] >= 0.96 * 500


@pytest.mark.parametrize("launches", [5, 10, 15])
def test_launches_that_differ_by_chance_give_the_bounds_of_student_s_t(
    launches: int,
) -> None:
    normal = scipy_stats.norm.ppf((np.arange(launches) + 0.5) / launches)
    medians = 0.03 * normal[None, :]
    half = scipy_stats.t.ppf(0.90, launches - 1) * np.std(medians, ddof=1)
    effect = LaunchEffect(medians, np.array([1e-6]))
    assert effect.half_width(0.90)[0] == pytest.approx(
        half / math.sqrt(launches), rel=0.35
    )
    assert effect.middle[0] == pytest.approx(0.0, abs=1e-12)
    bound = float(effect.half_width(0.999)[0])
    assert effect.p_at_most(-bound) == pytest.approx(0.001, rel=1e-6)


def test_a_biased_launch_of_five_says_little() -> None:
    """The lower bound of Student's t, at 95 %, is below 8 %."""
    medians = np.array([[0.100, 0.101, 0.099, 0.100, 0.210]])
    half = scipy_stats.t.ppf(0.95, 4) * np.std(medians, ddof=1) / math.sqrt(5)
    assert medians.mean() - half < 0.08
    effect = LaunchEffect(medians, np.array([1e-6]))
    assert effect.middle[0] - effect.half_width(0.95)[0] > 0.095
    assert effect.middle[0] + effect.half_width(0.95)[0] < 0.105


def test_the_noise_between_launches_is_what_blocks_do_not_explain() -> None:
    rng = np.random.default_rng(4)
    d = rng.normal(0.0, 0.04, (400, 5, BLOCKS)) + rng.normal(0.0, 0.02, (400, 5, 1))
    medians, variances = np.median(d, axis=2), median_variances(d)
    launch = np.repeat(np.arange(5), BLOCKS)
    alone = median_variance(d[0].ravel(), launch, medians[0])
    assert alone == pytest.approx(variances[0])
    explained = math.pi / 2 * 0.04**2 / BLOCKS
    assert np.mean(variances) == pytest.approx(explained, rel=0.25)
    own = LaunchEffect(medians, variances).own_noise
    assert np.median(own) == pytest.approx(0.02, rel=0.15)


def test_launches_that_disagree_decide_nothing_that_their_blocks_alone_would() -> None:
    """Four launches of five agree, which was enough for the former method; a finding of it is judged so again."""
    rng = np.random.default_rng(5)
    levels = np.array([[0.03], [0.16], [0.03], [0.30], [-0.02]])
    blocks = _blocks(levels + rng.normal(0.0, 0.003, (5, BLOCKS)))
    stored = PairPolicy().as_dict()
    new = [name for name in stored if name.startswith(("launch_", "noisy_"))]
    for name in [name for name in new if name != "launch_share"]:
        del stored[name]
    former = judge_pair(blocks, 0, PairPolicy.from_dict(stored))
    assert (former.verdict, former.filters[-1].name) == ("fail", "launch_medians")
    now = judge_pair(blocks)
    assert now.verdict == "inconclusive"
    assert now.reason == "its launches differ too much to tell it from the 2 % margin"
    assert (now.filters[-2].name, now.filters[-2].passed) == ("launch_effect", False)
    assert now.lower is not None
    assert former.lower is not None
    assert now.lower < former.lower


def test_launches_that_differ_much_decide_where_all_of_them_are_far_beyond() -> None:
    """Beside neighbours launches differ by 15 %; what takes twice as long does so in each of five."""
    rng = np.random.default_rng(8)
    d = math.log(2.0) + rng.normal(0.0, 0.2, (200, 5, BLOCKS))
    d += rng.normal(0.0, 0.15, (200, 5, 1))
    outcomes = [judge_pair(_blocks(pair)) for pair in d]
    assert [outcome.verdict for outcome in outcomes].count("fail") >= 185
    assert outcomes[0].filters[-1].name == "launch_medians"


def test_launches_that_are_all_far_from_the_margin_decide_whatever_they_differ_by() -> (
    None
):
    """Proves that a ratio of three is decided by four launches that differ by half of it, as by two when a job stops early;
    and that one launch nearer than any measured bias leaves it open."""
    far = [math.log(ratio) for ratio in (1.6, 2.4, 4.8, 5.9)]
    noise = np.random.default_rng(5).normal(0.0, 0.02, (len(far), 12))
    slower = judge_pair(_blocks(np.array(far)[:, None] + noise))
    assert slower.verdict == "fail", slower.reason
    assert judge_pair(_blocks(-np.array(far)[:, None] + noise)).verdict == "pass"
    far[0] = math.log(1.05)
    undecided = judge_pair(_blocks(np.array(far)[:, None] + noise))
    assert undecided.verdict == "inconclusive", undecided.reason


def test_few_pairs_do_not_say_how_much_launches_differ() -> None:
    rng = np.random.default_rng(6)
    d = rng.normal(0.0, 0.003, (LAUNCH_NOISE_PAIRS, 5, BLOCKS))
    d += rng.normal(0.0, 0.03, (LAUNCH_NOISE_PAIRS, 5, 1))
    outcomes = [judge_pair(_blocks(pair)) for pair in d]
    noise = pool_launch_noise(outcomes)
    assert noise == pytest.approx(0.03, rel=0.4)
    assert pool_launch_noise(outcomes[1:]) == 0.0
    early = policy_after(3, 5, PairPolicy())
    stopped = [judge_pair(_blocks(pair[:3]), 0, early) for pair in d]
    assert pool_launch_noise([*outcomes, *stopped]) == noise, "they say nothing of it"
    assert pool_launch_noise([*outcomes[1:], *stopped]) == 0.0


def test_the_launches_that_noisy_launches_are_told_to_take_decide_it() -> None:
    rng = np.random.default_rng(7)

    def judge(launches: int) -> tuple[str, int | None]:
        d = 0.06 + rng.normal(0.0, 0.003, (launches, BLOCKS))
        outcome = judge_pair(_blocks(d + rng.normal(0.0, 0.03, (launches, 1))))
        return outcome.verdict, outcome.launches_needed

    told = [needed for _, needed in (judge(5) for _ in range(60)) if needed is not None]
    launches = int(np.median(told))
    assert 5 < launches < 60
    verdicts = [judge(launches)[0] for _ in range(50)]
    assert verdicts.count("fail") >= 30
