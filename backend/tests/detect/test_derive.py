"""Derived metrics between arms, between metrics, at a rate and across a param, and the gates on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.facts import JobFacts, JobIdentity, JobRequest, Look
from paceline_server.detect.schemas import DerivedOut, GateOut
from paceline_server.ingest.cases import Case
from paceline_server.stats.gates import SAMPLES_METHOD
from paceline_server.stats.samples import CaseSamples
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    bench_cases,
    passed_checks,
    suite_manifest,
)

IDENTITY = JobIdentity("sorting", "4f" * 20, None, "bench-host", None)
WINS_FROM_10 = {1: 0.6, 10: -0.2, 100: -0.5, 1000: -0.7}
UNDECIDED_AT_10 = {1: 0.6, 10: 0.0, 100: -0.5, 1000: -0.7}
NEVER = {1: 0.6, 10: 0.3, 100: 0.2, 1000: 0.1}
LOSES_AGAIN = {1: -0.5, 10: -0.5, 100: -0.5, 1000: 0.2}


def manifest_with(
    derived: Mapping[str, Any],
    gate: Mapping[str, Any] | None,
    batches: Mapping[int, float],
) -> dict[str, Any]:
    manifest = suite_manifest(rules=[])
    benchmark = manifest["benchmarks"][BENCHMARK]
    benchmark["params"]["batch"]["values"] = list(batches)
    benchmark["metrics"]["digest"] = {"unit": "ns", "direction": "lower"}
    if "other" in (derived.get("arm"), *derived.get("arms", [])):
        benchmark["arms"] = [*benchmark["arms"], "other"]
    arm_fields = {} if "arms" in derived else {"arm": "native"}
    whole = {
        "name": "asked",
        "benchmark": BENCHMARK,
        "metric": "time",
        **arm_fields,
        **derived,
    }
    if derived["kind"] in (
        "crossover",
        "speedup_between_arms",
        "overhead_between_arms",
    ):
        whole["base_arm"] = "fallback"
    gates = [] if gate is None else [{"derived": "asked", **gate}]
    # A rule that decides nothing: what fails here are gates.
    rule = {
        "name": "shown",
        "kind": "arm_slower",
        "benchmark": BENCHMARK,
        "arms": ["native"],
        "text": "t",
        "fails_run": False,
    }
    return {**manifest, "derived": [whole], "gates": gates, "rules": [rule]}


def analyse_job(
    derived: Mapping[str, Any],
    effects: Mapping[int, float],
    gate: Mapping[str, Any] | None = None,
    cases: list[CaseSamples] | None = None,
    announced: list[Case] | None = None,
    *,
    request: JobRequest | None = None,
    look: Look | None = None,
) -> Analysis:
    facts = JobFacts(
        bench_cases(3, effects) if cases is None else cases,
        checks=passed_checks(range(5)),
        announced=announced or [],
    )
    return analyse(
        read_manifest(manifest_with(derived, gate, effects)),
        facts,
        IDENTITY,
        request,
        look,
    )


def row_of(analysis: Analysis) -> DerivedOut:
    (row,) = analysis.report.derived
    return row


CROSSOVER = {"kind": "crossover", "param": "batch"}
SPEEDUP = {"kind": "speedup_between_arms"}


def gates_of(*told_as: Any) -> list[GateOut]:
    return analyse_job(*told_as).report.gates


# --- speed-up ------------------------------------------------------------------------------------


def test_a_speedup_is_how_many_times_as_fast() -> None:
    row = row_of(analyse_job(SPEEDUP, {1000: -0.75}))
    assert row.value == pytest.approx(4.0, rel=0.01)
    assert row.lower is not None
    assert row.upper is not None
    assert row.lower < 4.0 < row.upper
    assert row.words.startswith("native is 4")
    assert (row.unit, row.base_arm, row.note) == ("ratio", "fallback", "")


@pytest.mark.parametrize(
    ("required", "verdict"), [(3.5, "pass"), (4.5, "fail"), (4.0, "inconclusive")]
)
def test_a_gate_on_a_speedup_decides_by_its_interval(
    required: float, verdict: str
) -> None:
    analysis = analyse_job(SPEEDUP, {1000: -0.75}, {"op": ">=", "required": required})
    assert [gate.verdict for gate in analysis.report.gates] == [verdict]
    assert analysis.verdict == verdict


def test_a_stretch_level_that_is_missed_is_shown_and_fails_nothing() -> None:
    analysis = analyse_job(
        SPEEDUP, {1000: -0.75}, {"op": ">=", "required": 3.5, "stretch": 4.5}
    )
    assert [(gate.level, gate.verdict) for gate in analysis.report.gates] == [
        ("required", "pass"),
        ("stretch", "fail"),
    ]
    assert (analysis.verdict, analysis.reason) == ("pass", "1 required gate holds")


# --- shares ----------------------------------------------------------------------------------------


def with_digest(cases: list[CaseSamples], share: float) -> list[CaseSamples]:
    return [
        *cases,
        *(replace(case, metric="digest", value=case.value * share) for case in cases),
    ]


def test_the_overhead_around_an_inner_metric_is_the_rest_of_the_whole() -> None:
    cases = with_digest(bench_cases(3, {1000: -0.5}), 0.6)
    row = row_of(
        analyse_job(
            {"kind": "share_between_metrics", "part": "digest"},
            {1000: -0.5},
            cases=cases,
        )
    )
    assert row.value == pytest.approx(0.4, abs=1e-9)
    assert row.words == "40.0 % of time is not digest"
    missing = row_of(
        analyse_job({"kind": "share_between_metrics", "part": "digest"}, {1000: -0.5})
    )
    assert (missing.value, missing.note, missing.answered) == (
        None,
        "not measured: digest of native",
        False,
    )


def test_a_share_at_a_rate_is_time_per_byte_times_the_rate() -> None:
    cases = [
        replace(case, value=np.full(case.value.size, 2_000_000.0))
        for case in bench_cases(3, {1000: 0.0})
    ]
    announced = [
        Case(
            0,
            BENCHMARK,
            "native",
            {"batch": 1000},
            (("time", "ns", "lower"),),
            1,
            1_000_000,
        )
    ]
    declared = {"kind": "share_at_rate", "rate_bytes_per_s": 35_000_000}
    row = row_of(analyse_job(declared, {1000: 0.0}, cases=cases, announced=announced))
    # 2 ns per byte × 35 MB/s = 70 ms of every second.
    assert row.value == pytest.approx(0.07)
    assert row.words == "7.0 % of one thread at 35 MB/s"
    assert row_of(analyse_job(declared, {1000: 0.0}, cases=cases)).note.endswith(
        "does not say its bytes_per_iteration"
    )


# --- several arms ----------------------------------------------------------------------------------

BYTES = [
    Case(
        0, BENCHMARK, arm, {"batch": batch}, (("time", "ns", "lower"),), 1, 1000 * size
    )
    for arm, size in (("native", 1), ("fallback", 3))
    for batch in (1000, 2000)
]
BOTH = ["native", "fallback"]
OTHERS = ["native", "other"]
DIGEST_SHARES = {"native": 0.6, "fallback": 0.9}


def both_arms(
    derived: Mapping[str, Any], gate: Mapping[str, Any] | None = None
) -> Analysis:
    effects = {1000: -0.5, 2000: -0.6}
    cases = bench_cases(3, effects)
    digests = [
        replace(case, metric="digest", value=case.value * DIGEST_SHARES[case.arm])
        for case in cases
    ]
    # Loses where `native` wins, but for the larger batch.
    others = [
        replace(
            case,
            arm="other",
            value=case.value * (4.0 if case.params["batch"] == 1000 else 2.0),
        )
        for case in cases
        if case.arm == "native"
    ]
    return analyse_job(derived, effects, gate, [*cases, *digests, *others], BYTES)


@pytest.mark.parametrize(
    "kind",
    [
        {"kind": "ratio_across_param", "param": "batch", "from": 1000, "to": 2000},
        {"kind": "overhead_between_arms"},
        SPEEDUP,
        {"kind": "slope", "param": "batch"},
        {"kind": "share_between_metrics", "part": "digest"},
        {"kind": "share_at_rate", "rate_bytes_per_s": 35_000_000},
        CROSSOVER,
    ],
    ids=lambda kind: str(kind["kind"]),
)
def test_a_metric_of_several_arms_has_the_value_of_each_arm_alone(
    kind: dict[str, Any],
) -> None:
    arms = (
        OTHERS
        if kind in (CROSSOVER, SPEEDUP, {"kind": "overhead_between_arms"})
        else BOTH
    )
    alone = [
        row for arm in arms for row in both_arms({**kind, "arm": arm}).report.derived
    ]
    rows = both_arms({**kind, "arms": arms}).report.derived
    assert rows == alone
    assert list(dict.fromkeys((row.name, row.arm) for row in rows)) == [
        ("asked", arm) for arm in arms
    ]
    assert len({row.value for row in rows if row.params == rows[0].params}) == len(arms)


SHARE = {
    "kind": "share_between_metrics",
    "part": "digest",
    "arms": BOTH,
    "params": {"batch": 1000},
}


def test_a_gate_demands_its_level_of_every_arm_unless_it_picks_one() -> None:
    gate = {"op": "<=", "required": 0.2}
    analysis = both_arms(SHARE, gate)
    verdicts = [(row.arm, row.verdict) for row in analysis.report.gates]
    assert verdicts == [("native", "fail"), ("fallback", "pass")]
    assert analysis.verdict == "fail"
    assert "native, gate asked: " in analysis.reason
    named = both_arms(SHARE, {**gate, "name": "in_time"})
    assert "native, gate in_time: " in named.reason
    picked = both_arms(SHARE, {**gate, "arm": "fallback"})
    assert [(row.arm, row.verdict) for row in picked.report.gates] == [
        ("fallback", "pass")
    ]
    assert (picked.verdict, picked.reason) == ("pass", "1 required gate holds")


def test_an_arm_that_cannot_run_here_leaves_the_gate_to_the_others() -> None:
    effects = {1000: -0.5}
    cases = with_digest(
        [case for case in bench_cases(3, effects) if case.arm == "fallback"], 0.9
    )
    missing = replace(BYTES[0], unavailable="this CPU has no AVX-512")
    analysis = analyse_job(
        SHARE, effects, {"op": "<=", "required": 0.2}, cases, [missing]
    )
    assert [(row.arm, row.value is None) for row in analysis.report.derived] == [
        ("native", True),
        ("fallback", False),
    ]
    assert [(row.arm, row.verdict) for row in analysis.report.gates] == [
        ("native", "not_applicable"),
        ("fallback", "pass"),
    ]


# --- crossover -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("effects", "value"),
    [
        (WINS_FROM_10, 10.0),
        (UNDECIDED_AT_10, 100.0),
        (NEVER, None),
        (LOSES_AGAIN, None),
    ],
)
def test_a_crossover_is_the_smallest_value_from_which_the_arm_always_wins(
    effects: dict[int, float], value: float | None
) -> None:
    row = row_of(analyse_job(CROSSOVER, effects))
    assert row.value == value
    assert row.answered
    assert (row.note == "") is (value is not None)


def test_the_interval_of_a_crossover_starts_where_losing_ends() -> None:
    row = row_of(analyse_job(CROSSOVER, UNDECIDED_AT_10))
    assert (row.lower, row.upper) == (10.0, 100.0)
    row = row_of(analyse_job(CROSSOVER, WINS_FROM_10))
    assert (row.lower, row.upper) == (10.0, 10.0)


def test_a_crossover_at_the_smallest_measured_value_may_lie_below_it() -> None:
    above = {batch: effect for batch, effect in WINS_FROM_10.items() if batch >= 10}
    row = row_of(analyse_job(CROSSOVER, above))
    assert (row.value, row.lower, row.upper) == (10.0, None, 10.0)
    assert (
        row.words
        == "native is faster than fallback from batch=10 on, the smallest measured, or below"
    )
    (gate,) = gates_of(CROSSOVER, above, {"op": "<=", "required": 4})
    assert gate.verdict == "inconclusive"
    (gate,) = gates_of(CROSSOVER, above, {"op": "<=", "required": 10})
    assert gate.verdict == "pass"


def test_a_gate_on_a_derived_metric_of_one_launch_is_insufficient() -> None:
    speedup = {"kind": "speedup_between_arms"}
    one_launch = bench_cases(3, {1000: -0.7}, launches=1, rounds=40)
    analysis = analyse_job(
        speedup, {1000: -0.7}, {"op": ">=", "required": 1.1}, one_launch
    )
    (gate,) = analysis.report.gates
    assert gate.verdict == "inconclusive"
    assert gate.reason.startswith("insufficient: ")


def test_no_crossover_differs_from_not_measured() -> None:
    none = row_of(analyse_job(CROSSOVER, NEVER))
    assert (none.value, none.answered) == (None, True)
    assert none.note.startswith(
        "no crossover: native is faster than fallback with confidence from no "
    )
    gap = [
        case
        for case in bench_cases(3, WINS_FROM_10)
        if (case.arm, case.params["batch"]) != ("native", 10)
    ]
    missing = row_of(analyse_job(CROSSOVER, WINS_FROM_10, cases=gap))
    assert (missing.value, missing.answered) == (None, False)
    assert missing.note == "not measured: native and fallback at batch=10"
    one_value = row_of(analyse_job(CROSSOVER, {1000: -0.7}))
    assert (one_value.value, one_value.answered) == (None, False)


@pytest.mark.parametrize(
    ("effects", "level", "verdict"),
    [
        (WINS_FROM_10, 10, "pass"),
        (WINS_FROM_10, 4, "fail"),
        (UNDECIDED_AT_10, 10, "inconclusive"),
        (UNDECIDED_AT_10, 100, "pass"),
        (UNDECIDED_AT_10, 4, "fail"),
        (NEVER, 1000, "fail"),
        (LOSES_AGAIN, 1000, "fail"),
        ({1: 0.6, 10: 0.0}, 10, "inconclusive"),
    ],
)
def test_a_gate_on_a_crossover_decides_only_what_was_measured(
    effects: dict[int, float], level: int, verdict: str
) -> None:
    (gate,) = gates_of(CROSSOVER, effects, {"op": "<=", "required": level})
    assert gate.verdict == verdict
    assert gate.derived == "asked"


def test_a_gate_over_a_missing_value_is_inconclusive_and_names_it() -> None:
    gap = [
        case
        for case in bench_cases(3, WINS_FROM_10)
        if (case.arm, case.params["batch"]) != ("native", 10)
    ]
    analysis = analyse_job(CROSSOVER, WINS_FROM_10, {"op": "<=", "required": 1000}, gap)
    (gate,) = analysis.report.gates
    assert (gate.verdict, gate.reason) == (
        "inconclusive",
        "not measured: native and fallback at batch=10",
    )


@pytest.mark.parametrize(
    ("derived", "selected", "needed"),
    [
        ({"kind": "ratio_across_param", "from": 1, "to": 100}, [1, 10], "batch=100"),
        (
            {"kind": "degradation_across_param", "from": 1, "to": 100},
            [10, 1000],
            "batch=1 and batch=100",
        ),
        ({"kind": "slope"}, [10], "two values of batch"),
        ({"kind": "crossover"}, [10], "two values of batch"),
    ],
)
def test_a_gate_whose_values_the_request_leaves_out_leaves_no_run_undecided(
    derived: dict[str, Any], selected: list[int], needed: str
) -> None:
    gate = {"op": "<=", "required": 1e9}
    measured = bench_cases(3, {batch: WINS_FROM_10[batch] for batch in selected})
    about = ({**derived, "param": "batch"}, WINS_FROM_10, gate, measured)
    request = JobRequest(params={"batch": selected})
    analysis = analyse_job(*about, request=request)
    (row,) = analysis.report.gates
    reason = f"not measured by this selection: it needs {needed}"
    assert (row.verdict, row.reason) == ("not_applicable", reason)
    assert row_of(analysis).note == reason
    assert analysis.verdict == "pass"
    assert analysis.reason == "1 comparison or gate does not apply here"
    # The same samples decide nothing where everything was asked for, nor by the method of a former report.
    former = Look(gate_method=SAMPLES_METHOD)
    for undecided in (
        analyse_job(*about),
        analyse_job(*about, request=request, look=former),
    ):
        assert undecided.verdict == "inconclusive"
        assert [row.verdict for row in undecided.report.gates] == ["inconclusive"]


def test_a_defective_protocol_has_no_speedup_to_gate() -> None:
    first = [
        replace(case, position=np.full(case.position.size, int(case.arm == "fallback")))
        for case in bench_cases(3, {1000: -0.75})
    ]
    analysis = analyse_job(SPEEDUP, {1000: -0.75}, {"op": ">=", "required": 3.5}, first)
    assert [gate.verdict for gate in analysis.report.gates] == ["inconclusive"]
    assert "order_unbalanced" in row_of(analysis).note
