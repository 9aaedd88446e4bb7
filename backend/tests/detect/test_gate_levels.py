"""Levels for CPUs with some features only: which one applies, and that none passes where they are not known."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from paceline_contract.manifest_reader import read_manifest
from paceline_server.detect.analyse import Analysis, analyse
from paceline_server.detect.facts import CpuFeatures, JobFacts, JobIdentity
from paceline_server.detect.judge import judge
from paceline_server.detect.table import report_lines
from paceline_server.ingest.cases import Conditions
from paceline_server.testing.sorting_suite import (
    BENCHMARK,
    bench_cases,
    passed_checks,
    suite_manifest,
    write_directory,
)

IDENTITY = JobIdentity("sorting", "4f" * 20, "a" * 64, "bench-host", None)
HALF = {1000: -0.5}
"""The native arm takes half the fallback's time: twice as fast."""
SPEEDUP = {
    "name": "speedup",
    "kind": "speedup_between_arms",
    "benchmark": BENCHMARK,
    "metric": "time",
    "arm": "native",
    "base_arm": "fallback",
}


def level(required: float, *requires: str, **more: Any) -> dict[str, Any]:
    gate = {"derived": "speedup", "op": ">=", "required": required, **more}
    return {**gate, "requires": [*requires]} if requires else gate


def manifest(*gates: dict[str, Any]) -> dict[str, Any]:
    made = suite_manifest(derived=[SPEEDUP], gates=[*gates])
    made["benchmarks"][BENCHMARK]["params"]["batch"]["values"] = [1000]
    return made


def reading_before(*features: str, attempt: int = 1) -> Conditions:
    return Conditions("before", 0, {"cpu_features": [*features]}, attempt)


def analyse_gates(
    gates: Sequence[dict[str, Any]], conditions: Sequence[Conditions]
) -> Analysis:
    facts = JobFacts(
        bench_cases(1, HALF), passed_checks(range(5)), conditions=conditions
    )
    return analyse(read_manifest(manifest(*gates)), facts, IDENTITY)


def rows(analysis: Analysis) -> list[tuple[float, str, str]]:
    return [(row.target, row.level, row.verdict) for row in analysis.report.gates]


def test_the_level_with_the_most_features_that_the_cpu_has_applies() -> None:
    gates = [
        level(1.5, "avx2"),
        level(1.9, "avx2", "sha_ni", stretch=3.0),
        level(4.0, "avx2", "sha_ni", "avx512bw", stretch=5.0),
    ]
    analysis = analyse_gates(gates, [reading_before("avx2", "sha_ni", "sse2")])
    assert rows(analysis) == [
        (1.9, "required", "pass"),
        (3.0, "stretch", "fail"),
        (4.0, "required", "not_applicable"),
    ]
    assert analysis.report.gates[-1].reason == "not for this CPU (needs avx512bw)"
    assert analysis.report.gates[-1].requires == ["avx2", "sha_ni", "avx512bw"]
    assert analysis.verdict == "pass"
    assert analysis.reason == "1 comparison and 1 required gate hold"
    wider = analyse_gates(gates, [reading_before("avx2", "sha_ni", "avx512bw")])
    assert rows(wider) == [(4.0, "required", "fail"), (5.0, "stretch", "fail")]
    assert wider.verdict == "fail"


def test_the_reason_names_the_features_that_a_cpu_lacks() -> None:
    gates = [level(9.0, "avx2", "!sse4a"), level(9.0, "avx2", "sse4a")]
    analysis = analyse_gates(gates, [reading_before("sha2", "asimd")])
    assert [row.reason for row in analysis.report.gates] == [
        "not for this CPU (needs avx2)",
        "not for this CPU (needs avx2, sse4a)",
    ]
    assert analysis.verdict == "pass"
    assert (
        analysis.reason
        == "1 comparison holds; 1 comparison or gate does not apply here"
    )
    lines = "\n".join(report_lines(analysis))
    assert "not for this CPU (needs avx2, sse4a)" in lines
    barred = analyse_gates([level(9.0, "!avx2")], [reading_before("avx2")])
    assert barred.report.gates[0].reason == "not for this CPU (needs no avx2)"


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ([], "no reading of this job names them"),
        ([Conditions("before", 0, {"cpus_online": 2})], "no reading of this job names"),
        (
            [reading_before("avx2"), Conditions("before", 0, {}, 2)],
            "no reading of this job",
        ),
        (
            [reading_before("avx2"), reading_before("sha2", attempt=2)],
            "attempts ran on CPUs with",
        ),
        ([Conditions("during", 5, {"cpu_features": ["avx2"]})], "no reading of this"),
    ],
)
def test_no_level_passes_on_a_cpu_whose_features_are_not_known(
    conditions: list[Conditions], why: str
) -> None:
    """The level for every CPU neither: a stricter one may be what applies."""
    analysis = analyse_gates([level(1.0), level(1.9, "avx2")], conditions)
    assert rows(analysis) == [
        (1.0, "required", "inconclusive"),
        (1.9, "required", "inconclusive"),
    ]
    assert all(row.reason.startswith("not judged: ") for row in analysis.report.gates)
    assert all(why in row.reason for row in analysis.report.gates)
    assert analysis.verdict == "inconclusive"


def test_cpu_features_are_needed_only_where_a_gate_names_them() -> None:
    analysis = analyse_gates([level(1.9)], [])
    assert rows(analysis) == [(1.9, "required", "pass")]


def test_attempts_on_one_cpu_agree() -> None:
    features = CpuFeatures.of(
        [reading_before("avx2", "sha_ni"), reading_before("sha_ni", "avx2", attempt=2)]
    )
    assert features.names == frozenset({"avx2", "sha_ni"})


def test_judging_offline_picks_the_same_level(tmp_path: Path) -> None:
    gates = [level(1.9, "avx2"), level(4.0, "avx2", "avx512bw")]
    report = tmp_path / "report.json"
    for features, code, verdicts in (
        (["avx2"], 0, ["pass", "not_applicable"]),
        (["avx2", "avx512bw"], 2, ["fail"]),
        (None, 3, ["inconclusive", "inconclusive"]),
    ):
        values = {} if features is None else {"cpu_features": features}
        reading = {"phase": "before", "at_ms": 0, "values": values}
        write_directory(
            tmp_path, bench_cases(1, HALF), manifest(*gates), conditions=[reading]
        )
        table = io.StringIO()
        assert judge(tmp_path, table, json_path=report) == code
        reported_gates = json.loads(report.read_text())["gates"]
        assert [row["verdict"] for row in reported_gates] == verdicts
        assert ("not for this CPU (needs avx512bw)" in table.getvalue()) is (code == 0)
