"""The analysis of a job: what blocks it, what decides it, and what its report says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.compare import evidence_of, rederive
from paceline_server.detect.facts import (
    CaseIndex,
    JobFacts,
    JobIdentity,
    JobRequest,
    Look,
)
from paceline_server.ingest.cases import Check, Conditions
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
    found = _analyse(bench_cases(1, FASTER))
    assert found.verdict == "pass"
    assert found.reason == "2 comparisons hold"
    assert [row.verdict for row in found.report.comparisons] == ["pass", "pass"]
    assert found.report.comparisons[0].ratio == pytest.approx(0.5, rel=0.01)


def test_a_slower_arm_fails_and_is_said_in_words() -> None:
    found = _analyse(bench_cases(1, MIXED))
    assert found.verdict == "fail"
    assert found.reason.startswith("sort_batch batch=1000: native is 12.")
    assert "% slower than fallback (99.8 % interval: " in found.reason
    assert [row.verdict for row in found.report.comparisons] == ["fail", "pass"]


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
    found = _analyse(bench_cases(1, MIXED), checks=checks)
    assert (found.verdict, found.reason, found.extendable) == (
        "inconclusive",
        reason,
        False,
    )
    assert {(row.verdict, row.reason) for row in found.report.comparisons} == {
        ("inconclusive", reason)
    }


def test_an_unexpected_check_that_fails_blocks_too() -> None:
    found = _analyse(
        bench_cases(1, FASTER),
        checks=[*passed_checks([0]), Check(0, "other", False, "")],
    )
    assert found.verdict == "inconclusive"


def test_void_conditions_never_fail_a_job() -> None:
    hot = [Conditions("during", 5, {"thermal_status": 3})]
    found = _analyse(bench_cases(1, MIXED), conditions=hot)
    assert found.verdict == "inconclusive"
    assert "conditions void" in found.reason
    assert not found.extendable
    assert [void.code for void in found.voids] == ["thermal"]


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


def test_what_changed_between_two_attempts_voids_nothing() -> None:
    calm = [*_attempt(1, CALM, CALM), *_attempt(3, OTHER_DAY, OTHER_DAY)]
    assert _analyse(bench_cases(1, MIXED), conditions=calm).verdict == "fail"


@pytest.mark.parametrize("void", [1, 3])
def test_one_void_attempt_voids_the_job(void: int) -> None:
    """Over both attempts joined, the first reading equals the last: the drift inside one would be missed."""
    drifting = {**CALM, "calibration_ns": 1200.0}
    pairs = {
        1: (CALM, CALM),
        3: (CALM, CALM),
        void: (drifting, CALM) if void == 3 else (CALM, drifting),
    }
    taken = [one for number, pair in pairs.items() for one in _attempt(number, *pair)]
    found = _analyse(bench_cases(1, MIXED), conditions=taken)
    assert found.verdict == "inconclusive"
    assert [one.code for one in found.voids] == ["calibration"]


def test_an_operators_pressure_limit_is_honoured() -> None:
    busy = [Conditions("during", 5, {"psi_cpu_percent": 60.0})]
    assert _analyse(bench_cases(1, MIXED), conditions=busy).verdict == "inconclusive"
    raised = Look(limits=VoidLimits(pressure_percent=100.0))
    assert (
        _analyse(bench_cases(1, MIXED), conditions=busy, look=raised).verdict == "fail"
    )


def test_a_launch_that_broke_off_blocks_the_job() -> None:
    found = _analyse(bench_cases(1, FASTER), broken=["launch 3 crashed"])
    assert (found.verdict, found.reason) == ("inconclusive", "launch 3 crashed")


def test_nothing_measured_is_inconclusive_and_every_asked_group_is_listed() -> None:
    found = _analyse([])
    assert (found.verdict, found.reason) == ("inconclusive", "nothing was measured")
    assert [row.params for row in found.report.comparisons] == [
        {"batch": 1000},
        {"batch": 2000},
    ]
    assert {row.blocks for row in found.report.comparisons} == {0}


def test_an_arm_that_never_came_is_inconclusive_not_absent() -> None:
    cases = [
        case
        for case in bench_cases(1, FASTER)
        if (case.arm, case.params["batch"]) != ("native", 2000)
    ]
    found = _analyse(cases)
    assert found.verdict == "inconclusive"
    assert found.report.comparisons[1].reason == "native was not measured"
    assert not found.extendable


def test_only_what_was_asked_for_is_owed() -> None:
    found = _analyse(
        bench_cases(1, {2000: -0.6}), asked=JobRequest([BENCHMARK], {"batch": [2000]})
    )
    assert found.verdict == "pass"
    assert len(found.report.comparisons) == 1


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
    found = _analyse(bench_cases(4, {1000: 0.3, 2000: 0.02}))
    assert [row.verdict for row in found.report.comparisons] == ["fail", "inconclusive"]
    assert any(one.pair.found.extendable for one in found.ruled)
    assert (found.verdict, found.extendable) == ("fail", False)


def _never_settling(cases: list[CaseSamples]) -> list[CaseSamples]:
    """Both arms of launch 2 get faster from its first round to its last."""
    return [
        replace(
            one,
            value=np.where(
                one.launch == 2, one.value * np.exp(-0.05 * one.round), one.value
            ),
        )
        for one in cases
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
    moving = _never_settling(bench_cases(1, FASTER))
    found = _analyse(moving, manifest)
    assert {row.verdict for row in found.report.comparisons} == {"pass"}
    assert (found.verdict, found.extendable) == ("inconclusive", True)
    assert {"unsteady in 1 of 5 launches"} == {
        flag for row in found.report.measurements for flag in row.flags
    }
    assert evidence_of(found.ruled[0].pair)["window"]["unsteady"] == [2]
    assert not _analyse(moving, manifest, look=Look(1)).extendable
    assert not _analyse(bench_cases(1, FASTER), manifest).extendable


def test_a_job_that_passes_in_spite_of_an_unsteady_launch_is_final() -> None:
    found = _analyse(_never_settling(bench_cases(1, FASTER)))
    assert (found.verdict, found.extendable) == ("pass", False)


def test_the_last_look_is_never_extended() -> None:
    assert not _analyse(
        bench_cases(4, {1000: 0.02, 2000: 0.02}), look=Look(2)
    ).extendable


def test_an_arm_outside_every_rule_is_shown_and_decides_nothing() -> None:
    manifest = suite_manifest()
    manifest["rules"][0]["fails_run"] = False
    found = _analyse(bench_cases(1, MIXED), manifest)
    assert found.verdict == "pass"
    assert found.report.comparisons[0].verdict == "fail"


def test_without_rules_every_other_arm_is_watched() -> None:
    assert _analyse(bench_cases(1, MIXED), suite_manifest(rules=[])).verdict == "fail"


def test_a_time_below_a_nanosecond_is_not_judged() -> None:
    cases = [replace(case, value=case.value * 1e-13) for case in bench_cases(1, FASTER)]
    found = _analyse(cases)
    assert found.verdict == "inconclusive"
    assert "probably optimised away" in found.reason
    assert "probably optimised away" in found.report.measurements[0].flags


def test_gates_decide_and_stretch_levels_do_not() -> None:
    gate = {"benchmark": BENCHMARK, "arm": "native", "metric": "time", "op": "<="}
    manifest = suite_manifest(gates=[{**gate, "required": 1e15, "stretch": 1.0}])
    found = _analyse(bench_cases(1, FASTER), manifest)
    assert found.verdict == "pass"
    assert [(row.level, row.verdict) for row in found.report.gates] == [
        ("required", "pass"),
        ("stretch", "fail"),
        ("required", "pass"),
        ("stretch", "fail"),
    ]
    manifest = suite_manifest(
        gates=[{**gate, "params": {"batch": 2000}, "required": 1.0}]
    )
    found = _analyse(bench_cases(1, FASTER), manifest)
    assert found.verdict == "fail"
    assert "gate median of native time" in found.reason
    assert len(found.report.gates) == 1


def test_a_gate_on_an_arm_that_never_came_is_inconclusive() -> None:
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "op": "<=",
        "required": 1e15,
    }
    cases = [case for case in bench_cases(1, FASTER) if case.arm == "fallback"]
    found = _analyse(cases, suite_manifest(gates=[gate], rules=[]))
    assert {row.verdict for row in found.report.gates} == {"inconclusive"}


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
    found = _analyse(doubled, suite_manifest(derived=derived, gates=gates))
    values = {
        (row.name, row.params.get("batch")): row.value for row in found.report.derived
    }
    assert values[("growth", None)] == pytest.approx(2.0, rel=0.02)
    assert values[("exponent", None)] == pytest.approx(1.0, abs=0.03)
    assert values[("extra", 1000)] == pytest.approx(0.0, abs=0.02)
    assert [(row.statistic, row.verdict) for row in found.report.gates] == [
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
    asked = JobRequest([BENCHMARK], {"batch": [1000]})
    assert _analyse(fixed, asked=asked).verdict == "fail"
    crowd = _analyse(fixed, asked=asked, look=Look(other_p_values=(1.0,) * 99))
    assert crowd.verdict == "inconclusive"
    assert "does not stand out among 100 pairs" in crowd.reason


def test_evidence_makes_the_same_numbers_again() -> None:
    cases = bench_cases(1, MIXED, sigma=0.02)
    found = _analyse(cases, look=Look(1, (0.2, 0.7)))
    index = CaseIndex.of(cases)
    for one in found.ruled:
        pair = one.pair
        arm = index.get(pair.group.benchmark, pair.group.params, pair.metric, pair.arm)
        reference = index.get(
            pair.group.benchmark, pair.group.params, pair.metric, pair.reference
        )
        assert arm is not None
        assert reference is not None
        assert rederive(evidence_of(pair), arm, reference) == pair.found


def test_making_a_verdict_again_uses_the_stored_numbers_not_todays() -> None:
    cases = bench_cases(1, {1000: 0.126})
    asked = JobRequest([BENCHMARK], {"batch": [1000]})
    pair = _analyse(cases, asked=asked).ruled[0].pair
    evidence = evidence_of(pair)
    evidence["parameters"]["policy"] |= {"min_blocks": 1000, "margin_percent": 50.0}
    again = rederive(evidence, cases[0], cases[1])
    assert (again.verdict, again.insufficient) == ("inconclusive", True)
    assert again.above_margin == 0
    assert again.ratio == pair.found.ratio
