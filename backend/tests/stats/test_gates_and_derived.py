"""Gates with their intervals, and numbers derived from other measurements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from paceline_server.stats.binomial import quantile_interval
from paceline_server.stats.bootstrap import (
    cluster_bootstrap,
    cluster_replicates,
    nan_mean,
)
from paceline_server.stats.constants import DERIVED_CONFIDENCE
from paceline_server.stats.derived import (
    DerivedValue,
    degradation_across_param,
    overhead_between_arms,
    ratio_across_param,
    share_at_rate,
    share_between_metrics,
    slope,
    speedup_between_arms,
)
from paceline_server.stats.gates import (
    SAMPLES_METHOD,
    Op,
    absolute_value,
    interval_of,
    judge_gate,
    judge_level,
    quantile_of,
    samples_to_pass,
    share_reached,
    standing_of,
)
from paceline_server.stats.launch_effect import widen_by_launches
from paceline_server.stats.samples import CaseSamples, Floats, Interval, Ints
from paceline_server.stats.spread import jackknife, relative_deviation
from paceline_server.testing.simulated_jobs import job_cases

LAUNCH = np.repeat(np.arange(5), 20)


def _values(
    centre: float, sigma: float = 0.01, n: int = 100, seed: int = 1
) -> np.ndarray:
    return centre * np.exp(sigma * np.random.default_rng(seed).standard_normal(n))


@pytest.mark.parametrize(
    ("op", "level", "verdict"),
    [
        ("<=", 110.0, "pass"),
        ("<=", 90.0, "fail"),
        ("<=", 100.0, "inconclusive"),
        (">=", 90.0, "pass"),
        (">=", 110.0, "fail"),
        (">", 100.0, "inconclusive"),
    ],
)
def test_a_median_gate_decides_only_when_the_whole_interval_is_on_one_side(
    op: Op, level: float, verdict: str
) -> None:
    assert judge_gate(_values(100.0), LAUNCH, "median", op, level).verdict == verdict


@pytest.mark.parametrize(
    ("statistic", "unit", "said"),
    [
        ("max", "ns", "12.3455 µs <= 20 µs holds; interval [12.3455 µs, 12.3455 µs]"),
        ("max", "bytes/s", "12.0562 KiB/s <= 19.5312 KiB/s holds; interval"),
        ("max", "count", "12345.5 <= 20000 holds; interval [12345.5, 12345.5]"),
        ("sd_percent", "ns", "0 % <= 20000 % holds; interval [0 %, 0 %]"),
    ],
)
def test_the_figures_of_a_reason_have_the_unit_of_what_they_are(
    statistic: str, unit: str, said: str
) -> None:
    """A spread in percent is in percent, whatever was measured."""
    values = np.full(100, 12_345.5)
    result = judge_gate(values, LAUNCH, statistic, "<=", 20_000.0, unit=unit)
    assert result.reason.startswith(said)


def test_a_p99_gate_with_too_few_samples_says_how_many_it_needs() -> None:
    result = judge_gate(_values(100.0, n=200), np.arange(200) % 5, "p99", "<=", 200.0)
    assert result.verdict == "inconclusive"
    assert result.reason == "insufficient: p99 needs 459 samples, has 200"
    assert (
        judge_gate(
            _values(100.0, n=458), np.arange(458) % 5, "p99", "<=", 200.0
        ).verdict
        != "pass"
    )
    assert (
        judge_gate(
            _values(100.0, n=459), np.arange(459) % 5, "p99", "<=", 200.0
        ).verdict
        == "pass"
    )


def test_a_p99_gate_can_fail_before_it_could_pass() -> None:
    assert judge_gate(_values(100.0), LAUNCH, "p99", "<=", 50.0).verdict == "fail"


def test_a_mean_gate_knows_that_launches_differ() -> None:
    biased = _values(100.0) * np.repeat([1.0, 1.0, 1.0, 1.0, 1.5], 20)
    assert judge_gate(biased, LAUNCH, "mean", "<=", 105.0).verdict == "inconclusive"
    assert judge_gate(_values(100.0), LAUNCH, "mean", "<=", 105.0).verdict == "pass"


def test_min_and_max_are_compared_without_an_interval() -> None:
    assert judge_gate(_values(100.0), LAUNCH, "max", "<", 99.0).verdict == "fail"
    assert judge_gate(_values(100.0), LAUNCH, "min", ">", 90.0).verdict == "pass"


@pytest.mark.parametrize(
    ("statistic", "needed"),
    [
        ("p50", 7),
        ("p90", 44),
        ("p99", 459),
        ("p99.9", 4603),
        ("p1", 1),
        ("median", 7),
        ("mean", 0),
        ("max", 0),
    ],
)
def test_an_upper_limit_on_a_percentile_needs_what_its_upper_bound_needs(
    statistic: str, needed: int
) -> None:
    assert samples_to_pass(statistic, "<=") == needed
    if needed > 1:
        assert (
            quantile_interval(
                np.arange(needed - 1.0), quantile_of(statistic) or 0, 0.98
            ).upper
            is None
        )
        assert (
            quantile_interval(
                np.arange(float(needed)), quantile_of(statistic) or 0, 0.98
            ).upper
            is not None
        )


def test_a_lower_limit_on_a_low_percentile_needs_as_many() -> None:
    assert samples_to_pass("p1", ">=") == 459
    assert samples_to_pass("p99", ">=") == 1


def test_an_unknown_statistic_is_an_error() -> None:
    with pytest.raises(ValueError, match="variance"):
        judge_gate(_values(1.0), LAUNCH, "variance", "<", 2.0)


def test_a_spread_decides_by_an_interval_that_takes_launches_for_its_replicates() -> (
    None
):
    assert judge_gate(_values(100.0), LAUNCH, "sd_percent", "<", 2.0).verdict == "pass"
    assert (
        judge_gate(_values(100.0, 0.1), LAUNCH, "sd_percent", "<", 2.0).verdict
        == "fail"
    )
    assert judge_gate(_values(100.0), LAUNCH, "sd", "<", 2.0).verdict == "pass"
    assert (
        judge_gate(np.zeros(100), LAUNCH, "sd_percent", "<", 2.0).verdict
        == "inconclusive"
    )
    one_wild = np.where(LAUNCH == 0, _values(100.0, 0.1), _values(100.0))
    result = judge_gate(one_wild, LAUNCH, "sd_percent", "<", 8.0)
    assert result.actual is not None
    assert result.actual < 8.0
    assert result.verdict == "inconclusive", (
        "four launches say 1 %, one says 10 %: five do not decide"
    )


def test_the_spread_of_launches_is_of_their_medians() -> None:
    steady = np.repeat([100.0, 100.2, 99.9, 100.1, 99.8], 20) * _values(1.0, 0.05)
    apart = np.repeat([100.0, 140.0, 70.0, 120.0, 90.0], 20)
    result = judge_gate(apart, LAUNCH, "launch_sd_percent", "<", 2.5)
    assert result.actual == pytest.approx(
        100.0 * np.std([100, 140, 70, 120, 90], ddof=1) / 104.0
    )
    assert result.verdict == "fail"
    assert judge_gate(steady, LAUNCH, "launch_sd_percent", "<", 12.5).verdict == "pass"
    assert (
        judge_gate(np.full(100, 7.0), LAUNCH, "launch_sd_percent", "<", 2.5).verdict
        == "pass"
    )


@pytest.mark.parametrize("launches", [5, 10])
def test_the_interval_of_a_spread_holds_the_true_one_as_often_as_it_says(
    launches: int,
) -> None:
    rng = np.random.default_rng(8)
    held = 0
    for _ in range(300):
        values, launch = (
            rng.normal(100.0, 3.0, launches * 20),
            np.repeat(np.arange(launches), 20),
        )
        result = jackknife(relative_deviation, values, launch, 0.98)
        held += (result.lower or 0.0) <= 3.0 <= (result.upper or np.inf)
    assert held >= 285


@pytest.mark.parametrize(
    ("interval", "size"),
    [
        ((0.01, 0.03), (0.01, 0.03)),
        ((-0.03, -0.01), (0.01, 0.03)),
        ((-0.03, 0.01), (0.0, 0.03)),
        ((None, 0.03), (0.0, None)),
        ((0.02, None), (0.02, None)),
        ((None, -0.02), (0.02, None)),
    ],
)
def test_the_size_of_a_number_has_an_interval_of_its_own(
    interval: tuple[float | None, float | None], size: tuple[float | None, float | None]
) -> None:
    assert absolute_value(-0.02, Interval(*interval)) == (0.02, Interval(*size))


def test_a_degradation_is_how_many_times_worse_whichever_way_is_better() -> None:
    hot, cold = (_values(80.0), LAUNCH), (_values(16.0, seed=2), LAUNCH)
    rates = degradation_across_param(hot, cold, "higher")
    assert rates.value == pytest.approx(5.0, rel=0.01)
    times = degradation_across_param(
        (1e9 / hot[0], LAUNCH), (1e9 / cold[0], LAUNCH), "lower"
    )
    assert times.value == pytest.approx(rates.value)


def test_gates_without_launches_or_samples_are_inconclusive() -> None:
    assert (
        "2 launches"
        in judge_gate(
            _values(1.0, n=40), np.repeat([0, 1], 20), "median", "<", 9.0
        ).reason
    )
    assert (
        judge_gate(np.array([]), np.array([]), "median", "<", 9.0).verdict
        == "inconclusive"
    )


def _count_passes(
    launch_noise: float, distance: float, jobs: int
) -> tuple[Counter[str], Counter[str]]:
    """Count how many gates pass whose true figure is as far on the good side of their level, and how many by samples
    alone."""
    rng = np.random.default_rng(40)
    passes: Counter[str] = Counter()
    former: Counter[str] = Counter()
    for _ in range(jobs):
        arm, base = job_cases(rng, 0.0, sigma=0.005, biased_share=0.0)
        shift = np.exp(rng.normal(0.0, launch_noise, 5))
        ratio = speedup_between_arms(
            replace(arm, value=arm.value * shift[arm.launch]), base
        )
        assert ratio.value is not None
        widened = widen_by_launches(ratio.interval, ratio.value, ratio.by_launch)
        for spans, span in ((passes, widened), (former, ratio.interval)):
            spans["ratio"] += (
                judge_level(ratio.value, span, ">=", 1.0 - distance)[0] == "pass"
            )
        blocks = rng.normal(0.0, 0.005, (5, 20)) + rng.normal(0.0, launch_noise, (5, 1))
        judge = partial(
            judge_gate, np.exp(blocks).ravel(), LAUNCH, "median", "<=", 1.0 + distance
        )
        passes["median"] += judge().verdict == "pass"
        former["median"] += judge(method=SAMPLES_METHOD).verdict == "pass"
    return passes, former


@pytest.mark.parametrize("launch_noise", [0.01, 0.03])
def test_of_gates_at_their_level_as_few_pass_as_is_said_however_launches_differ(
    launch_noise: float,
) -> None:
    """Each bound is wrong once in 100: in 400 jobs 4 times, and more than 11 times in 1 of 1,000 such tests."""
    passes, former = _count_passes(launch_noise, 0.0, 400)
    assert max(passes.values()) <= 11
    assert min(former.values()) >= 40
    assert min(_count_passes(launch_noise, 0.1, 100)[0].values()) >= 90


@pytest.mark.parametrize("statistic", ["median", "p90", "mean", "sd", "max"])
def test_a_gate_of_a_former_report_is_judged_by_its_samples_to_the_bit(
    statistic: str,
) -> None:
    values = _values(100.0) * np.repeat([1.0, 1.2, 0.9, 1.1, 1.0], 20)
    former = judge_gate(values, LAUNCH, statistic, "<=", 120.0, method=SAMPLES_METHOD)
    assert former.interval == interval_of(values, LAUNCH, statistic)
    now = judge_gate(values, LAUNCH, statistic, "<=", 120.0)
    # A spread is that of launches already, and an extreme is no estimate.
    assert (now == former) is (statistic in ("sd", "max"))


def test_a_gate_that_its_launches_leave_undecided_says_so() -> None:
    values = _values(100.0) * np.repeat([1.0, 1.2, 0.9, 1.1, 1.0], 20)
    launches = judge_gate(values, LAUNCH, "median", "<=", 115.0)
    assert launches.verdict == "inconclusive"
    assert "115: its launches differ too much, the interval [" in launches.reason
    assert launches.reason.endswith("] does not decide")
    samples = judge_gate(_values(100.0), LAUNCH, "median", "<=", 100.0)
    assert samples.verdict == "inconclusive"
    assert "launches" not in samples.reason


def test_launches_widen_no_interval_of_which_they_say_nothing() -> None:
    interval = Interval(0.9, 1.1)
    assert widen_by_launches(interval, 1.0, (0.5, 2.0)) == interval
    assert widen_by_launches(interval, 1.0, (1.0, 1.0, 1.0)) == interval
    nothing = Interval(None, None)
    assert widen_by_launches(nothing, 1.0, (0.5, 1.0, 2.0)) == nothing
    no_value = (1.0, 1.0, np.inf)
    assert widen_by_launches(interval, 1.0, no_value) == nothing


@pytest.mark.parametrize(("statistic", "op"), [("p99", "<="), ("p1", ">=")])
def test_launches_widen_the_one_bound_that_few_samples_give(
    statistic: str, op: Op
) -> None:
    """Such a gate can only fail: by samples alone it does, although its launches differ by more than the distance."""
    values = _values(100.0) * np.repeat([1.0, 1.2, 0.8, 1.1, 0.9], 20)
    level = 100.0 * (1.0 + (0.1 if op == "<=" else -0.1))
    judge = partial(judge_gate, values, LAUNCH, statistic, op, level)
    former, now = judge(method=SAMPLES_METHOD), judge()
    assert (former.verdict, now.verdict) == ("fail", "inconclusive")
    missing = "upper" if op == "<=" else "lower"
    assert getattr(now.interval, missing) is getattr(former.interval, missing) is None


def _at_launch(case: CaseSamples, number: int) -> CaseSamples:
    chosen = case.launch == number
    arrays = ("launch", "round", "position", "value", "warmup")
    return replace(case, **{name: getattr(case, name)[chosen] for name in arrays})


@pytest.mark.parametrize("formula", [overhead_between_arms, speedup_between_arms])
def test_a_ratio_of_arms_knows_what_each_launch_alone_gives(
    formula: Callable[[CaseSamples, CaseSamples], DerivedValue],
) -> None:
    arm, base = job_cases(np.random.default_rng(4), 0.4, sigma=0.005)
    alone = [
        formula(_at_launch(arm, number), _at_launch(base, number)).value
        for number in range(5)
    ]
    assert formula(arm, base).by_launch == pytest.approx(alone)


@pytest.mark.parametrize(
    "formula",
    [
        ratio_across_param,
        share_between_metrics,
        partial(degradation_across_param, direction="higher"),
        lambda warm, _: share_at_rate(warm, 100, 1000),
        lambda start, end: slope([(1.0, start), (10.0, end)]),
    ],
)
def test_a_figure_of_medians_knows_what_each_launch_alone_gives(
    formula: Callable[..., DerivedValue],
) -> None:
    """Of the launches that have all of its samples."""
    more_launches = np.repeat(np.arange(6), 20)
    first, second = _values(80.0), _values(16.0, n=120, seed=2)
    alone = []
    for number in range(5):
        own = number == LAUNCH
        other = more_launches == number
        warm = (first[own], LAUNCH[own]), (second[other], more_launches[other])
        alone.append(formula(*warm).value)
    whole = formula((first, LAUNCH), (second, more_launches))
    assert whole.by_launch == pytest.approx(alone)


def test_an_exponent_is_found_with_its_interval() -> None:
    points = [
        (float(x), (_values(7.0 * x**1.5, seed=x), LAUNCH)) for x in (10, 100, 1000)
    ]
    result = slope(points)
    assert result.value == pytest.approx(1.5, abs=0.01)
    assert result.interval.lower is not None
    assert result.interval.upper is not None
    assert result.interval.lower < 1.5 < result.interval.upper
    assert result.interval.upper - result.interval.lower < 0.02


def test_a_slope_needs_two_points_and_positive_params() -> None:
    warm = (_values(5.0), LAUNCH)
    assert slope([(10.0, warm)]).value is None
    assert slope([(0.0, warm), (10.0, warm)]).value is None


def test_a_ratio_across_a_param_is_a_ratio_of_medians() -> None:
    result = ratio_across_param(
        (_values(80.0), LAUNCH), (_values(16.0, seed=2), LAUNCH)
    )
    assert result.value == pytest.approx(0.2, rel=0.01)
    assert result.interval.lower is not None
    assert result.interval.lower < 0.2 < (result.interval.upper or 0)
    assert (
        ratio_across_param((np.array([]), np.array([])), (_values(1.0), LAUNCH)).value
        is None
    )


def test_overhead_is_paired_and_keeps_the_metrics_own_direction() -> None:
    arm, base = job_cases(np.random.default_rng(4), 0.4, sigma=0.005)
    result = overhead_between_arms(arm, base)
    assert result.value == pytest.approx(0.4, abs=0.02)
    higher = overhead_between_arms(
        replace(arm, direction="higher"), replace(base, direction="higher")
    )
    assert higher == result


@pytest.mark.parametrize(("blocks", "known"), [(9, False), (10, True)])
def test_the_interval_of_an_overhead_misses_once_in_five_hundred(
    blocks: int, known: bool
) -> None:
    """Smallest to largest of n blocks miss the median 2 · 2⁻ⁿ of the times: 1 in 256, 1 in 512."""
    drawn = job_cases(np.random.default_rng(4), 0.4, launches=1, rounds=blocks)
    assert (overhead_between_arms(*drawn).interval.lower is not None) is known


def ratio_of_means(
    numerator: Floats,
    numerator_launch: Ints,
    denominator: Floats,
    denominator_launch: Ints,
    confidence: float,
) -> Interval:
    return cluster_bootstrap(
        [(numerator, numerator_launch), (denominator, denominator_launch)],
        lambda groups: np.asarray(nan_mean(groups[0]) / nan_mean(groups[1])),
        confidence,
    )


def test_the_bootstrap_is_deterministic_and_wider_with_biased_launches() -> None:
    args = (_values(100.0), LAUNCH, _values(100.0, seed=2), LAUNCH, 0.95)
    first, again = ratio_of_means(*args), ratio_of_means(*args)
    assert first == again
    wider = ratio_of_means(np.where(LAUNCH == 0, args[0] * 1.1, args[0]), *args[1:])
    assert (wider.upper or 0) - (wider.lower or 0) > 4 * (
        (first.upper or 0) - (first.lower or 0)
    )


def test_the_ends_of_a_bootstrapped_interval_rest_on_two_replicates_each() -> None:
    """One would be the extreme of all that were drawn; more cost time that an interval which decides nothing
    is not worth."""
    drawn = cluster_replicates(
        [(_values(100.0), LAUNCH)], lambda groups: np.nanmean(groups[0], axis=1)
    )
    assert drawn is not None
    assert drawn.size * (1.0 - DERIVED_CONFIDENCE) / 2.0 == pytest.approx(2.0)


def test_a_launch_bias_is_in_the_bootstrap_as_the_simple_formula_says() -> None:
    """Launch means 110, 100, 100, 100, 100: the mean of 5 draws has sd 4/√5 = 1.79, so 95 % is about ± 3.5
    %."""
    result = ratio_of_means(
        np.repeat([110.0, 100, 100, 100, 100], 20), LAUNCH, np.ones(100), LAUNCH, 0.95
    )
    assert result.lower == 100.0
    assert result.upper == 106.0


def test_a_bootstrap_of_one_launch_has_no_bounds() -> None:
    single_launch = np.zeros(20, dtype=np.int64)
    assert (
        ratio_of_means(
            _values(1.0, n=20), single_launch, _values(1.0, n=20), single_launch, 0.95
        ).lower
        is None
    )


@pytest.mark.parametrize(
    ("actual", "op", "level", "standing", "reached"),
    [
        (10.0, "<=", 10.0, "pass", 1.0),
        (13.7, "<=", 10.0, "close", 0.7299),
        (28.2, "<=", 10.0, "below", 0.3546),
        (73.0, ">=", 100.0, "close", 0.73),
        (70.0, ">=", 100.0, "close", 0.70),
        (69.9, ">=", 100.0, "below", 0.699),
        (-1.0, "<", 0.05, "pass", None),
        (0.0, ">", 1.0, "below", None),
        (1.0, "<", 0.0, "below", None),
    ],
)
def test_a_figure_is_close_within_thirty_percent_of_its_level_as_speed(
    actual: float, op: Op, level: float, standing: str, reached: float | None
) -> None:
    assert standing_of(actual, op, level) == standing
    result = share_reached(actual, op, level)
    assert (
        result is None
        if reached is None
        else result == pytest.approx(reached, rel=1e-3)
    )
