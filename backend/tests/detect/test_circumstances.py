"""Defects of a protocol and limits of a target never cause a silent pass or a false alarm."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.compare import evidence_of
from paceline_server.detect.facts import JobFacts, JobIdentity
from paceline_server.detect.judge import judge
from paceline_server.detect.unavailable import no_arm_sentence
from paceline_server.ingest.cases import Case
from paceline_server.stats.samples import CaseSamples
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    audit_again,
    bench_cases,
    passed_checks,
    suite_manifest,
    write_directory,
)

IDENTITY = JobIdentity("sorting", "4f" * 20, None, "bench-host", None)
FASTER = {1000: -0.5, 2000: -0.6}
SLOWER = {1000: 0.2, 2000: 0.2}
REASON = "this CPU has no AVX-512"


def analyse_job(
    cases: list[CaseSamples], manifest: dict[str, Any] | None = None, **facts: Any
) -> Analysis:
    facts.setdefault("checks", passed_checks(range(5)))
    return analyse(
        read_manifest(manifest or suite_manifest()), JobFacts(cases, **facts), IDENTITY
    )


def case(arm: str, batch: int, unavailable: str | None = None) -> Case:
    return Case(
        0,
        BENCHMARK,
        arm,
        {"batch": batch},
        (("time", "ns", "lower"),),
        None,
        None,
        unavailable,
    )


def without(
    cases: list[CaseSamples], arm: str, batch: int | None = None
) -> list[CaseSamples]:
    return [
        case
        for case in cases
        if case.arm != arm or batch not in (None, case.params["batch"])
    ]


def native_first(cases: list[CaseSamples]) -> list[CaseSamples]:
    return [
        replace(
            case, position=np.full(case.position.size, 0 if case.arm == "native" else 1)
        )
        for case in cases
    ]


# --- defects -----------------------------------------------------------------------------------


def test_a_defective_protocol_never_fails_a_run_and_its_names_are_the_reason() -> None:
    analysis = analyse_job(native_first(bench_cases(1, SLOWER)))
    assert (analysis.verdict, analysis.extendable) == ("inconclusive", False)
    assert "order_unbalanced" in analysis.reason
    assert {row.verdict for row in analysis.report.comparisons} == {"inconclusive"}
    assert all("order_unbalanced" in row.reason for row in analysis.report.comparisons)


def test_a_defective_protocol_never_passes_either() -> None:
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "op": "<=",
        "required": 1e15,
    }
    built = [
        replace(
            case,
            iterations=np.ones(case.value.size, dtype=np.int64),
            work={"prepared": np.ones(case.value.size, dtype=np.int64)},
        )
        for case in bench_cases(1, FASTER)
    ]
    analysis = analyse_job(built, suite_manifest(gates=[gate]))
    assert analysis.verdict == "inconclusive"
    assert {gate.verdict for gate in analysis.report.gates} == {"inconclusive"}
    assert all("preparation_in_timer" in gate.reason for gate in analysis.report.gates)


def test_too_few_and_unsteady_are_reported_without_withdrawing_a_verdict() -> None:
    analysis = analyse_job(
        [
            replace(case, value=case.value * 1.001**case.round)
            for case in bench_cases(1, FASTER)
        ]
    )
    names = {finding.name for row in analysis.report.audits for finding in row.findings}
    assert names <= {"unsteady"}
    assert analysis.verdict == "pass"
    few = analyse_job(bench_cases(1, FASTER, launches=2, rounds=5))
    assert {finding.name for row in few.report.audits for finding in row.findings} == {
        "too_few"
    }
    assert "insufficient" in few.reason
    assert few.extendable


def test_an_audit_is_recomputed_from_stored_evidence() -> None:
    cases = native_first(bench_cases(1, SLOWER))
    pair = analyse_job(cases).ruled[0].pair
    stored = json.loads(json.dumps(evidence_of(pair)))["audit"]
    group = [case for case in cases if case.params == pair.group.params]
    assert [
        finding.as_dict() for finding in audit_again(stored, group, "fallback")
    ] == stored["findings"]
    assert stored["findings"]


def test_judge_prints_the_comparison_of_means_alone(tmp_path: Path) -> None:
    write_directory(
        tmp_path, native_first(bench_cases(1, {1000: -0.4737, 2000: -0.4737}))
    )
    out = io.StringIO()
    assert judge(tmp_path, out, json_path=tmp_path / "out.json") == 3
    assert "sort_batch batch=1000: means alone say native 1.9" in out.getvalue()
    assert "faster than fallback; defects: order_unbalanced" in out.getvalue()
    audits = json.loads((tmp_path / "out.json").read_text())["audits"]
    assert [set(row) for row in audits] == [
        {"benchmark", "params", "name", "arms", "detail"}
    ] * 2
    assert audits[0]["name"] == "order_unbalanced"


# --- not available here ------------------------------------------------------------------------


def test_an_unavailable_arm_is_neither_missing_nor_inconclusive() -> None:
    analysis = analyse_job(
        without(bench_cases(1, FASTER), "native", 2000),
        announced=[case("native", 2000, REASON)],
    )
    assert (analysis.verdict, analysis.reason) == (
        "pass",
        "1 comparison holds; 1 comparison or gate does not apply here",
    )
    row = analysis.report.comparisons[1]
    assert (row.verdict, row.reason) == (
        "not_applicable",
        f"native is not available here: {REASON}",
    )
    (missing,) = analysis.report.unavailable
    assert (missing.arm, missing.params, missing.reason) == (
        "native",
        {"batch": 2000},
        REASON,
    )


def test_an_arm_that_is_unavailable_with_all_params_is_listed_once() -> None:
    announced = [case("native", batch, REASON) for batch in (1000, 2000)]
    analysis = analyse_job(
        without(bench_cases(1, FASTER), "native"), announced=announced
    )
    assert [(row.arm, row.params) for row in analysis.report.unavailable] == [
        ("native", {})
    ]
    assert analysis.verdict == "pass"
    assert analysis.reason == "2 comparisons or gates do not apply here"


@pytest.mark.parametrize("reasons", [(REASON, REASON), (REASON, "no JVM")])
def test_a_benchmark_without_any_arm_here_never_passes_and_says_why(
    reasons: tuple[str, str],
) -> None:
    announced = [
        case(arm, batch, reason)
        for arm, reason in zip(("fallback", "native"), reasons, strict=True)
        for batch in (1000, 2000)
    ]
    analysis = analyse_job([], announced=announced)
    assert (analysis.verdict, analysis.extendable) == ("inconclusive", False)
    more = "" if reasons[0] == reasons[1] else f", {reasons[1]}"
    assert (
        analysis.reason
        == f"nothing was measured: no arm of {BENCHMARK} is available here: {REASON}{more}"
    )
    assert {row.verdict for row in analysis.report.comparisons} == {"not_applicable"}
    one_point_left = analyse_job([], announced=announced[:-1])
    assert one_point_left.reason == "nothing was measured", (
        "an arm that kept silent is no unavailable one"
    )


def test_a_benchmark_without_any_arm_here_is_named_beside_those_that_hold() -> None:
    manifest = suite_manifest()
    manifest["benchmarks"]["jvm_only"] = {
        **manifest["benchmarks"][BENCHMARK],
        "title": "Needs a JVM",
    }
    announced = [
        replace(case(arm, batch, "no JVM"), benchmark="jvm_only")
        for arm in ("native", "fallback")
        for batch in (1000, 2000)
    ]
    analysis = analyse_job(bench_cases(1, FASTER), manifest, announced=announced)
    assert analysis.verdict == "pass"
    assert analysis.reason.startswith("2 comparisons hold; ")
    assert analysis.reason.endswith("; no arm of jvm_only is available here: no JVM")


def test_many_benchmarks_without_any_arm_are_counted_and_not_all_named() -> None:
    few = {name: ["no JVM"] for name in ("a", "b", "c")}
    assert no_arm_sentence(few) == "no arm of a, b, c is available here: no JVM"
    many = {f"b{number}": [f"reason {number}"] for number in range(300)}
    assert no_arm_sentence(many) == (
        "no arm of b0, b1, b2 (and 297 more) is available here: reason 0, reason 1, reason 2 (and 297 more), "
        "listed under the report's unavailable arms"
    )


def test_gates_on_unavailable_arms_are_not_applicable() -> None:
    gates = [
        {
            "benchmark": BENCHMARK,
            "arm": "native",
            "metric": "time",
            "op": "<=",
            "required": 1e15,
        },
        {"derived": "gain", "op": ">=", "required": 2.0},
    ]
    gain = {
        "name": "gain",
        "kind": "speedup_between_arms",
        "benchmark": BENCHMARK,
        "metric": "time",
        "arm": "native",
        "base_arm": "fallback",
    }
    announced = [case("native", batch, REASON) for batch in (1000, 2000)]
    manifest = suite_manifest(gates=gates, derived=[gain])
    analysis = analyse_job(
        without(bench_cases(1, FASTER), "native"), manifest, announced=announced
    )
    assert {gate.verdict for gate in analysis.report.gates} == {"not_applicable"}
    assert all(REASON in gate.reason for gate in analysis.report.gates)
    assert {row.note for row in analysis.report.derived} == {
        f"native is not available here: {REASON}"
    }
    assert analysis.verdict == "pass"
    assert "do not apply here" in analysis.reason


def test_arms_are_not_judged_without_their_unavailable_reference() -> None:
    announced = [case("fallback", batch, REASON) for batch in (1000, 2000)]
    analysis = analyse_job(
        without(bench_cases(1, FASTER), "fallback"), announced=announced
    )
    assert {row.verdict for row in analysis.report.comparisons} == {"not_applicable"}
    assert {row.reason for row in analysis.report.comparisons} == {
        f"fallback is not available here: {REASON}"
    }


def test_an_arm_with_samples_is_not_unavailable() -> None:
    analysis = analyse_job(
        bench_cases(1, SLOWER), announced=[case("native", 1000, REASON)]
    )
    assert analysis.verdict == "fail"
    assert analysis.report.unavailable == []


def test_an_arm_that_was_neither_measured_nor_called_unavailable_is_still_missing() -> (
    None
):
    analysis = analyse_job(
        without(bench_cases(1, FASTER), "native", 2000),
        announced=[case("native", 1000)],
    )
    assert analysis.report.comparisons[1].reason == "native was not measured"
    assert analysis.verdict == "inconclusive"


def test_a_failed_check_does_not_turn_not_applicable_into_a_doubt_about_that_arm() -> (
    None
):
    announced = [case("native", batch, REASON) for batch in (1000, 2000)]
    analysis = analyse_job(
        without(bench_cases(1, FASTER), "native"), announced=announced, checks=[]
    )
    assert analysis.verdict == "inconclusive"
    assert {row.verdict for row in analysis.report.comparisons} == {"not_applicable"}


# --- metrics besides the primary one -------------------------------------------------------------


def two_metrics(**rule: Any) -> dict[str, Any]:
    manifest = suite_manifest()
    manifest["benchmarks"][BENCHMARK]["metrics"]["call_time"] = {
        "unit": "ns",
        "direction": "lower",
    }
    manifest["rules"][0] |= rule
    return manifest


def with_slow_calls(cases: list[CaseSamples]) -> list[CaseSamples]:
    """Besides `time`, three values per block of `call_time`, in which native is far slower."""
    more = []
    for case in cases:
        factor = 3.0 if case.arm == "native" else 1.0
        common = np.exp(
            0.01 * np.random.default_rng(5).standard_normal(case.value.size)
        )
        values = np.concatenate(
            [1000.0 * factor * common * tail for tail in (1.0, 1.01, 9.0)]
        )
        more.append(
            replace(
                case,
                metric="call_time",
                value=values,
                launch=np.tile(case.launch, 3),
                round=np.tile(case.round, 3),
                position=np.tile(case.position, 3),
                warmup=np.tile(case.warmup, 3),
            )
        )
    return [*cases, *more]


def test_a_secondary_metric_is_shown_and_decides_nothing_by_itself() -> None:
    analysis = analyse_job(with_slow_calls(bench_cases(1, FASTER)), two_metrics())
    assert analysis.verdict == "pass"
    assert analysis.reason == "2 comparisons hold"
    rows = {(row.metric, row.verdict) for row in analysis.report.comparisons}
    assert rows == {("time", "pass"), ("call_time", "fail")}
    assert all(
        judged.rule is None
        for judged in analysis.ruled
        if judged.pair.metric == "call_time"
    )


def test_a_rule_watches_the_metric_it_names_and_no_other() -> None:
    analysis = analyse_job(
        with_slow_calls(bench_cases(1, FASTER)), two_metrics(metric="call_time")
    )
    assert analysis.verdict == "fail"
    assert {
        judged.pair.metric for judged in analysis.ruled if judged.rule is not None
    } == {"call_time"}


def test_a_secondary_metric_only_one_arm_reports_is_no_missing_arm() -> None:
    cases = with_slow_calls(bench_cases(1, FASTER))
    analysis = analyse_job(
        [
            case
            for case in cases
            if (case.metric, case.arm) != ("call_time", "fallback")
        ],
        two_metrics(),
    )
    assert {row.metric for row in analysis.report.comparisons} == {"time"}
    assert "call_time" in {row.metric for row in analysis.report.measurements}


def test_several_values_of_a_block_are_all_described_and_paired_by_their_median() -> (
    None
):
    cases = with_slow_calls(bench_cases(1, FASTER))
    analysis = analyse_job(cases, two_metrics())
    calls = [
        row
        for row in analysis.report.measurements
        if row.metric == "call_time" and row.arm == "fallback"
    ]
    times = [
        row
        for row in analysis.report.measurements
        if row.metric == "time" and row.arm == "fallback"
    ]
    assert [row.n for row in calls] == [3 * 100, 3 * 100]
    assert all(row.n <= 100 for row in times)
    assert all(row.max > 8000 and row.p99 > 8000 and row.median < 1100 for row in calls)
    pair = next(
        comparison
        for comparison in analysis.report.comparisons
        if comparison.metric == "call_time"
    )
    assert pair.blocks == 100
    assert pair.ratio == pytest.approx(3.0, rel=1e-6)
