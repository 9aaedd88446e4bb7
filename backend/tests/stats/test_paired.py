"""The arm verdict: its three values, its limits, and what must not change it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paceline_server.stats.blocks import Dropped, PairedBlocks, pair_blocks
from paceline_server.stats.paired import (
    PairPolicy,
    PairVerdict,
    control_run,
    judge_pair,
)
from paceline_server.stats.samples import Floats
from paceline_server.testing.simulated_jobs import job_cases
from scipy import stats as scipy_stats

MARGIN = math.log(1.02)


def blocks_of(d: Floats, launches: int = 5, unusable: int = 0) -> PairedBlocks:
    launch = np.arange(d.size) * launches // max(1, d.size)
    ones = np.ones(d.size)
    return PairedBlocks(
        d, launch, np.arange(d.size), ones, ones, Dropped(unusable=unusable), ()
    )


def _spread(centre: float, n: int = 100, width: float = 0.004) -> Floats:
    """Evenly spread log-ratios around `centre`, the same in every launch."""
    return centre + width * np.tile(np.linspace(-1.0, 1.0, n // 5), 5)


def test_clearly_slower_fails() -> None:
    outcome = judge_pair(blocks_of(_spread(math.log(1.126))))
    assert outcome.verdict == "fail"
    assert outcome.ratio == pytest.approx(1.126)
    assert outcome.share_slower == 1.0
    assert outcome.p_slow == pytest.approx(2.0**-100)
    assert len(outcome.launch_ratios) == 5


def test_clearly_not_slower_passes() -> None:
    assert judge_pair(blocks_of(_spread(math.log(0.5)))).verdict == "pass"
    assert judge_pair(blocks_of(_spread(0.0))).verdict == "pass"


def test_a_verdict_about_bytes_never_says_slower() -> None:
    for centre in (math.log(1.126), 0.0, MARGIN, math.log(0.5)):
        outcome = judge_pair(replace(blocks_of(_spread(centre)), unit="bytes"))
        text = " ".join((outcome.reason, *(check.text for check in outcome.filters)))
        assert "worse" in text
        assert not {"slower", "faster", "fast"} & set(text.replace(":", " ").split())


def test_an_interval_across_the_margin_is_inconclusive_and_extendable_until_the_last_look() -> (
    None
):
    blocks = blocks_of(_spread(MARGIN))
    assert [judge_pair(blocks, look).extendable for look in (0, 1, 2)] == [
        True,
        True,
        False,
    ]
    assert {judge_pair(blocks, look).verdict for look in (0, 1, 2)} == {"inconclusive"}


def test_exactly_the_margin_is_not_slower() -> None:
    outcome = judge_pair(blocks_of(np.full(100, math.log1p(0.02))))
    assert outcome.above_margin == 0
    assert outcome.verdict == "inconclusive"


@pytest.mark.parametrize(("above", "verdict"), [(66, "inconclusive"), (67, "fail")])
def test_the_sign_test_decides_at_the_alpha_of_the_look(
    above: int, verdict: str
) -> None:
    """scipy: P[Bin(100, ½) ≥ 67] = 0.00044 ≤ 0.0005 < 0.00089 = P[Bin(100, ½) ≥ 66]."""
    assert (scipy_stats.binom.sf(above - 1, 100, 0.5) <= 0.0005) == (verdict == "fail")
    d = np.full(100, 0.0)
    d[np.argsort(np.arange(100) % 20, kind="stable")[:above]] = 0.05
    assert judge_pair(blocks_of(d)).verdict == verdict


def test_a_later_look_may_spend_less() -> None:
    d = np.full(100, 0.0)
    d[np.argsort(np.arange(100) % 20, kind="stable")[:67]] = 0.05
    assert [judge_pair(blocks_of(d), look).verdict for look in (0, 1, 2)] == [
        "fail",
        *["inconclusive"] * 2,
    ]
    assert judge_pair(blocks_of(_spread(0.1)), 3).verdict != "fail"


def test_two_biased_launches_cannot_fail_a_job() -> None:
    """
    d   ▔▔▔▔ ▔▔▔▔ ────  two of five processes were unlucky by 11 %, by far enough blocks for a small p …
                  ▁▁▁▁ ▁▁▁▁ ▁▁▁▁
    """
    d = np.concatenate(
        [
            np.full(200, 0.11),
            np.full(20, -0.001),
            np.full(20, -0.001),
            np.full(20, -0.001),
        ]
    )
    launch = np.repeat([0, 1, 2, 3, 4], [100, 100, 20, 20, 20])
    outcome = judge_pair(replace(blocks_of(d), launch=launch))
    sign_test = next(check for check in outcome.filters if check.name == "sign_test")
    assert (sign_test.value or 1.0) < 1e-10
    assert outcome.p_slow == 1.0, "its launches say otherwise"
    assert (outcome.verdict, outcome.launches_above) == ("inconclusive", 2)
    assert "2 of 5 launches" in outcome.reason


@pytest.mark.parametrize(
    ("launches", "needed"), [(3, 3), (4, 4), (5, 4), (10, 8), (15, 12)]
)
def test_four_fifths_of_the_launches_must_agree(launches: int, needed: int) -> None:
    for above in (needed - 1, needed):
        d = np.repeat(np.where(np.arange(launches) < above, 0.1, 0.0), 40)
        outcome = judge_pair(blocks_of(d, launches))
        limit = next(
            check.limit for check in outcome.filters if check.name == "launch_medians"
        )
        assert limit == needed
        assert outcome.launches_above == above
        assert (outcome.verdict == "fail") == (
            above == needed and (outcome.p_slow or 1) <= 0.0005
        )


@pytest.mark.parametrize(
    ("n", "launches", "missing"),
    [
        (
            29,
            5,
            "29 blocks in 5 launches; a verdict needs at least 30 blocks in 3 launches (1 more block)",
        ),
        (100, 2, "(1 more launch)"),
        (20, 1, "insufficient: 20 blocks in 1 launch;"),
        (20, 1, "10 more blocks and 2 more launches"),
        (0, 0, "30 more blocks and 3 more launches"),
    ],
)
def test_too_little_is_insufficient_and_says_what_is_missing(
    n: int, launches: int, missing: str
) -> None:
    outcome = judge_pair(blocks_of(np.full(n, 0.5), max(1, launches)))
    assert (outcome.verdict, outcome.insufficient) == ("inconclusive", True)
    assert missing in outcome.reason


def test_thirty_blocks_in_three_launches_are_enough() -> None:
    assert judge_pair(blocks_of(np.full(30, 0.5), 3)).verdict == "fail"


def test_many_unusable_blocks_are_not_judged() -> None:
    assert judge_pair(blocks_of(np.full(95, 0.5), 5, unusable=5)).verdict == "fail"
    outcome = judge_pair(blocks_of(np.full(94, 0.5), 5, unusable=6))
    assert outcome.verdict == "inconclusive"
    assert "6 of 100 blocks" in outcome.reason


def test_constants_are_exactly_as_fast_and_pass() -> None:
    outcome = judge_pair(blocks_of(np.zeros(100)))
    assert (outcome.verdict, outcome.ratio, outcome.lower, outcome.upper) == (
        "pass",
        1.0,
        1.0,
        1.0,
    )
    assert outcome.p_slow == 1.0
    assert outcome.share_slower == 0.0


def test_the_interval_is_the_published_order_statistic() -> None:
    """n = 100 at 99.8 %: ranks 35 and 66, for P[Bin(100, ½) ≤ 34] = 0.0009 < 0.001 < 0.0018."""
    d = np.arange(100).reshape(20, 5).T.ravel() / 1000.0
    outcome = judge_pair(blocks_of(d))
    assert outcome.lower == pytest.approx(math.exp(0.034))
    assert outcome.upper == pytest.approx(math.exp(0.065))
    assert (
        scipy_stats.binom.cdf(34, 100, 0.5)
        <= 0.001
        < scipy_stats.binom.cdf(35, 100, 0.5)
    )


def test_every_filter_carries_its_number_and_limit() -> None:
    outcome = judge_pair(blocks_of(_spread(0.1)))
    names = [check.name for check in outcome.filters]
    assert names == [
        "blocks",
        "launches",
        "unusable_share",
        "sign_test",
        "launch_medians",
        "launch_margin",
    ]
    assert all(
        check.limit is not None and check.value is not None and check.text
        for check in outcome.filters
    )


def test_a_policy_survives_storage() -> None:
    policy = PairPolicy(margin_percent=3.0, look_alpha=(0.01, 0.02))
    assert PairPolicy.from_dict({**policy.as_dict(), "later": 1}) == policy


LOGS = st.lists(st.floats(-2, 2).map(lambda x: round(x, 6)), min_size=30, max_size=90)


@given(LOGS, st.integers(3, 8))
@settings(max_examples=100)
def test_swapping_the_arms_gives_the_reciprocal(
    logs: list[float], launches: int
) -> None:
    d = np.array(logs)
    ahead, back = (
        judge_pair(blocks_of(d, launches)),
        judge_pair(blocks_of(-d, launches)),
    )
    assert ahead.ratio is not None
    assert back.ratio == pytest.approx(1 / ahead.ratio)
    if ahead.lower is not None and ahead.upper is not None:
        assert back.upper == pytest.approx(1 / ahead.lower)
        assert back.lower == pytest.approx(1 / ahead.upper)
    assert not (ahead.verdict == "fail" and back.verdict == "fail")


@given(
    st.integers(0, 2**32), st.sampled_from([1e-3, 1.0, 1e3, 1e9]), st.floats(-0.05, 0.1)
)
@settings(max_examples=40)
def test_the_unit_does_not_change_the_verdict(
    seed: int, scale: float, effect: float
) -> None:
    arm, reference = job_cases(np.random.default_rng(seed), effect)
    plain = judge_pair(pair_blocks(arm, reference, "lower"))
    scaled = judge_pair(
        pair_blocks(
            replace(arm, value=arm.value * scale),
            replace(reference, value=reference.value * scale),
            "lower",
        )
    )
    assert scaled.verdict == plain.verdict
    assert scaled.ratio == pytest.approx(plain.ratio)


@given(st.integers(0, 2**32), st.floats(-0.05, 0.1))
@settings(max_examples=40)
def test_a_time_and_its_rate_get_the_same_verdict(seed: int, effect: float) -> None:
    arm, reference = job_cases(np.random.default_rng(seed), effect)
    time = judge_pair(pair_blocks(arm, reference, "lower"))
    rate = judge_pair(
        pair_blocks(
            replace(arm, value=1e9 / arm.value),
            replace(reference, value=1e9 / reference.value),
            "higher",
        )
    )
    assert rate.verdict == time.verdict
    assert rate.ratio == pytest.approx(time.ratio)
    assert rate.above_margin == time.above_margin


def _failing(p: float) -> PairVerdict:
    return replace(judge_pair(blocks_of(_spread(0.1))), p_slow=p)


def test_a_lone_small_p_among_many_pairs_does_not_survive() -> None:
    """BH at q = 0.01 over 40 pairs: a lone p must be ≤ 0.01/40 = 0.00025."""
    for p, verdict in [(0.0004, "inconclusive"), (0.0002, "fail")]:
        outcome = control_run([_failing(p)], [0.9] * 39)[0]
        assert outcome.verdict == verdict
        assert outcome.filters[-1].name == "false_discovery"
        assert outcome.filters[-1].passed == (verdict == "fail")
    assert control_run([_failing(0.0004)], [0.9] * 39)[0].extendable


def test_small_ps_of_a_run_support_each_other() -> None:
    outcomes = control_run([_failing(0.0004), _failing(0.00001)], [0.9] * 38)
    assert [outcome.verdict for outcome in outcomes] == ["fail", "fail"]


def test_an_insufficient_pair_is_no_evidence_for_the_others() -> None:
    little = judge_pair(blocks_of(np.full(29, 0.5)))
    outcomes = control_run([little, _failing(0.0004)], [0.9] * 38)
    assert outcomes[1].verdict == "inconclusive"


def _noisy(centre: float, seed: int = 5) -> PairedBlocks:
    return blocks_of(centre + np.random.default_rng(seed).normal(0.0, 0.05, 100))


@pytest.mark.parametrize("centre", [MARGIN + 0.018, MARGIN - 0.012])
def test_the_launches_that_an_undecided_pair_is_told_to_take_decide_it(
    centre: float,
) -> None:
    told = [judge_pair(_noisy(centre, seed)).launches_needed for seed in range(60)]
    launches = int(np.median([number for number in told if number is not None]))
    rng = np.random.default_rng(8)
    verdicts = [
        judge_pair(
            blocks_of(centre + rng.normal(0.0, 0.05, 20 * launches), launches)
        ).verdict
        for _ in range(50)
    ]
    assert verdicts.count("fail" if centre > MARGIN else "pass") >= 30


@pytest.mark.parametrize(
    ("distance", "launches"), [(0.0036, 95), (0.0034, None), (0.0065, 29)]
)
def test_how_many_launches_are_told(distance: float, launches: int | None) -> None:
    """The interval reaches 0.01105 to each side of the median, and at most 100 launches are worth naming."""
    d = MARGIN - distance + 0.03 * np.tile(np.linspace(-1.0, 1.0, 20), 5)
    assert judge_pair(blocks_of(d)).launches_needed == launches


def test_a_pair_at_the_margin_itself_is_told_no_number_of_launches() -> None:
    assert judge_pair(blocks_of(_spread(MARGIN))).launches_needed is None


def test_too_few_blocks_are_told_how_many_launches_have_enough() -> None:
    outcome = judge_pair(blocks_of(_spread(0.0, 10), launches=2))
    assert (outcome.insufficient, outcome.launches_needed) == (True, 6)
    decided = judge_pair(blocks_of(_spread(0.5)))
    assert decided.launches_needed is None
