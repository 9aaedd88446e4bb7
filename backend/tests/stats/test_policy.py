"""Usage policy advice: known crossovers, coverage of intervals, and verdicts on policies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from paceline_server.stats.blocks import Dropped, PairedBlocks, pair_blocks
from paceline_server.stats.isotonic import non_increasing
from paceline_server.stats.policy import (
    Crossover,
    MinimumVerdict,
    find_crossover,
    judge_minimum,
)
from paceline_server.stats.samples import CaseSamples
from paceline_server.testing.simulated_jobs import job_cases

MARGIN = 2.0
COARSE = (1000, 2000, 5000, 10_000)
FINE = (500, 1000, 1500, 2000, 3000, 5000, 10_000)
Measured = list[tuple[int, PairedBlocks]]


def blocks_of(d: np.ndarray, launch: np.ndarray) -> PairedBlocks:
    ones, number = np.ones(d.size), np.arange(d.size)
    return PairedBlocks(d, launch, number, ones, ones, Dropped(), ())


def job(
    rng: np.random.Generator,
    curve: Mapping[int, float],
    *,
    launches: int = 5,
    rounds: int = 20,
    sigma: float = 0.01,
    bias: float = 0.01,
) -> Measured:
    """Blocks with these true log-ratios, heavy tails, a bias per launch and one per launch and value."""
    launch = np.repeat(np.arange(launches), rounds)
    shared = rng.normal(0.0, bias, launches)
    measured = []
    for at, true in curve.items():
        own = shared + rng.normal(0.0, bias, launches)
        noise = sigma / math.sqrt(3.0) * rng.standard_t(3, launch.size)
        measured.append((at, blocks_of(true + own[launch] + noise, launch)))
    return measured


def falling(
    grid: Sequence[int], crossover: float, slope: float = 0.15
) -> dict[int, float]:
    return {at: -slope * math.log(at / crossover) for at in grid}


def crossover_in(
    curve: Mapping[int, float], seed: int = 1, sigma: float = 0.004, bias: float = 0.0
) -> Crossover:
    return find_crossover(
        job(np.random.default_rng(seed), curve, sigma=sigma, bias=bias), MARGIN
    )


# --- from where on ---------------------------------------------------------------------------------


@pytest.mark.parametrize("grid", [COARSE, FINE], ids=["coarse", "fine"])
def test_a_known_crossover_is_found_between_the_measured_values(
    grid: tuple[int, ...],
) -> None:
    crossover = crossover_in(falling(grid, 1870.0))
    assert crossover.answer == "from"
    assert crossover.value == pytest.approx(1870, rel=0.02)
    assert crossover.lower is not None
    assert crossover.upper is not None
    assert crossover.lower <= 1870 <= crossover.upper
    assert crossover.upper / crossover.lower < 1.1
    assert crossover.measured_from == 2000


@pytest.mark.parametrize("launches", [3, 5, 10])
def test_the_interval_of_a_crossover_holds_it_as_often_as_it_says(
    launches: int,
) -> None:
    """95 %, with launches that are biased by 1 %: the launches decide how wide it is."""
    rng = np.random.default_rng(11)
    rounds = 30 if launches == 3 else 20
    held = answered = 0
    for _ in range(60):
        measured = job(rng, falling(COARSE, 1870.0), launches=launches, rounds=rounds)
        crossover = find_crossover(measured, MARGIN)
        if crossover.answer == "from":
            answered += 1
            held += (crossover.lower or 0) <= 1871 and (
                crossover.upper or math.inf
            ) >= 1870
    assert answered >= 55
    assert held / answered >= 0.88, "95 % within what 60 jobs can tell"


def test_an_arm_that_always_wins_wins_from_the_smallest_measured_or_below() -> None:
    crossover = crossover_in(dict.fromkeys(COARSE, -0.2))
    assert (crossover.answer, crossover.value, crossover.lower, crossover.upper) == (
        "always",
        1000,
        None,
        1000,
    )


def test_no_crossover_is_an_answer() -> None:
    assert crossover_in(dict.fromkeys(COARSE, 0.2)).answer == "never"
    equal = crossover_in(dict.fromkeys(COARSE, 0.0))
    assert equal.answer == "never", "as fast is no win"
    assert equal.value is None


def test_a_last_value_that_does_not_decide_leaves_it_open() -> None:
    crossover = crossover_in({1000: 0.1, 10_000: -0.02}, sigma=0.2, bias=0.1)
    assert crossover.answer == "undecided"


def test_losing_again_ends_what_was_won_before() -> None:
    crossover = crossover_in({1000: -0.2, 2000: 0.2, 5000: -0.2})
    assert (crossover.answer, crossover.monotone) == ("from", False)
    assert (crossover.value, crossover.measured_from) == (5000, 5000)
    assert (crossover.lower, crossover.upper) == (2001, 5000), (
        "nothing is said between losing and winning"
    )


def test_one_biased_launch_does_not_win() -> None:
    measured = []
    for at, blocks in job(
        np.random.default_rng(3), {1000: 0.1, 2000: -0.001}, sigma=0.0005, bias=0.0
    ):
        biased = blocks.d - 0.1 * (blocks.launch < 2)
        measured.append((at, replace(blocks, d=biased if at == 2000 else blocks.d)))
    held = [
        (
            at,
            replace(blocks, d=np.where(blocks.launch >= 2, np.abs(blocks.d), blocks.d)),
        )
        for at, blocks in measured
    ]
    assert find_crossover(held, MARGIN).points[-1].winner == "undecided"


def test_too_few_blocks_say_nothing_and_say_so() -> None:
    few = job(np.random.default_rng(1), falling(COARSE, 1870.0), launches=2)
    crossover = find_crossover(few, MARGIN)
    assert crossover.answer == "unknown"
    expected = "1000 has 40 blocks in 2 launches, advice needs 30 blocks in 3 launches"
    assert crossover.reason == f"insufficient: {expected}"
    assert find_crossover([], MARGIN).answer == "unknown"


def test_one_value_is_enough_to_win_or_lose_at() -> None:
    assert crossover_in({1000: -0.3}).answer == "always"
    assert crossover_in({1000: 0.3}).answer == "never"


# --- properties ------------------------------------------------------------------------------------


def _scaled(case: CaseSamples, factor: float) -> CaseSamples:
    return replace(case, value=case.value * factor)


def test_units_and_the_order_of_arrival_change_nothing() -> None:
    cases = {
        at: job_cases(np.random.default_rng(at), effect, biased_share=0.0)
        for at, effect in {100: 0.3, 1000: -0.05, 10_000: -0.4}.items()
    }
    plain = find_crossover(
        [(at, pair_blocks(*pair, "lower")) for at, pair in cases.items()], MARGIN
    )
    other = find_crossover(
        [
            (at, pair_blocks(_scaled(arm, 1e-6), _scaled(base, 1e-6), "lower"))
            for at, (arm, base) in reversed(cases.items())
        ],
        MARGIN,
    )
    assert (other.answer, other.value, other.lower, other.upper) == (
        plain.answer,
        plain.value,
        plain.lower,
        plain.upper,
    )


def test_times_and_rates_say_the_same() -> None:
    cases = {
        at: job_cases(np.random.default_rng(at), effect)
        for at, effect in {100: 0.3, 1000: -0.3}.items()
    }
    times = find_crossover(
        [(at, pair_blocks(*pair, "lower")) for at, pair in cases.items()], MARGIN
    )
    rates = find_crossover(
        [
            (
                at,
                pair_blocks(
                    replace(arm, value=1.0 / arm.value),
                    replace(other, value=1.0 / other.value),
                    "higher",
                ),
            )
            for at, (arm, other) in cases.items()
        ],
        MARGIN,
    )
    assert (times.answer, times.value) == (rates.answer, rates.value)


def test_a_param_in_other_units_gives_the_same_crossover_in_those() -> None:
    curve = falling(COARSE, 1870.0)
    small = find_crossover(job(np.random.default_rng(5), curve), MARGIN)
    large = find_crossover(
        [(at * 1000, blocks) for at, blocks in job(np.random.default_rng(5), curve)],
        MARGIN,
    )
    assert large.value == pytest.approx((small.value or 0) * 1000, rel=0.001)


def test_a_fit_never_rises_and_keeps_what_does_not() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(0.0, 1.0, (50, 9))
    fit = non_increasing(rows)
    assert (np.diff(fit, axis=1) <= 1e-12).all()
    assert np.allclose(fit.mean(axis=1), rows.mean(axis=1))
    assert np.allclose(non_increasing(fit), fit)
    falling_rows = -np.sort(rows, axis=1)
    assert np.allclose(non_increasing(falling_rows), falling_rows)
    rising = non_increasing(np.sort(rows, axis=1))
    assert np.allclose(rising, rows.mean(axis=1, keepdims=True))


def test_a_fit_pools_violators_by_weight() -> None:
    assert non_increasing(np.array([3.0, 1.0, 2.0, 0.0])).tolist() == [
        3.0,
        1.5,
        1.5,
        0.0,
    ]
    weighted = non_increasing(
        np.array([3.0, 1.0, 2.0, 0.0]), np.array([1.0, 3.0, 1.0, 1.0])
    )
    assert weighted.tolist() == [3.0, 1.25, 1.25, 0.0]


def test_equal_samples_give_equal_advice() -> None:
    assert crossover_in(falling(COARSE, 1870.0), bias=0.01) == crossover_in(
        falling(COARSE, 1870.0), bias=0.01
    )


# --- the policy in force ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("curve", "minimum", "expected"),
    [
        (falling(COARSE, 1870.0), 1870, (True, "inside", None, None)),
        (falling(FINE, 1870.0), 3000, (False, "picks_loser", 2999, "reference")),
        (falling(FINE, 1870.0), 1000, (False, "picks_loser", 1000, "arm")),
        (falling(FINE, 1870.0), 1500, (False, "picks_loser", 1500, "arm")),
        (dict.fromkeys(COARSE, -0.2), 1, (True, "inside", None, None)),
        (dict.fromkeys(COARSE, -0.2), 2000, (False, "picks_loser", 1999, "reference")),
        (dict.fromkeys(COARSE, 0.2), 20_000, (True, "picks_winners", None, None)),
        (dict.fromkeys(COARSE, 0.2), 5000, (False, "picks_loser", 10_000, "arm")),
        (dict.fromkeys(COARSE, 0.0), 5000, (True, "picks_winners", None, None)),
        ({4: -0.15, 6: 0.1, 8: -0.2, 10: -0.3}, 8, (True, "inside", None, None)),
        ({4: -0.15, 6: 0.1, 8: -0.2, 10: -0.3}, 4, (False, "picks_loser", 6, "arm")),
        (
            {4: -0.15, 6: 0.1, 8: -0.2, 10: -0.3},
            10,
            (False, "picks_loser", 8, "reference"),
        ),
        ({1000: 0.3, 10_000: -0.3}, 3162, (True, "inside", None, None)),
        ({1000: 0.3, 10_000: -0.3}, 2000, (False, "picks_loser", 2000, "arm")),
    ],
)
def test_a_policy_is_right_where_it_picks_no_loser(
    curve: dict[int, float],
    minimum: int,
    expected: tuple[bool, str, int | None, str | None],
) -> None:
    judged = judge_minimum(crossover_in(curve), minimum, MARGIN)
    holds, because, at, picked = expected
    assert (judged.holds, judged.because, judged.picked) == (holds, because, picked)
    if because == "picks_loser":
        assert judged.loss is not None
        assert judged.loss > MARGIN / 100
        assert judged.loss_at == at or judged.loss_at in curve


def test_a_minimum_far_above_all_that_was_measured_is_not_inside_an_interval_without_an_end() -> (
    None
):
    """Three launches whose curve may cross beyond the last value: the arm still wins there by 10 %."""
    launch = np.repeat(np.arange(3), 20)
    d = {1000: (0.1, 0.1, 0.1), 5000: (0.02, 0.02, 0.02), 10_000: (-0.1, -0.15, -0.03)}
    crossover = find_crossover(
        [(at, blocks_of(np.array(own)[launch], launch)) for at, own in d.items()],
        MARGIN,
    )
    assert (crossover.answer, crossover.upper) == ("from", None)
    assert judge_minimum(crossover, 10_000, MARGIN).because == "inside"
    absurd = judge_minimum(crossover, 1_000_000, MARGIN)
    assert (absurd.holds, absurd.because) != (True, "inside")


def test_a_policy_that_the_samples_do_not_judge_is_open() -> None:
    assert judge_minimum(
        Crossover("unknown", reason="x"), 10, MARGIN
    ) == MinimumVerdict(None, "unknown")
    vague = crossover_in({1000: 0.02, 2000: 0.0, 5000: -0.3}, sigma=0.1, bias=0.0)
    assert judge_minimum(vague, 4000, MARGIN).holds in (None, False)
    open_ended = crossover_in({1000: 0.05, 10_000: -0.02}, sigma=0.2, bias=0.1)
    assert judge_minimum(open_ended, 5000, MARGIN) == MinimumVerdict(None, "open")


def test_the_fitted_ratio_at_a_value_has_an_interval_only_where_something_was_measured() -> (
    None
):
    crossover = crossover_in(falling(COARSE, 1870.0))
    inside = crossover.at(3000)
    assert inside.lower is not None
    assert inside.upper is not None
    assert inside.lower < -0.15 * math.log(3000 / 1870) < inside.upper
    assert crossover.at(999).lower is None
    assert crossover.at(10_001).upper is None
