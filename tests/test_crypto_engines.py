"""Tests the crypto suite on CPUs with and without AVX-512: gates name the engine that the library chose.

A launch told not to use an engine behaves as on a CPU that lacks it (`native/crypto/attestation`). No time is judged.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from device_programs import X86_64, Workload, program, run
from paceline.cpu_features import KEY, cpu_features
from paceline_server.detect.judge import judge

pytestmark = pytest.mark.timeout(1800)
"""Seconds: the first test of a clone compiles."""
ATTESTATION = Workload("crypto", "attestation")
ROUNDS = 20
SHORT = ("--rounds", str(ROUNDS), "--min-time-ns", "1000")
WITHOUT = "PACELINE_ATTESTATION_WITHOUT"
LAUNCHES = 3


def launches(*selected: str) -> list[str]:
    """The streams of a small job."""
    path = program(ATTESTATION, X86_64)
    streams = []
    for number in range(LAUNCHES):
        done = run(X86_64, path, *SHORT, *selected, "--launch", str(number))
        assert done.returncode == 0, done.stderr
        streams.append(done.stdout)
    return streams


def build_facts(stream: str) -> dict[str, str]:
    return dict(json.loads(stream.splitlines()[0])["build"])


def measured_gates() -> list[dict[str, Any]]:
    """The gates of attestations on an arm's own time."""
    raw = ATTESTATION.manifest.raw
    own = [
        name
        for name, benchmark in raw["benchmarks"].items()
        if benchmark["workload"] == "attestation"
    ]
    return [gate for gate in raw["gates"] if gate.get("benchmark") in own]


def judged(
    streams: list[str], benchmark: str, params: dict[str, list[int]], at: Path
) -> dict[str, Any]:
    """The report that the server makes of these launches."""
    for number, stream in enumerate(streams):
        (at / f"launch-{number:03d}.attestation.jsonl").write_text(stream)
    features = cpu_features(Path("/proc/cpuinfo").read_text())
    options = {
        "benchmarks": [benchmark],
        "launches": LAUNCHES,
        "rounds": ROUNDS,
        "params": params,
    }
    content: dict[str, Any] = {
        "suite": "crypto",
        "manifest": ATTESTATION.manifest.raw,
        "failure": None,
        "conditions": [{"phase": "before", "at_ms": 0, "values": {KEY: features}}],
        "target": "bench-host",
        "started_at": "2026-03-14T09:26:53+00:00",
        "options": {**options, "knobs": {}},
    }
    (at / "run.json").write_text(json.dumps(content))
    judge(at, io.StringIO(), json_path=at / "report.json")
    report: dict[str, Any] = json.loads((at / "report.json").read_text())
    return report


def test_every_gated_arm_reports_its_engine() -> None:
    facts = build_facts(launches("--case", "keygen/dalek")[0])
    gates = measured_gates()
    assert {gate["benchmark"] for gate in gates} == {
        "sign",
        "sign_one_key",
        "verify",
        "verify_one_key",
        "batch",
        "batch_threads",
    }
    engine_facts = {f"engine.{gate['benchmark']}.{gate['arm']}" for gate in gates}
    assert engine_facts <= facts.keys()
    assert {facts[name] for name in engine_facts} <= set(facts["engines"].split())


@pytest.mark.parametrize("without", ["", "ifma"])
def test_the_gate_names_the_engine_that_verified(
    without: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WITHOUT, without)
    streams = launches(
        "--case", "verify/ours/message=256", "--case", "verify/ifma/message=256"
    )
    report = judged(streams, "verify", {"message": [256]}, tmp_path)
    has_vectors = "ifma" in build_facts(streams[0])["engines"].split()
    (gate,) = [
        one
        for one in report["gates"]
        if one["benchmark"] == "verify"
        and one["metric"] == "time"
        and one["statistic"] == "median"
        and one["level"] == "required"
        and one["verdict"] != "not_applicable"
    ]
    assert (gate["arm"], gate["actual"] is None) == ("ours", False), (
        "it is judged, whatever the CPU has"
    )
    assert gate["reason"].endswith(f"; engine {'ifma' if has_vectors else 'portable'}")
    assert not (without and has_vectors)
    if without:
        (reason,) = [
            one["reason"] for one in report["unavailable"] if one["arm"] == "ifma"
        ]
        assert WITHOUT in reason


@pytest.mark.parametrize(
    ("knob", "verdict"),
    [((), "pass"), (("--knob", "generate_attestation_slowdown_percent=100"), "fail")],
)
def test_a_gate_fails_an_arm_that_is_slowed_and_passes_it_as_it_is(
    knob: tuple[str, ...], verdict: str, tmp_path: Path
) -> None:
    """The delay of the harness, through the real workload, to the real gate of the suite."""
    longer = ("--params", "message=256", "--min-time-ns", "200000")
    streams = launches("--benchmark", "production", *longer, *knob)
    warned = ['"demonstration"' in stream for stream in streams]
    assert warned == [bool(knob)] * LAUNCHES, "no reader can take it for a measurement"
    report = judged(streams, "production", {"message": [256]}, tmp_path)
    (overhead,) = [
        gate
        for gate in report["gates"]
        if (gate["benchmark"], gate["level"]) == ("production", "required")
    ]
    assert overhead["verdict"] == verdict, overhead
