"""Tests that the minimum detectable effect is the effect that the decision rule can resolve."""

from __future__ import annotations

import math

import numpy as np
import pytest
from paceline_server.stats import constants
from paceline_server.stats.blocks import Dropped, PairedBlocks, pair_blocks
from paceline_server.stats.noise import (
    mde_from_history,
    noise_floor,
    proposed_threshold,
)
from paceline_server.stats.paired import PairPolicy, judge_pair
from paceline_server.testing.simulated_jobs import revision_cases

HOSTS = [
    # launches, blocks, spread of launches, spread of blocks
    (5, 20, 0.004, 0.006),
    (5, 20, 0.015, 0.010),
    (5, 20, 0.030, 0.010),
    (5, 20, 0.000, 0.020),
    (10, 20, 0.010, 0.020),
    (3, 20, 0.010, 0.010),
]


Host = tuple[int, int, float, float]


def job(rng: np.random.Generator, effect: float, host: Host) -> PairedBlocks:
    """The blocks of an A/B job whose head truly takes `1 + effect` times as long."""
    launches, each, across, within = host
    noise = (
        rng.standard_t(3, (launches, each)) - rng.standard_t(3, (launches, each))
    ) / math.sqrt(6.0)
    d = (
        math.log1p(effect) + rng.normal(0.0, across, (launches, 1)) + within * noise
    ).ravel()
    ones = np.ones(d.size)
    return PairedBlocks(
        d,
        np.repeat(np.arange(launches), each),
        np.tile(np.arange(each), launches),
        ones,
        ones,
        Dropped(),
        (),
    )


@pytest.mark.parametrize("host", HOSTS)
def test_an_effect_as_large_as_the_mde_is_called_slower_in_about_80_of_100_jobs(
    host: Host,
) -> None:
    rng = np.random.default_rng(7)
    called = []
    for _ in range(60):
        floor = noise_floor(job(rng, 0.0, host), host[0])
        assert floor is not None
        called += [
            judge_pair(job(rng, floor.mde, host)).verdict == "fail" for _ in range(10)
        ]
    assert 0.74 <= np.mean(called) <= 0.93


@pytest.mark.parametrize("host", HOSTS)
def test_half_of_what_lies_beyond_the_margin_is_resolved_far_less_often(
    host: Host,
) -> None:
    rng = np.random.default_rng(8)
    called = []
    for _ in range(30):
        floor = noise_floor(job(rng, 0.0, host), host[0])
        assert floor is not None
        called += [
            judge_pair(job(rng, 0.02, host)).verdict == "fail" for _ in range(10)
        ]
        assert floor.mde > 0.02
    assert np.mean(called) < 0.2


def test_no_a_a_job_of_500_is_called_slower() -> None:
    """Launches are biased, drift and spike as on real hosts."""
    rng = np.random.default_rng(9)
    verdicts = []
    for _ in range(500):
        head, base = revision_cases(rng, 0.0)
        verdicts.append(judge_pair(pair_blocks(head, base, "lower")).verdict)
    assert verdicts.count("fail") == 0
    assert verdicts.count("pass") > 400


@pytest.mark.parametrize("host", HOSTS)
def test_the_interval_of_an_a_a_ratio_holds_1_although_launches_differ(
    host: Host,
) -> None:
    rng = np.random.default_rng(10)
    floors = [noise_floor(job(rng, 0.0, host), host[0]) for _ in range(60)]
    assert all(
        floor is not None and floor.lower < 1.0 < floor.upper for floor in floors
    )


def test_one_biased_launch_of_five_does_not_make_a_target_blind() -> None:
    """The rule tolerates one of five, so its floor does."""
    quiet = job(np.random.default_rng(1), 0.0, (5, 20, 0.003, 0.005))
    d = quiet.d.copy()
    d[:20] += 0.10
    biased = PairedBlocks(
        d,
        quiet.launch,
        quiet.round,
        quiet.arm_value,
        quiet.reference_value,
        Dropped(),
        (),
    )
    before, after = noise_floor(quiet, 5), noise_floor(biased, 5)
    assert before is not None
    assert after is not None
    assert before.mde < after.mde < 0.04


def test_the_floor_is_the_same_every_time_and_either_way_round() -> None:
    blocks = job(np.random.default_rng(3), 0.0, (5, 20, 0.01, 0.01))
    turned = PairedBlocks(
        -blocks.d,
        blocks.launch,
        blocks.round,
        blocks.arm_value,
        blocks.reference_value,
        Dropped(),
        (),
    )
    first, again, other = (
        noise_floor(blocks, 5),
        noise_floor(blocks, 5),
        noise_floor(turned, 5),
    )
    assert first == again
    assert first is not None
    assert other is not None
    assert other.mde == pytest.approx(first.mde, rel=0.05)


def test_more_launches_and_a_wider_margin_move_the_floor_the_way_they_must() -> None:
    blocks = job(np.random.default_rng(4), 0.0, (15, 20, 0.03, 0.02))
    few, many = noise_floor(blocks, 3), noise_floor(blocks, 15)
    wide = noise_floor(blocks, 3, PairPolicy(margin_percent=5.0))
    assert few is not None
    assert many is not None
    assert wide is not None
    assert many.mde < few.mde < wide.mde
    assert wide.mde > 0.05


@pytest.mark.parametrize(("launches", "each"), [(2, 20), (5, 5)])
def test_too_few_launches_or_blocks_have_no_floor(launches: int, each: int) -> None:
    assert (
        noise_floor(job(np.random.default_rng(5), 0.0, (launches, each, 0.01, 0.01)), 5)
        is None
    )


def test_what_a_floor_was_made_with_is_kept() -> None:
    floor = noise_floor(job(np.random.default_rng(6), 0.0, (5, 20, 0.01, 0.01)), 5)
    assert floor is not None
    evidence = floor.evidence(PairPolicy())
    assert evidence["parameters"]["power"] == constants.NOISE_POWER
    assert evidence["parameters"]["policy"]["margin_percent"] == 2.0
    assert evidence["launch_sigma"] == pytest.approx(0.01, rel=0.9)


# --- before any A/A job ---


def test_the_estimate_from_history_is_what_a_rank_test_of_30_old_and_5_new_points_finds() -> (
    None
):
    from scipy.stats import mannwhitneyu  # noqa: PLC0415 - the tests' own dependency

    rng = np.random.default_rng(11)
    sigma = 0.01
    estimates = [
        mde_from_history(1e5 * np.exp(rng.normal(0.0, sigma, 60))) for _ in range(50)
    ]
    mde = float(np.median([estimate for estimate in estimates if estimate is not None]))
    is_significant = []
    for _ in range(400):
        old, new = rng.normal(0.0, sigma, 30), rng.normal(math.log1p(mde), sigma, 5)
        is_significant.append(mannwhitneyu(old, new).pvalue <= 1e-3)
    assert 0.7 <= np.mean(is_significant) <= 0.9


def test_a_step_in_the_past_is_no_noise() -> None:
    rng = np.random.default_rng(12)
    quiet = rng.normal(0.0, 0.01, 60)
    stepped = quiet + np.where(np.arange(60) < 30, 0.0, 0.5)
    quiet_mde, stepped_mde = (
        mde_from_history(np.exp(quiet)),
        mde_from_history(np.exp(stepped)),
    )
    assert quiet_mde is not None
    assert stepped_mde == pytest.approx(quiet_mde, rel=0.1)


def test_a_short_past_says_nothing() -> None:
    assert mde_from_history(np.full(11, 3.0)) is None
    assert mde_from_history(np.full(12, 3.0)) == 0.0


@pytest.mark.parametrize(
    ("mde", "proposed"), [(0.0, 0.03), (0.021, 0.03), (0.04, 0.05), (0.2, 0.25)]
)
def test_a_threshold_is_proposed_above_the_mde_and_never_below_what_is_worth_a_look(
    mde: float, proposed: float
) -> None:
    assert proposed_threshold(mde) == pytest.approx(proposed)
