"""Every golden stream, fed through the items endpoint: accepted whole or refused at its faulty event."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.ingest import service as ingest
from paceline_server.ingest.stream import case_samples, read_stream
from paceline_server.store.session import read_scope
from paceline_server.testing.scripted_agent import (
    LeasedJob,
    ScriptedAgent,
    announce,
    event_item,
    samples_item,
)

PREFIX = "/api/v1"
Make = Callable[..., Any]
VECTORS = Path(__file__).parents[3] / "native" / "protocol" / "vectors"


TOTALS_ONLY = {"huge_int", "fraction", "float_integer", "exponent"}
"""Faults of totals that a quotient of floats, which is what an agent uploads, cannot show."""
OTHER_PARAMS = {"interleaved"}
"""Measures cases of one benchmark with different params, which no manifest can declare."""
BETWEEN_EVENTS = {"unavailable_with_samples"}
"""Faults between two events that the agent's reader refuses: an uploaded sample names no case number."""
EVENT_FAULTS = {"bad_field", "missing_field", "unknown_type", "unknown_unit", "version"}


def vector_events(name: str) -> list[Any]:
    lines = (VECTORS / f"{name}.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line.strip()]


def manifest_for(events: list[Any]) -> dict[str, Any]:
    """A manifest that declares what a vector measures."""
    suite = next(each["suite"] for each in events if each.get("type") == "start")
    return {
        "schema": 1,
        "suite": {"name": suite, "title": "Vector"},
        "workloads": [
            {"name": "w", "host": {"build": [], "artifacts": ["w"], "run": ["w"]}}
        ],
        "benchmarks": {
            "ledger_batch": {
                "title": "b",
                "workload": "w",
                "arms": ["fallback", "native", "avx512_x16"],
                "reference": "fallback",
                "params": {
                    "batch": {
                        "kind": "int",
                        "values": [1000, 2000],
                        "minimum": 1,
                        "maximum": 10**6,
                    }
                },
                "metrics": {
                    "time": {"unit": "ns", "direction": "lower"},
                    "call_time": {"unit": "ns", "direction": "lower"},
                },
            }
        },
    }


def items_of(events: list[Any]) -> list[dict[str, Any]]:
    """A stream's events as an agent uploads them: values divided by iterations, everything else verbatim."""
    cases = {each["case"]: each for each in events if each["type"] == "case"}
    items = []
    for seq, each in enumerate(events):
        if each["type"] != "samples":
            items.append(event_item(seq, each))
            continue
        case, n = cases[each["case"]], len(each["values"])
        items.append(
            samples_item(
                seq,
                [value / each["iterations"] for value in each["values"]],
                benchmark=case["benchmark"],
                arm=case["arm"],
                params=case["params"],
                metric=each["metric"],
                work={
                    name: [count] * n for name, count in each.get("work", {}).items()
                },
                phase=each["phase"],
                rounds=[each["round"]] * n,
                positions=[each["position"]] * n,
                iterations=[each["iterations"]] * n,
                t_ns=[each["t_ns"]] * n,
            )
        )
    return items


def vectors(*, ok: bool) -> list[str]:
    """Vectors an agent could upload: whole streams, or streams whose fault lies in one event."""
    names = []
    for path in sorted(VECTORS.glob("*.expect.json")):
        name = path.name.removesuffix(".expect.json")
        expected = json.loads(path.read_text())
        if not (VECTORS / f"{name}.jsonl").exists() or expected["ok"] is not ok:
            continue
        if name in TOTALS_ONLY | OTHER_PARAMS | BETWEEN_EVENTS:
            continue
        if ok or expected["fault"]["code"] in EVENT_FAULTS:
            names.append(name)
    return names


@pytest.mark.parametrize("name", vectors(ok=True))
def test_an_accepted_vector_arrives_whole(
    client: TestClient, enrolled: Make, ci: dict[str, str], name: str
) -> None:
    events = vector_events(name)
    lab = enrolled("lab-1")
    announce(lab.agent_id, manifest_for(events))
    suite = manifest_for(events)["suite"]["name"]
    assert (
        client.post(f"{PREFIX}/runs", json={"suite": suite}, headers=ci).status_code
        == 201
    )
    job = ScriptedAgent(client, lab.headers).lease()
    job.report("measuring")
    items = items_of(events)
    answer = job.send(*items)
    assert answer.json() == {"stored": len(items), "duplicates": 0}, answer.text
    assert job.finish(len(items) - 1).status_code == 204
    expected = json.loads((VECTORS / f"{name}.expect.json").read_text())
    stream = read_stream(VECTORS / f"{name}.jsonl")
    with read_scope() as session:
        assert len(ingest.cases(session, job.job_id)) == expected["cases"]
        assert len(ingest.checks(session, job.job_id)) == expected["checks"]
        assert len(ingest.warnings(session, job.job_id)) == expected["warnings"]
        uploaded = ingest.read_samples(session, job.job_id)
    for ours, raw in zip(uploaded, case_samples([stream]), strict=True):
        assert (ours.benchmark, ours.arm, ours.params, ours.metric) == (
            raw.benchmark,
            raw.arm,
            raw.params,
            raw.metric,
        )
        assert ours.value.tolist() == raw.value.tolist()
        assert ours.round.tolist() == raw.round.tolist()
        assert ours.warmup.tolist() == raw.warmup.tolist()
        assert ours.iterations is not None
        assert raw.iterations is not None
        assert ours.iterations.tolist() == raw.iterations.tolist()
        assert {name: counts.tolist() for name, counts in ours.work.items()} == {
            name: counts.tolist() for name, counts in raw.work.items()
        }


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize("name", vectors(ok=False))
def test_a_vector_with_a_faulty_event_is_refused_at_that_event(
    stored: Make, leased: LeasedJob, name: str
) -> None:
    fault = json.loads((VECTORS / f"{name}.expect.json").read_text())["fault"]
    line = (VECTORS / f"{name}.jsonl").read_bytes().split(b"\n")[fault["line"] - 1]
    faulty = json.loads(line)
    if faulty.get("type") == "samples" and name in (
        "undeclared_metric",
        "other_launch",
    ):
        faulty = (
            samples_item(3, metric="rss_peak")
            if name == "undeclared_metric"
            else samples_item(3, launch=9)
        )
        answer = leased.send(faulty)
    elif faulty.get("type") == "samples":
        fields = {
            "phase": faulty.get("phase"),
            "iterations": [faulty.get("iterations")],
            "values": faulty["values"],
            "work": faulty["work"]
            if not isinstance(faulty.get("work", {}), dict)
            else {name: [count] for name, count in faulty.get("work", {}).items()},
        }
        answer = leased.send(samples_item(3) | fields)
    else:
        answer = leased.send(event_item(3, faulty))
    code = "not_declared" if name == "undeclared_metric" else "invalid_request"
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert "item 0 (seq 3)" in answer.json()["detail"]
    assert stored() == 0
