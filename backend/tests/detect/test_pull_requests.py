"""One job about a pull request answers whether its head is slower, holds its gates and beats its references."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import Analysis
from paceline_server.detect.facts import JobFacts, JobIdentity
from paceline_server.detect.pull_requests import analyse_pull_request
from paceline_server.detect.reasons import reasons_of
from paceline_server.detect.revisions import Revision
from paceline_server.ingest.cases import Check, Conditions
from paceline_server.stats.samples import CaseSamples
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    CHECK,
    passed_checks,
    revision_bench_cases,
    suite_manifest,
)

pytestmark = pytest.mark.shapes("embedded")

WHO = JobIdentity("sorting", "a" * 40, "1" * 64, "lab-1", None)
SAME = {1000: 0.0, 2000: 0.0}
SLOWER = {1000: 0.1, 2000: 0.0}
Cases = list[CaseSamples]


def _native_in(cases: Cases, share: float) -> Cases:
    """The cases, of which native takes this share of its time."""
    return [
        replace(case, value=case.value * share) if case.arm == "native" else case
        for case in cases
    ]


def _analysed(
    effects: dict[int, float],
    *,
    native: float = 0.5,
    limit: float | None = None,
    **of_head: Any,
) -> Analysis:
    """`native`: its share of the fallback's time at base; `limit`: its required median."""
    base, head = (_native_in(side, native) for side in revision_bench_cases(1, effects))
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "statistic": "median",
        "op": "<=",
        "required": limit,
    }
    manifest = suite_manifest(**({"gates": [gate]} if limit else {}))
    facts = [
        JobFacts(cases=side, checks=passed_checks(range(5))) for side in (base, head)
    ]
    facts[1] = replace(facts[1], **of_head)
    return analyse_pull_request(
        read_manifest(manifest),
        Revision("f" * 40, "2" * 64, facts[0]),
        Revision(WHO.revision, "1" * 64, facts[1]),
        WHO,
    )


def _medians() -> float:
    cases = _native_in(revision_bench_cases(1, SAME)[1], 0.5)
    return max(float(case.value.mean()) for case in cases if case.arm == "native")


def _reasons(analysis: Analysis) -> list[tuple[str | None, str, int]]:
    return [
        (reason.verdict, reason.kind, reason.count)
        for reason in reasons_of(analysis.report)
    ]


def test_a_head_that_holds_in_all_three_ways_passes_and_says_how_much_does() -> None:
    analysis = _analysed(SAME, limit=_medians() * 1.5)
    assert (analysis.verdict, _reasons(analysis)) == ("pass", [])
    assert analysis.reason == (
        "head is not slower than base in 4 comparisons; 2 comparisons and 2 required gates hold"
    )
    assert {row.sides for row in analysis.report.comparisons} == {"arms", "revisions"}
    assert {row.side for row in analysis.report.measurements} == {"base", "head"}
    assert len(analysis.report.gates) == 2


def test_a_slower_head_fails_though_it_still_beats_its_reference_and_holds_its_gate() -> (
    None
):
    analysis = _analysed(SLOWER, limit=_medians() * 1.5)
    assert _reasons(analysis) == [("fail", "regression", 1)]
    assert analysis.reason.startswith(f"{BENCHMARK} batch=1000: native at head is ")
    assert "% slower than base (99.8 % interval: " in analysis.reason


def test_a_gate_fails_a_head_that_is_as_fast_as_its_base() -> None:
    analysis = _analysed(SAME, limit=_medians() * 0.5)
    assert _reasons(analysis) == [("fail", "gate", 2)]
    assert analysis.reason.startswith(f"{BENCHMARK} batch=")
    assert analysis.reason.endswith("(and 1 more)")


def test_a_busy_host_demands_more_of_arms_than_of_the_same_arm_at_two_revisions() -> (
    None
):
    busy = [Conditions("during", 1, {"psi_cpu_percent": 48.0})]
    rows = _analysed(SAME, native=0.9, conditions=busy).report.comparisons
    assert {(row.sides, round(row.extra_percent, 2)) for row in rows} == {
        ("revisions", 3.05),
        ("arms", 21.17),
    }
    assert {row.verdict for row in rows if row.sides == "arms"} == {"inconclusive"}


def test_an_arm_that_loses_at_base_as_well_fails_the_head() -> None:
    analysis = _analysed(SAME, native=1.2)
    assert _reasons(analysis) == [("fail", "arm", 2)]
    assert "native is " in analysis.reason
    assert "slower than fallback (99.8 % interval: " in analysis.reason


def test_the_reasons_of_a_head_that_fails_in_every_way_come_in_order_of_importance() -> (
    None
):
    analysis = _analysed(SLOWER, native=1.2, limit=_medians() * 0.5)
    assert [kind for _, kind, _ in _reasons(analysis)] == ["regression", "gate", "arm"]
    first, second, third = analysis.reason.split("; ", 2)
    assert "than base" in first
    assert "gate median" in second
    assert "than fallback" in third


@pytest.mark.parametrize("batches", [(2000,), (1000, 2000)])
def test_cases_of_the_head_that_did_not_arrive_keep_it_from_passing_and_are_named(
    batches: tuple[int, ...],
) -> None:
    head = _native_in(revision_bench_cases(1, SAME)[1], 0.5)
    without = [
        case
        for case in head
        if case.arm != "fallback" or case.params["batch"] not in batches
    ]
    analysis = _analysed(SAME, cases=without)
    assert analysis.verdict == "inconclusive"
    assert _reasons(analysis)[0] == ("inconclusive", "missing", 1)
    missing = ", ".join(f"{BENCHMARK} batch={batch} fallback" for batch in batches)
    assert (
        f"{len(batches)} of 4 cases not measured at head: {missing}" in analysis.reason
    )


def test_what_blocks_one_question_blocks_all_and_is_the_one_reason() -> None:
    broken = [Check(0, CHECK, False, "3 before 2")]
    analysis = _analysed(SLOWER, native=1.2, limit=_medians() * 0.5, checks=broken)
    assert _reasons(analysis) == [("inconclusive", "blocker", 1)]
    assert analysis.reason == "check sorted failed: 3 before 2"
    verdicts = {row.verdict for row in analysis.report.comparisons}
    assert verdicts | {gate.verdict for gate in analysis.report.gates} == {
        "inconclusive"
    }
    assert not analysis.extendable


def test_the_tests_of_all_questions_are_one_family() -> None:
    analysis = _analysed(SAME)
    assert {len(judged.pair.family) for judged in analysis.ruled} == {5}, (
        "four of head against base and two of native against fallback, but for itself"
    )


def _gate(limit: float, **fields: Any) -> dict[str, Any]:
    return {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "op": "<=",
        "required": limit,
        **fields,
    }


def _judged_by(base: dict[str, Any], head: dict[str, Any], slow: float) -> Analysis:
    """A head that is as fast as its base up to `slow`, whose native arm takes half of the fallback's time."""
    sides = revision_bench_cases(1, {1000: slow, 2000: slow})
    own = BENCHMARK if BENCHMARK in head["benchmarks"] else "order"
    cases = [_native_in(side, 0.5) for side in sides]
    cases[1] = [replace(case, benchmark=own) for case in cases[1]]
    old, new = (
        Revision(
            name * 40,
            name * 64,
            JobFacts(cases=side, checks=passed_checks(range(5))),
            read_manifest(manifest),
        )
        for name, side, manifest in zip("fa", cases, (base, head), strict=True)
    )
    return analyse_pull_request(read_manifest(head), old, new, WHO)


def _renamed(manifest: dict[str, Any]) -> dict[str, Any]:
    own = manifest["benchmarks"][BENCHMARK] | {"aliases": [BENCHMARK]}
    return manifest | {"benchmarks": {"order": own}, "rules": [], "knobs": {}}


def _with_margin(percent: float) -> dict[str, Any]:
    manifest = suite_manifest()
    manifest["benchmarks"][BENCHMARK]["margin_percent"] = percent
    return manifest


STRICT, LOOSE = _gate(1e3), _gate(1e12)


@pytest.mark.parametrize(
    ("base", "head", "slow", "kind"),
    [
        (suite_manifest(gates=[STRICT]), suite_manifest(gates=[LOOSE]), 0.0, "gate"),
        (suite_manifest(gates=[STRICT]), suite_manifest(), 0.0, "gate"),
        (suite_manifest(gates=[STRICT]), _renamed(suite_manifest()), 0.0, "gate"),
        (suite_manifest(), suite_manifest(gates=[STRICT]), 0.0, "gate"),
        (_with_margin(2.0), _with_margin(50.0), 0.061, "regression"),
    ],
)
def test_a_pull_request_cannot_loosen_what_it_is_judged_by(
    base: dict[str, Any], head: dict[str, Any], slow: float, kind: str
) -> None:
    analysis = _judged_by(base, head, slow)
    assert analysis.verdict == "fail", analysis.reason
    assert ("fail", kind) in [reason[:2] for reason in _reasons(analysis)]


def test_a_gate_of_what_head_removed_keeps_no_pull_request_from_passing() -> None:
    base = suite_manifest(gates=[STRICT])
    head = suite_manifest(rules=[], knobs={})
    head["benchmarks"][BENCHMARK] |= {"arms": ["fallback"]}
    sides = revision_bench_cases(1, SAME)
    left = [case for case in sides[1] if case.arm == "fallback"]
    old, new = (
        Revision(
            name * 40,
            name * 64,
            JobFacts(cases=side, checks=passed_checks(range(5))),
            read_manifest(manifest),
        )
        for name, side, manifest in zip(
            "fa", (sides[0], left), (base, head), strict=True
        )
    )
    analysis = analyse_pull_request(read_manifest(head), old, new, WHO)
    assert analysis.verdict == "pass", analysis.reason
    assert f"removed in head: {BENCHMARK} native" in analysis.reason
