"""Gates with their intervals, and numbers derived from other measurements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from paceline_server.stats.binomial import samples_needed
from paceline_server.stats.bootstrap import ratio_of_means
from paceline_server.stats.constants import GATE_CONFIDENCE
from paceline_server.stats.derived import overhead_between_arms, ratio_across_param, slope
from paceline_server.stats.gates import Op, judge_gate
from paceline_server.testing.simulated import job_cases

LAUNCH = np.repeat(np.arange(5), 20)


def _values(centre: float, sigma: float = 0.01, n: int = 100, seed: int = 1) -> np.ndarray:
    return centre * np.exp(sigma * np.random.default_rng(seed).standard_normal(n))


@pytest.mark.parametrize(
    ("op", "level", "verdict"),
    [("<=", 110.0, "pass"), ("<=", 90.0, "fail"), ("<=", 100.0, "inconclusive"),
     (">=", 90.0, "pass"), (">=", 110.0, "fail"), (">", 100.0, "inconclusive")],
)  # fmt: skip
def test_a_median_gate_decides_only_when_the_whole_interval_is_on_one_side(
    op: Op, level: float, verdict: str
) -> None:
    assert judge_gate(_values(100.0), LAUNCH, "median", op, level).verdict == verdict


def test_a_p99_gate_with_too_few_samples_says_how_many_it_needs() -> None:
    needed = samples_needed(0.99, GATE_CONFIDENCE)
    found = judge_gate(_values(100.0), LAUNCH, "p99", "<=", 200.0)
    assert found.verdict == "inconclusive"
    assert f"at least {needed}" in found.reason
    enough = judge_gate(_values(100.0, n=needed), np.arange(needed) % 5, "p99", "<=", 200.0)
    assert enough.verdict == "pass"


def test_a_p99_gate_can_fail_before_it_could_pass() -> None:
    assert judge_gate(_values(100.0), LAUNCH, "p99", "<=", 50.0).verdict == "fail"


def test_a_mean_gate_knows_that_launches_differ() -> None:
    biased = _values(100.0) * np.repeat([1.0, 1.0, 1.0, 1.0, 1.5], 20)
    assert judge_gate(biased, LAUNCH, "mean", "<=", 105.0).verdict == "inconclusive"
    assert judge_gate(_values(100.0), LAUNCH, "mean", "<=", 105.0).verdict == "pass"


def test_spread_smallest_and_largest_are_compared_as_they_are() -> None:
    assert judge_gate(_values(100.0), LAUNCH, "sd_percent", "<", 2.0).verdict == "pass"
    assert judge_gate(_values(100.0, 0.1), LAUNCH, "sd_percent", "<", 2.0).verdict == "fail"
    assert judge_gate(_values(100.0), LAUNCH, "max", "<", 99.0).verdict == "fail"
    assert judge_gate(_values(100.0), LAUNCH, "min", ">", 90.0).verdict == "pass"
    assert judge_gate(np.zeros(100), LAUNCH, "sd_percent", "<", 2.0).verdict == "inconclusive"


def test_gates_without_launches_or_samples_are_inconclusive() -> None:
    assert "2 launches" in judge_gate(_values(1.0, n=40), np.repeat([0, 1], 20), "median", "<", 9.0).reason
    assert judge_gate(np.array([]), np.array([]), "median", "<", 9.0).verdict == "inconclusive"


def test_an_exponent_is_found_with_its_interval() -> None:
    points = [(float(x), (_values(7.0 * x**1.5, seed=x), LAUNCH)) for x in (10, 100, 1000)]
    found = slope(points)
    assert found.value == pytest.approx(1.5, abs=0.01)
    assert found.interval.lower is not None
    assert found.interval.upper is not None
    assert found.interval.lower < 1.5 < found.interval.upper
    assert found.interval.upper - found.interval.lower < 0.02


def test_a_slope_needs_two_points_and_positive_params() -> None:
    warm = (_values(5.0), LAUNCH)
    assert slope([(10.0, warm)]).value is None
    assert slope([(0.0, warm), (10.0, warm)]).value is None


def test_a_ratio_across_a_param_is_a_ratio_of_medians() -> None:
    found = ratio_across_param((_values(80.0), LAUNCH), (_values(16.0, seed=2), LAUNCH))
    assert found.value == pytest.approx(0.2, rel=0.01)
    assert found.interval.lower is not None
    assert found.interval.lower < 0.2 < (found.interval.upper or 0)
    assert ratio_across_param((np.array([]), np.array([])), (_values(1.0), LAUNCH)).value is None


def test_overhead_is_paired_and_keeps_the_metrics_own_direction() -> None:
    arm, base = job_cases(np.random.default_rng(4), 0.4, sigma=0.005)
    found = overhead_between_arms(arm, base)
    assert found.value == pytest.approx(0.4, abs=0.02)
    higher = overhead_between_arms(replace(arm, direction="higher"), replace(base, direction="higher"))
    assert higher == found


def test_the_bootstrap_is_deterministic_and_wider_with_biased_launches() -> None:
    args = (_values(100.0), LAUNCH, _values(100.0, seed=2), LAUNCH, 0.95)
    first, again = ratio_of_means(*args), ratio_of_means(*args)
    assert first == again
    wider = ratio_of_means(np.where(LAUNCH == 0, args[0] * 1.1, args[0]), *args[1:])
    assert (wider.upper or 0) - (wider.lower or 0) > 4 * ((first.upper or 0) - (first.lower or 0))


def test_a_launch_bias_is_in_the_bootstrap_as_the_simple_formula_says() -> None:
    """Launch means 110, 100, 100, 100, 100: the mean of 5 draws has sd 4/√5 = 1.79, so 95 % is about ± 3.5
    %."""
    found = ratio_of_means(np.repeat([110.0, 100, 100, 100, 100], 20), LAUNCH, np.ones(100), LAUNCH, 0.95)
    assert found.lower == 100.0
    assert found.upper == 106.0


def test_a_bootstrap_of_one_launch_has_no_bounds() -> None:
    one = np.zeros(20, dtype=np.int64)
    assert ratio_of_means(_values(1.0, n=20), one, _values(1.0, n=20), one, 0.95).lower is None
