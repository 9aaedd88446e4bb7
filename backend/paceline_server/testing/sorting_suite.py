"""The small suite `sorting` with two arms, and its simulated measurements as arrays and bench streams.

Used by the tests of detection, alerts and reports. Deterministic by seed; measures nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from paceline_server.ingest.cases import Check
from paceline_server.stats.audit import AuditFinding, AuditPolicy, audit
from paceline_server.stats.samples import CaseSamples
from paceline_server.testing.simulated_jobs import job_cases, revision_cases

SUITE = "sorting"
BENCHMARK = "sort_batch"
CHECK = "sorted"


def suite_manifest(**changes: Any) -> dict[str, Any]:
    """Return a consistent manifest: one benchmark, arms `fallback` (reference) and `native`, batches 1000 and
    2000."""
    host = {
        "build": [],
        "artifacts": ["sort.py"],
        "run": ["python3", "{artifacts}/sort.py"],
    }
    return {
        "schema": 1,
        "suite": {"name": SUITE, "title": "Sorting"},
        "workloads": [{"name": "sorter", "host": host}],
        "benchmarks": {
            BENCHMARK: {
                "title": "Sort a batch",
                "workload": "sorter",
                "arms": ["fallback", "native"],
                "reference": "fallback",
                "margin_percent": 2.0,
                "params": {"batch": {"kind": "int", "values": [1000, 2000]}},
                "metrics": {"time": {"unit": "ns", "direction": "lower"}},
            }
        },
        "knobs": {
            "slowdown_percent": {
                "kind": "int",
                "default": 0,
                "minimum": 0,
                "maximum": 400,
                "demonstration": True,
                "slows": {"benchmark": BENCHMARK, "arm": "native"},
                "description": "The native arm repeats this share of its work.",
            }
        },
        "rules": [
            {
                "name": "native-slower-than-fallback",
                "kind": "arm_slower",
                "benchmark": BENCHMARK,
                "arms": ["native"],
                "text": "The native path is slower than the fallback it should beat.",
            }
        ],
        "expected": {"checks": [CHECK]},
        **changes,
    }


def bench_cases(
    seed: int,
    effects: Mapping[int, float],
    *,
    launches: int = 5,
    rounds: int = 20,
    first_launch: int = 0,
    sigma: float | None = 0.004,
) -> list[CaseSamples]:
    """Return both arms at each batch; `effects[batch]` is how much slower native truly is (−0.5: half the time)."""
    rng = np.random.default_rng(seed)
    cases: list[CaseSamples] = []
    for batch, effect in effects.items():
        pair = job_cases(
            rng,
            effect,
            launches=launches,
            rounds=rounds,
            sigma=sigma,
            first_launch=first_launch,
            biased_share=0.0,
        )
        for name, case in zip(("native", "fallback"), pair, strict=True):
            scaled = np.maximum(1.0, np.round(case.value * 1000.0))
            cases.append(
                replace(
                    case,
                    benchmark=BENCHMARK,
                    arm=name,
                    params={"batch": batch},
                    value=scaled,
                )
            )
    return cases


def revision_bench_cases(
    seed: int, effects: Mapping[int, float], **options: Any
) -> tuple[list[CaseSamples], list[CaseSamples]]:
    """Return (base, head): both arms at each batch; `effects[batch]` is how much slower native truly is at head, while
    the fallback does not change. `options` are those of `revision_cases`."""
    rng = np.random.default_rng(seed)
    sides: tuple[list[CaseSamples], list[CaseSamples]] = ([], [])
    for batch, effect in effects.items():
        for arm, own in (("fallback", 0.0), ("native", effect)):
            head, base = revision_cases(rng, own, **{"biased_share": 0.0, **options})
            for side, case in zip(sides, (base, head), strict=True):
                position = np.full(
                    case.value.size, int(arm == "native"), dtype=np.int64
                )
                position = np.where(case.round % 2 == 0, position, 1 - position)
                side.append(
                    replace(
                        case,
                        benchmark=BENCHMARK,
                        arm=arm,
                        params={"batch": batch},
                        position=position,
                        value=np.maximum(1.0, np.round(case.value)),
                    )
                )
    return sides


def passed_checks(launches: Sequence[int]) -> list[Check]:
    return [Check(launch, CHECK, True, "") for launch in launches]


def stream_events(
    cases: Sequence[CaseSamples], launch: int, *, check_ok: bool = True
) -> list[dict[str, Any]]:
    """Return one launch's complete bench stream as events, rounds in order, arms by position."""
    events: list[dict[str, Any]] = [
        {
            "type": "start",
            "v": 1,
            "suite": SUITE,
            "workload": "sorter",
            "launch": launch,
            "seed": launch,
            "build": {"profile": "test"},
            "clock": {"name": "simulated", "resolution_ns": 1, "overhead_ns": 1},
        }
    ]
    timed: list[tuple[int, int, int, dict[str, Any]]] = []
    for number, case in enumerate(cases):
        metrics = [
            {"name": case.metric, "unit": case.unit, "direction": case.direction}
        ]
        events.append(
            {
                "type": "case",
                "case": number,
                "benchmark": case.benchmark,
                "arm": case.arm,
                "params": dict(case.params),
                "metrics": metrics,
            }
        )
        for at in np.nonzero(case.launch == launch)[0]:
            sample = {
                "type": "samples",
                "case": number,
                "metric": case.metric,
                "launch": launch,
                "round": int(case.round[at]),
                "position": int(case.position[at]),
                "phase": "warmup" if case.warmup[at] else "measure",
                "iterations": 1,
                "values": [int(case.value[at])],
                "t_ns": len(timed) + 1,
            }
            timed.append(
                (number // 2, int(case.round[at]), int(case.position[at]), sample)
            )
    events += [sample for *_, sample in sorted(timed, key=lambda entry: entry[:3])]
    events.append(
        {
            "type": "check",
            "name": CHECK,
            "ok": check_ok,
            "detail": "" if check_ok else "3 before 2",
        }
    )
    return [*events, {"type": "done"}]


def write_directory(
    directory: Path,
    cases: Sequence[CaseSamples],
    manifest: Mapping[str, Any] | None = None,
    **run: Any,
) -> None:
    """Write what `paceline run` leaves: `run.json` and a stream per launch."""
    launches = sorted({int(number) for case in cases for number in case.launch})
    for launch in launches:
        lines = [json.dumps(event) for event in stream_events(cases, launch)]
        (directory / f"launch-{launch:03d}.sorter.jsonl").write_text(
            "\n".join(lines) + "\n"
        )
    content = {
        "suite": SUITE,
        "manifest": dict(manifest or suite_manifest()),
        "revision": "4f" * 20,
        "artifact_hash": "a" * 64,
        "target": "bench-host",
        "started_at": "2026-03-14T09:26:53+00:00",
        "build": {},
        "environment": {},
        "conditions": [],
        "failure": None,
        "options": {
            "benchmarks": [BENCHMARK],
            "launches": 5,
            "rounds": 20,
            "params": {},
            "knobs": {},
        },
        **run,
    }
    (directory / "run.json").write_text(json.dumps(content))


def write_ab_directory(
    directory: Path,
    sides: tuple[Sequence[CaseSamples], Sequence[CaseSamples]],
    *,
    artifacts: tuple[str, str] = ("b" * 64, "a" * 64),
    **run: Any,
) -> None:
    """Write what `paceline ab` leaves of (base, head)."""
    write_directory(
        directory,
        [],
        artifact_hash=artifacts[1],
        commits=[],
        base={"revision": "0b" * 20, "artifact_hash": artifacts[0], "build": {}},
        **run,
    )
    for side, cases in zip(("base", "head"), sides, strict=True):
        for launch in sorted({int(number) for case in cases for number in case.launch}):
            lines = [json.dumps(event) for event in stream_events(cases, launch)]
            name = f"launch-{launch:03d}.{side}.sorter.jsonl"
            (directory / name).write_text("\n".join(lines) + "\n")


def audit_again(
    evidence: Mapping[str, Any], cases: Sequence[CaseSamples], reference: str
) -> list[AuditFinding]:
    """Audit samples with the policy stored beside a verdict, not with today's (I16)."""
    parameters = evidence["parameters"]
    policy = AuditPolicy.from_dict(parameters["policy"])
    return audit(
        cases,
        reference,
        parameters["items"],
        policy,
        witnesses=parameters.get("witnesses", ()),
    )
