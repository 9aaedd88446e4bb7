"""A stream with the original's protocol has its five defects named, an honest one none."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from paceline_server.detect.judge import judge
from paceline_server.testing.sorting_suite import suite_manifest

FIVE = {
    "order_unbalanced",
    "too_few",
    "warmup_in_timer",
    "preparation_in_timer",
    "unequal_work",
}
BATCH = 1000
WARMUP_ROUNDS = 5
"""Rounds of the original measurement inside its native timer."""
FALLBACK_NS, NATIVE_NS = 400_000, 800_000
"""One batch in steady state: native, called once per fingerprint, takes twice as long."""
COLD_NS = 6_000_000
"""The extra time of the first passes of a fresh process, in whichever arm runs them."""


def _start_events(launch: int) -> Iterator[dict[str, Any]]:
    yield {
        "type": "start",
        "v": 1,
        "suite": "sorting",
        "workload": "sorter",
        "launch": launch,
        "seed": launch,
        "build": {},
        "clock": {"name": "simulated", "resolution_ns": 1, "overhead_ns": 1},
    }
    for number, arm in enumerate(("fallback", "native")):
        yield {
            "type": "case",
            "case": number,
            "benchmark": "sort_batch",
            "arm": arm,
            "params": {"batch": BATCH},
            "metrics": [{"name": "time", "unit": "ns", "direction": "lower"}],
            "items_per_iteration": BATCH,
        }


def _sample(
    case: int, launch: int, number: int, position: int, value: float, **more: Any
) -> dict[str, Any]:
    return {
        "type": "samples",
        "case": case,
        "metric": "time",
        "launch": launch,
        "round": number,
        "position": position,
        "phase": "measure",
        "iterations": 1,
        "values": [int(value)],
        "t_ns": 1 + 2 * number + position,
        **more,
    }


def seed_stream() -> Iterator[dict[str, Any]]:
    """Three iterations, native first; inputs are built in both timers; native repeats its warm-up inside its
    own and drops its digests, while the fallback keeps them and pays for the cold start."""
    yield from _start_events(0)
    for number in range(3):
        built = 200_000
        native = {"items": BATCH * (1 + WARMUP_ROUNDS), "prepared": BATCH, "kept": 0}
        fallback = {"items": BATCH, "prepared": BATCH, "kept": BATCH}
        yield _sample(
            1, 0, number, 0, built + NATIVE_NS * (1 + WARMUP_ROUNDS), work=native
        )
        yield _sample(
            0, 0, number, 1, built + FALLBACK_NS + COLD_NS + COLD_NS // 2, work=fallback
        )
    yield {"type": "check", "name": "sorted", "ok": True}
    yield {"type": "done"}


def honest_stream(launch: int) -> Iterator[dict[str, Any]]:
    """The same two arms, interleaved and mirrored, warm-up rounds first, equal work."""
    yield from _start_events(launch)
    rng = np.random.default_rng(launch)
    work = {"items": BATCH, "prepared": 0, "kept": BATCH}
    for number in range(WARMUP_ROUNDS + 20):
        phase = "warmup" if number < WARMUP_ROUNDS else "measure"
        order = (0, 1) if number % 2 else (1, 0)
        for position, case in enumerate(order):
            level = NATIVE_NS if case else FALLBACK_NS
            value = level * np.exp(0.004 * rng.standard_normal())
            yield _sample(case, launch, number, position, value, phase=phase, work=work)
    yield {"type": "check", "name": "sorted", "ok": True}
    yield {"type": "done"}


def _write(directory: Path, launch: int, events: Iterator[dict[str, Any]]) -> None:
    lines = [json.dumps(event) for event in events]
    (directory / f"launch-{launch:03d}.sorter.jsonl").write_text(
        "\n".join(lines) + "\n"
    )


def _judge(directory: Path) -> tuple[int, str, dict[str, Any]]:
    manifest = suite_manifest()
    manifest["benchmarks"]["sort_batch"]["params"]["batch"]["values"] = [BATCH]
    run = {"manifest": manifest, "options": {"launches": 5, "rounds": 20}}
    (directory / "run.json").write_text(json.dumps(run))
    out = io.StringIO()
    code = judge(directory, out, json_path=directory / "out.json")
    return code, out.getvalue(), json.loads((directory / "out.json").read_text())


def test_the_origins_protocol_is_named_for_exactly_its_five_defects(
    tmp_path: Path,
) -> None:
    _write(tmp_path, 0, seed_stream())
    code, text, report = _judge(tmp_path)
    assert {row["name"] for row in report["audits"]} == FIVE
    assert code == 3
    (row,) = report["comparisons"]
    assert row["verdict"] == "inconclusive"
    assert (
        "means alone say native 1.92\u00d7 faster than fallback; defects: order_unbalanced"
        in text
    )


def test_the_same_arms_measured_honestly_have_no_defect_and_the_true_verdict(
    tmp_path: Path,
) -> None:
    for launch in range(5):
        _write(tmp_path, launch, honest_stream(launch))
    code, text, report = _judge(tmp_path)
    assert report["audits"] == []
    assert (code, report["comparisons"][0]["verdict"]) == (2, "fail")
    assert 1.9 < report["comparisons"][0]["ratio"] < 2.1
    assert "means alone" not in text
