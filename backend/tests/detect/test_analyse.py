"""Tests the analysis of a job: what blocks it, what decides it, and its report."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paceline_contract.manifest_reader import read_manifest
from paceline_contract.units import quantity
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.compare import evidence_of, rederive
from paceline_server.detect.facts import (
    CaseIndex,
    JobFacts,
    JobIdentity,
    JobRequest,
    Look,
)
from paceline_server.detect.reasons import reasons_of
from paceline_server.detect.schemas import JobReportOut
from paceline_server.ingest.cases import Check, Conditions
from paceline_server.stats import gates
from paceline_server.stats.paired import (
    BOUNDING_METHOD,
    METHOD,
    SHARE_METHOD,
    VOIDING_METHOD,
)
from paceline_server.stats.samples import CaseSamples
from paceline_server.stats.voids import VoidLimits
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    CHECK,
    bench_cases,
    passed_checks,
    suite_manifest,
)

IDENTITY = JobIdentity("sorting", "4f" * 20, "a" * 64, "bench-host", None)
FASTER = {1000: -0.5, 2000: -0.6}
MIXED = {1000: 0.126, 2000: -0.6}
CLEAR = {1000: 0.5, 2000: -0.6}
"""Beyond what the neighbours of `BUSY` may do to arms of different code."""


def _analyse(
    cases: list[CaseSamples],
    manifest: dict[str, Any] | None = None,
    asked: JobRequest | None = None,
    **facts: Any,
) -> Analysis:
    facts.setdefault("checks", passed_checks(range(5)))
    look = facts.pop("look", None)
    return analyse(
        read_manifest(manifest or suite_manifest()),
        JobFacts(cases, **facts),
        IDENTITY,
        asked,
        look,
    )


def test_a_faster_arm_passes() -> None:
    analysis = _analyse(bench_cases(1, FASTER))
    assert analysis.verdict == "pass"
    assert analysis.reason == "2 comparisons hold"
    assert [row.verdict for row in analysis.report.comparisons] == ["pass", "pass"]
    assert analysis.report.comparisons[0].ratio == pytest.approx(0.5, rel=0.01)


def test_a_slower_arm_fails_with_a_worded_reason() -> None:
    analysis = _analyse(bench_cases(1, MIXED))
    assert analysis.verdict == "fail"
    assert analysis.reason.startswith("sort_batch batch=1000: native is 12.")
    assert "% slower than fallback (99.8 % interval: " in analysis.reason
    assert [row.verdict for row in analysis.report.comparisons] == ["fail", "pass"]


def test_the_report_describes_every_case_once() -> None:
    report = _analyse(bench_cases(1, MIXED)).report
    assert [(row.params["batch"], row.arm) for row in report.measurements] == [
        (1000, "fallback"),
        (1000, "native"),
        (2000, "fallback"),
        (2000, "native"),
    ]
    assert {(row.n, row.launches) for row in report.measurements} <= {
        (n, 5) for n in range(50, 101)
    }


@pytest.mark.parametrize(
    ("checks", "reason"),
    [
        (
            [Check(0, CHECK, True, ""), Check(3, CHECK, False, "3 before 2")],
            f"check {CHECK} failed: 3 before 2",
        ),
        ([], f"check {CHECK} failed: expected, but no launch reported it"),
    ],
)
def test_a_failed_or_missing_check_makes_everything_inconclusive(
    checks: list[Check], reason: str
) -> None:
    analysis = _analyse(bench_cases(1, MIXED), checks=checks)
    assert (analysis.verdict, analysis.reason, analysis.extendable) == (
        "inconclusive",
        reason,
        False,
    )
    assert {(row.verdict, row.reason) for row in analysis.report.comparisons} == {
        ("inconclusive", reason)
    }


def test_an_unexpected_check_that_fails_blocks_too() -> None:
    analysis = _analyse(
        bench_cases(1, FASTER),
        checks=[*passed_checks([0]), Check(0, "other", False, "")],
    )
    assert analysis.verdict == "inconclusive"


def test_void_conditions_never_fail_a_job() -> None:
    hot = [Conditions("during", 5, {"thermal_status": 3})]
    analysis = _analyse(bench_cases(1, MIXED), conditions=hot)
    assert analysis.verdict == "inconclusive"
    assert "conditions void" in analysis.reason
    assert not analysis.extendable
    assert [void.code for void in analysis.voids] == ["thermal"]


CALM: dict[str, Any] = {
    "boot_id": "a",
    "calibration_ns": 1000.0,
    "cpus_online": 8,
    "throttle_count": 3,
}
OTHER_DAY: dict[str, Any] = {
    "boot_id": "b",
    "calibration_ns": 1200.0,
    "cpus_online": 4,
    "throttle_count": 9,
}


def _attempt(
    number: int, first: dict[str, Any], last: dict[str, Any]
) -> list[Conditions]:
    return [
        Conditions("before", 0, first, number),
        Conditions("after", 9, last, number),
    ]


def test_a_change_between_two_attempts_voids_nothing() -> None:
    calm = [*_attempt(1, CALM, CALM), *_attempt(3, OTHER_DAY, OTHER_DAY)]
    assert _analyse(bench_cases(1, MIXED), conditions=calm).verdict == "fail"


@pytest.mark.parametrize("void", [1, 3])
def test_one_disturbed_attempt_disturbs_the_job(void: int) -> None:
    """Over both attempts joined, the first reading equals the last: the drift inside one would be missed."""
    drifting = {**CALM, "calibration_ns": 1200.0}
    pairs = {
        1: (CALM, CALM),
        3: (CALM, CALM),
        void: (drifting, CALM) if void == 3 else (CALM, drifting),
    }
    taken = [
        reading for number, pair in pairs.items() for reading in _attempt(number, *pair)
    ]
    analysis = _analyse(bench_cases(1, MIXED), conditions=taken)
    assert analysis.verdict == "fail", (
        "12.6 % are less than the drift, but both arms shared it"
    )
    assert min(row.extra_percent for row in analysis.report.comparisons) > 0.0
    assert [one.code for one in analysis.disturbance.conditions] == ["calibration"]
    assert analysis.voids == ()


BUSY = [Conditions("during", 5, {"workload_wait_percent": 60.0})]
DRIFTED = [
    Conditions("before", 0, {"calibration_ns": 33_640.0}),
    Conditions("after", 9, {"calibration_ns": 38_400.0}),
]
LIMIT = {
    "benchmark": BENCHMARK,
    "arm": "native",
    "metric": "time",
    "statistic": "median",
    "op": "<=",
    "required": 1e15,
}


def test_a_clear_ratio_is_decided_on_a_busy_host_and_says_so() -> None:
    analysis = _analyse(bench_cases(1, CLEAR), conditions=BUSY)
    assert analysis.verdict == "fail"
    assert [row.verdict for row in analysis.report.comparisons] == ["fail", "pass"]
    assert all(
        row.words.endswith(", on a busy host") for row in analysis.report.comparisons
    )
    assert analysis.reason.endswith(", on a busy host")
    assert analysis.report.disturbances == [
        "disturbed: the workload waited for a CPU 60.0 % of the time, limit 5 %"
    ]


def test_a_ratio_of_arms_that_neighbours_alone_may_have_made_is_undecided() -> None:
    analysis = _analyse(bench_cases(1, MIXED), conditions=BUSY)
    assert [row.verdict for row in analysis.report.comparisons] == [
        "inconclusive",
        "pass",
    ]
    assert analysis.verdict == "inconclusive"
    assert analysis.report.comparisons[0].reason == (
        "the interval is not clear of the 2 % margin and the 27.1 % more that are demanded on a busy host"
    )


def test_a_level_is_not_judged_on_a_busy_host() -> None:
    manifest = suite_manifest(gates=[LIMIT])
    assert _analyse(bench_cases(1, FASTER), manifest).verdict == "pass"
    analysis = _analyse(bench_cases(1, FASTER), manifest, conditions=BUSY)
    assert analysis.verdict == "inconclusive"
    assert {gate.verdict for gate in analysis.report.gates} == {"inconclusive"}
    (reason,) = reasons_of(analysis.report)
    assert (reason.kind, reason.count, len(reason.cases)) == ("gate", 2, 2)
    assert reason.cause == (
        "a level is not judged on a busy host: the workload waited for a CPU 60.0 % of the time, limit 5 %"
    )
    assert "PACELINE_PRESSURE_LIMIT_PERCENT" in (reason.next_step or "")


@pytest.mark.parametrize(
    ("conditions", "required", "verdict"),
    [
        ("drifting", 1.5, "pass"),
        ("drifting", 1.9, "inconclusive"),
        ("drifting", 3.0, "fail"),
        ("busy", 1.4, "pass"),
        ("busy", 1.75, "inconclusive"),
    ],
)
def test_a_gate_on_a_ratio_of_arms_must_clear_the_extra_margin(
    conditions: str, required: float, verdict: str
) -> None:
    """The arm is twice as fast, and the host drifted by 14 %, or arms of different code waited for 60 % of the time."""
    readings, limit = {"drifting": (DRIFTED, "DRIFT"), "busy": (BUSY, "PRESSURE")}[
        conditions
    ]
    derived = {
        "name": "gain",
        "kind": "speedup_between_arms",
        "benchmark": BENCHMARK,
        "arm": "native",
        "base_arm": "fallback",
        "metric": "time",
    }
    gate = {"derived": "gain", "op": ">=", "required": required}
    manifest = suite_manifest(derived=[derived], gates=[gate])
    twice = {1000: -0.5, 2000: -0.5}
    analysis = _analyse(bench_cases(1, twice), manifest, conditions=readings)
    assert {gate.verdict for gate in analysis.report.gates} == {verdict}
    assert all(f"on a {conditions} host" in row.reason for row in analysis.report.gates)
    assert analysis.verdict == verdict
    if verdict == "inconclusive":
        (reason, *_) = reasons_of(analysis.report)
        assert f"PACELINE_{limit}_LIMIT_PERCENT" in (reason.next_step or "")


def test_the_next_step_of_a_gate_whose_interval_does_not_decide_is_more_launches() -> (
    None
):
    far = _analyse(bench_cases(1, FASTER), suite_manifest(gates=[LIMIT])).report
    at_the_slowest = max(gate.actual or 0.0 for gate in far.gates)
    level = {**LIMIT, "required": at_the_slowest}
    analysis = _analyse(bench_cases(1, FASTER), suite_manifest(gates=[level]))
    (reason,) = reasons_of(analysis.report)
    assert reason.cause.endswith("does not decide")
    assert "--launches" in (reason.next_step or "")


def test_every_cause_is_said_once_with_all_of_its_cases_and_a_next_step() -> None:
    near = {1000: 0.02, 2000: 0.02}
    analysis = _analyse(bench_cases(1, near, sigma=0.05))
    (reason,) = reasons_of(analysis.report)
    assert reason.cause == "the interval crosses the 2 % margin"
    assert reason.cases == [
        f"{BENCHMARK} batch={batch}: native"
        for batch in sorted(
            (1000, 2000),
            key=lambda batch: (
                -next(
                    row.ratio or 0.0
                    for row in analysis.report.comparisons
                    if row.params["batch"] == batch
                )
            ),
        )
    ]
    assert (
        analysis.reason
        == reason.text
        == f"{reason.cases[0]} - {reason.cause} (and 1 more)"
    )


def test_the_next_step_of_an_undecided_comparison_is_the_number_of_launches() -> None:
    analysis = _analyse(bench_cases(1, FASTER, launches=2, rounds=30))
    (reason,) = reasons_of(analysis.report)
    assert reason.launches == 3
    assert reason.next_step == "Repeat with 3 launches (`--launches 3`)."


def test_two_blockers_are_two_reasons_and_neither_is_hidden() -> None:
    hot = [Conditions("during", 5, {"thermal_status": 3})]
    analysis = _analyse(
        bench_cases(1, MIXED), conditions=hot, broken=["launch 3 crashed"]
    )
    first, second = reasons_of(analysis.report)
    assert (first.text, second.kind) == ("launch 3 crashed", "blocker")
    assert analysis.reason == f"{first.text}; {second.text}"
    assert second.next_step


def test_the_former_method_still_voids_what_now_disturbs() -> None:
    """A stored report names its method, and is judged again by it."""
    former = Look(method=VOIDING_METHOD)
    analysis = _analyse(bench_cases(1, MIXED), conditions=BUSY, look=former)
    assert (analysis.verdict, analysis.report.method) == (
        "inconclusive",
        VOIDING_METHOD,
    )
    assert [void.code for void in analysis.voids] == ["pressure"]
    again = _analyse(bench_cases(1, MIXED), conditions=BUSY)
    assert again.report.method == METHOD != VOIDING_METHOD


@pytest.mark.parametrize(
    ("method", "conditions", "ratio"),
    [
        (BOUNDING_METHOD, BUSY, math.exp(0.06)),
        (BOUNDING_METHOD, DRIFTED, 38_400 / 33_640),
        (SHARE_METHOD, BUSY, math.exp(0.03)),
    ],
)
def test_each_former_method_demands_the_extra_margin_of_its_time(
    method: str, conditions: list[Conditions], ratio: float
) -> None:
    """The same for all pairs of a job; today's differs, for arms of different code and for each pair that drifts."""
    cases = bench_cases(1, MIXED)
    former = _analyse(cases, conditions=conditions, look=Look(method=method))
    assert former.report.method == method
    (extra,) = {row.extra_percent for row in former.report.comparisons}
    assert extra == pytest.approx(100 * (ratio - 1))
    now = _analyse(cases, conditions=conditions)
    assert extra not in {row.extra_percent for row in now.report.comparisons}


def _noisy_job() -> tuple[list[CaseSamples], dict[str, Any], JobRequest]:
    """Return 12 pairs whose native arm is 7 % slower in the mean, and by 3 % more or less in each launch."""
    batches = list(range(1000, 1012))
    manifest = suite_manifest()
    manifest["benchmarks"][BENCHMARK]["params"]["batch"]["values"] = batches
    rng = np.random.default_rng(3)
    cases = [
        case
        if case.arm == "fallback"
        else replace(
            case, value=case.value * np.exp(rng.normal(0.0, 0.03, 5))[case.launch]
        )
        for case in bench_cases(1, dict.fromkeys(batches, 0.07))
    ]
    return cases, manifest, JobRequest([BENCHMARK], {"batch": batches})


def test_gates_are_judged_by_the_method_of_their_report() -> None:
    """Gates on levels and on ratios of arms; a report of before gates had a method is of the first."""
    cases, manifest, request = _noisy_job()
    derived = {
        "name": "gain",
        "kind": "speedup_between_arms",
        "benchmark": BENCHMARK,
        "metric": "time",
        "arm": "native",
        "base_arm": "fallback",
    }
    ratio = {"derived": "gain", "op": ">=", "required": 0.92}
    manifest |= {"derived": [derived], "gates": [LIMIT, ratio]}
    former_look = Look(gate_method=gates.SAMPLES_METHOD)
    former = _analyse(cases, manifest, request, look=former_look).report
    now = _analyse(cases, manifest, request).report
    for by_samples, by_launches in zip(former.gates, now.gates, strict=True):
        assert (by_samples.lower or 0.0) > (by_launches.lower or 0.0)
        assert (by_samples.upper or 0.0) < (by_launches.upper or 0.0)
        assert by_samples.actual == by_launches.actual
    assert former.derived == now.derived
    spans = {(row.value, row.lower, row.upper) for row in former.derived}
    assert spans == {
        (row.actual, row.lower, row.upper) for row in former.gates if row.derived
    }
    assert now.gate_method == gates.METHOD
    stored = former.model_dump(mode="json")
    assert stored.pop("gate_method") == JobReportOut.model_validate(stored).gate_method


def test_a_gate_that_stopped_by_the_former_method_is_judged_as_it_was() -> None:
    """Of a stopped job, by the interval of all of its launches, of which a level needs three."""
    request = JobRequest(launches=5, rounds=20, stop_when_sure=True)
    manifest = suite_manifest(gates=[LIMIT])
    cases = bench_cases(1, FASTER, launches=2)
    former = _analyse(
        cases, manifest, request, look=Look(gate_method=gates.SAMPLES_METHOD)
    )
    now = _analyse(cases, manifest, request)
    for was, gate in zip(former.report.gates, now.report.gates, strict=True):
        assert was.reason == "insufficient: 2 launches; a gate needs at least 3"
        assert "in each of 2 of 5 launches" in gate.reason
        assert gate.actual is not None
        assert gate.reason.startswith(quantity(gate.actual, "ns", 6))
    assert former.report.comparisons == now.report.comparisons


@pytest.mark.parametrize("method", [SHARE_METHOD, BOUNDING_METHOD, VOIDING_METHOD])
def test_the_methods_before_launches_were_weighed_call_noisy_launches_slower(
    method: str,
) -> None:
    cases, manifest, request = _noisy_job()
    former = _analyse(cases, manifest, request, look=Look(method=method))
    verdicts = [row.verdict for row in former.report.comparisons]
    assert verdicts.count("fail") >= 10
    for ruled in former.ruled:
        assert ruled.pair.policy.launch_certainty is None


def test_the_pairs_of_a_job_say_together_how_much_launches_differ() -> None:
    """And each is made again with what they said."""
    cases, manifest, request = _noisy_job()
    analysis = _analyse(cases, manifest, request)
    (noise,) = {ruled.pair.policy.launch_noise for ruled in analysis.ruled}
    assert noise == pytest.approx(0.03, rel=0.4)
    verdicts = [row.verdict for row in analysis.report.comparisons]
    assert verdicts.count("inconclusive") >= 8, "one batch says too little"
    by_key = CaseIndex.of(cases)
    for ruled in analysis.ruled:
        pair = ruled.pair
        sides = [
            by_key.get(BENCHMARK, pair.group.params, "time", arm)
            for arm in ("native", "fallback")
        ]
        assert sides[0] is not None
        assert sides[1] is not None
        assert rederive(evidence_of(pair), sides[0], sides[1]) == pair.outcome


def test_an_operators_pressure_limit_is_honoured() -> None:
    """Up to it no extra margin is demanded, and levels are judged."""
    manifest = suite_manifest(gates=[LIMIT])
    raised = Look(limits=VoidLimits(pressure_percent=100.0))
    analysis = _analyse(bench_cases(1, FASTER), manifest, conditions=BUSY, look=raised)
    assert (analysis.verdict, analysis.report.disturbances) == ("pass", [])


def test_a_launch_that_broke_off_blocks_the_job() -> None:
    analysis = _analyse(bench_cases(1, FASTER), broken=["launch 3 crashed"])
    assert (analysis.verdict, analysis.reason) == ("inconclusive", "launch 3 crashed")


def test_nothing_measured_is_inconclusive_and_every_requested_group_is_listed() -> None:
    analysis = _analyse([])
    assert (analysis.verdict, analysis.reason) == (
        "inconclusive",
        "nothing was measured",
    )
    assert [row.params for row in analysis.report.comparisons] == [
        {"batch": 1000},
        {"batch": 2000},
    ]
    assert {row.blocks for row in analysis.report.comparisons} == {0}


def test_an_arm_without_samples_is_listed_as_inconclusive() -> None:
    cases = [
        case
        for case in bench_cases(1, FASTER)
        if (case.arm, case.params["batch"]) != ("native", 2000)
    ]
    analysis = _analyse(cases)
    assert analysis.verdict == "inconclusive"
    assert analysis.report.comparisons[1].reason == "native was not measured"
    assert not analysis.extendable


def test_only_requested_groups_are_expected() -> None:
    analysis = _analyse(
        bench_cases(1, {2000: -0.6}), asked=JobRequest([BENCHMARK], {"batch": [2000]})
    )
    assert analysis.verdict == "pass"
    assert len(analysis.report.comparisons) == 1


def test_undecided_is_extendable_but_a_quick_look_is_not() -> None:
    at_margin = bench_cases(4, {1000: 0.02, 2000: -0.5})
    assert _analyse(at_margin).extendable
    few = bench_cases(4, FASTER, launches=2, rounds=5)
    assert _analyse(few).extendable
    quick = _analyse(few, asked=JobRequest(launches=2, rounds=5))
    assert (quick.verdict, quick.extendable) == ("inconclusive", False)
    assert "insufficient: 10 blocks in 2 launches" in quick.reason


def test_a_decided_fail_is_final_whatever_else_is_undecided() -> None:
    """A further look spends another alpha: asking again after a fail would be a second chance to pass."""
    analysis = _analyse(bench_cases(4, {1000: 0.3, 2000: 0.02}))
    assert [row.verdict for row in analysis.report.comparisons] == [
        "fail",
        "inconclusive",
    ]
    assert any(judged.pair.outcome.extendable for judged in analysis.ruled)
    assert (analysis.verdict, analysis.extendable) == ("fail", False)


def cases_that_never_settle(cases: list[CaseSamples]) -> list[CaseSamples]:
    """Both arms of launch 2 get faster from its first round to its last."""
    return [
        replace(
            case,
            value=np.where(
                case.launch == 2, case.value * np.exp(-0.05 * case.round), case.value
            ),
        )
        for case in cases
    ]


def test_an_unsteady_launch_lets_an_undecided_job_be_extended_once_and_is_flagged() -> (
    None
):
    """The pairs pass on the blocks kept; a p99 gate cannot be decided on so few samples."""
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "op": "<",
        "required": 1e15,
    }
    manifest = suite_manifest(gates=[{**gate, "statistic": "p99"}])
    moving = cases_that_never_settle(bench_cases(1, FASTER))
    analysis = _analyse(moving, manifest)
    assert {row.verdict for row in analysis.report.comparisons} == {"pass"}
    assert (analysis.verdict, analysis.extendable) == ("inconclusive", True)
    assert {"unsteady in 1 of 5 launches"} == {
        flag for row in analysis.report.measurements for flag in row.flags
    }
    assert evidence_of(analysis.ruled[0].pair)["window"]["unsteady"] == [2]
    assert not _analyse(moving, manifest, look=Look(1)).extendable
    assert not _analyse(bench_cases(1, FASTER), manifest).extendable


def test_a_job_that_passes_in_spite_of_an_unsteady_launch_is_final() -> None:
    analysis = _analyse(cases_that_never_settle(bench_cases(1, FASTER)))
    assert (analysis.verdict, analysis.extendable) == ("pass", False)


def test_the_last_look_is_never_extended() -> None:
    assert not _analyse(
        bench_cases(4, {1000: 0.02, 2000: 0.02}), look=Look(2)
    ).extendable


def test_an_arm_outside_every_rule_is_shown_and_decides_nothing() -> None:
    manifest = suite_manifest()
    manifest["rules"][0]["fails_run"] = False
    analysis = _analyse(bench_cases(1, MIXED), manifest)
    assert analysis.verdict == "pass"
    assert analysis.report.comparisons[0].verdict == "fail"


def test_without_rules_every_other_arm_is_watched() -> None:
    assert _analyse(bench_cases(1, MIXED), suite_manifest(rules=[])).verdict == "fail"


def test_a_time_below_a_nanosecond_is_not_judged() -> None:
    cases = [replace(case, value=case.value * 1e-13) for case in bench_cases(1, FASTER)]
    analysis = _analyse(cases)
    assert analysis.verdict == "inconclusive"
    assert "probably optimised away" in analysis.reason
    assert "probably optimised away" in analysis.report.measurements[0].flags


def test_gates_decide_and_stretch_levels_do_not() -> None:
    gate = {"benchmark": BENCHMARK, "arm": "native", "metric": "time", "op": "<="}
    manifest = suite_manifest(gates=[{**gate, "required": 1e15, "stretch": 1.0}])
    analysis = _analyse(bench_cases(1, FASTER), manifest)
    assert analysis.verdict == "pass"
    assert [(row.level, row.verdict) for row in analysis.report.gates] == [
        ("required", "pass"),
        ("stretch", "fail"),
        ("required", "pass"),
        ("stretch", "fail"),
    ]
    assert "<= 1e+06 s holds" in analysis.report.gates[0].reason
    manifest = suite_manifest(
        gates=[{**gate, "params": {"batch": 2000}, "required": 1.0}]
    )
    analysis = _analyse(bench_cases(1, FASTER), manifest)
    assert analysis.verdict == "fail"
    assert "native, gate median of time: " in analysis.reason
    assert len(analysis.report.gates) == 1


def test_a_gate_on_an_arm_without_samples_is_inconclusive() -> None:
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "op": "<=",
        "required": 1e15,
    }
    cases = [case for case in bench_cases(1, FASTER) if case.arm == "fallback"]
    analysis = _analyse(cases, suite_manifest(gates=[gate], rules=[]))
    assert {row.verdict for row in analysis.report.gates} == {"inconclusive"}


def test_derived_metrics_and_their_gates() -> None:
    derived = [
        {
            "name": "growth",
            "kind": "ratio_across_param",
            "benchmark": BENCHMARK,
            "metric": "time",
            "arm": "native",
            "param": "batch",
            "from": 1000,
            "to": 2000,
        },
        {
            "name": "extra",
            "kind": "overhead_between_arms",
            "benchmark": BENCHMARK,
            "metric": "time",
            "arm": "native",
            "base_arm": "fallback",
        },
        {
            "name": "exponent",
            "kind": "slope",
            "benchmark": BENCHMARK,
            "metric": "time",
            "arm": "fallback",
            "param": "batch",
        },
    ]
    cases = bench_cases(1, FASTER)
    doubled = [
        replace(
            case,
            value=1e3 * int(case.params["batch"]) * case.value / np.median(case.value),
        )
        for case in cases
    ]
    gates = [
        {"derived": "growth", "op": "<=", "required": 2.5},
        {"derived": "extra", "op": "<", "required": -0.9},
    ]
    analysis = _analyse(doubled, suite_manifest(derived=derived, gates=gates))
    values = {
        (row.name, row.params.get("batch")): row.value
        for row in analysis.report.derived
    }
    assert values[("growth", None)] == pytest.approx(2.0, rel=0.02)
    assert values[("exponent", None)] == pytest.approx(1.0, abs=0.03)
    assert values[("extra", 1000)] == pytest.approx(0.0, abs=0.02)
    assert [(row.statistic, row.verdict) for row in analysis.report.gates] == [
        ("growth", "pass"),
        ("extra", "fail"),
        ("extra", "fail"),
    ]


def test_other_pairs_of_the_run_count_against_a_lone_finding() -> None:
    """One pair at p ≈ 0.0004 among thousands of others stands out no more."""
    d = np.zeros(100)
    d[np.argsort(np.arange(100) % 20, kind="stable")[:67]] = 0.05
    cases = bench_cases(1, {1000: 0.0})
    fixed = [
        replace(case, value=np.where(case.warmup, 1e6, 1e6), launch=case.launch)
        for case in cases
    ]
    at = ~fixed[0].warmup
    value = fixed[0].value.copy()
    value[at] = 1e6 * np.exp(d)
    fixed[0] = replace(fixed[0], value=value)
    request = JobRequest([BENCHMARK], {"batch": [1000]})
    assert _analyse(fixed, asked=request).verdict == "fail"
    crowd = _analyse(fixed, asked=request, look=Look(other_p_values=(1.0,) * 99))
    assert crowd.verdict == "inconclusive"
    assert "does not stand out among the 100 pairs" in crowd.reason


def test_evidence_recomputes_the_same_numbers() -> None:
    cases = bench_cases(1, MIXED, sigma=0.02)
    analysis = _analyse(cases, look=Look(1, (0.2, 0.7)))
    index = CaseIndex.of(cases)
    for judged in analysis.ruled:
        pair = judged.pair
        arm = index.get(pair.group.benchmark, pair.group.params, pair.metric, pair.arm)
        reference = index.get(
            pair.group.benchmark, pair.group.params, pair.metric, pair.reference
        )
        assert arm is not None
        assert reference is not None
        assert rederive(evidence_of(pair), arm, reference) == pair.outcome


def test_recomputing_a_verdict_uses_the_stored_parameters() -> None:
    cases = bench_cases(1, {1000: 0.126})
    request = JobRequest([BENCHMARK], {"batch": [1000]})
    pair = _analyse(cases, asked=request).ruled[0].pair
    evidence = evidence_of(pair)
    evidence["parameters"]["policy"] |= {"min_blocks": 1000, "margin_percent": 50.0}
    again = rederive(evidence, cases[0], cases[1])
    assert (again.verdict, again.insufficient) == ("inconclusive", True)
    assert again.above_margin == 0
    assert again.ratio == pair.outcome.ratio


def test_a_finding_of_before_extra_margins_is_made_again_without_one() -> None:
    cases = bench_cases(1, {1000: 0.126})
    request = JobRequest([BENCHMARK], {"batch": [1000]})
    pair = _analyse(cases, asked=request).ruled[0].pair
    evidence = evidence_of(pair)
    assert evidence["method"] == METHOD
    for name in ("extra_percent", "drift_percent", "disturbed"):
        del evidence["parameters"]["policy"][name]
    assert rederive(evidence, cases[0], cases[1]) == pair.outcome


def test_a_disturbed_finding_is_made_again_with_its_extra_margin() -> None:
    cases = bench_cases(1, {1000: 0.126})
    request = JobRequest([BENCHMARK], {"batch": [1000]})
    for conditions in (BUSY, DRIFTED):
        pair = _analyse(cases, asked=request, conditions=conditions).ruled[0].pair
        assert pair.policy.extra_percent > 0
        assert rederive(evidence_of(pair), cases[0], cases[1]) == pair.outcome
