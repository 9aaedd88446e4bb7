"""A defective protocol and an unavailable arm through the database: stored, recomputed, and never alerting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from paceline_server.detect import service
from paceline_server.ingest import service as ingest
from paceline_server.stats.samples import CaseSamples
from paceline_server.store import outbox
from paceline_server.store.session import read_scope
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.sorting_suite import BENCHMARK, audit_again, suite_manifest

SLOWER = {1000: 0.5, 2000: 0.5}
REASON = "Java 17 has no foreign-function API"


def seed_protocol(cases: list[CaseSamples]) -> list[CaseSamples]:
    """Native first, warm-up and preparation inside its timer, digests dropped; no warm-up rounds marked."""
    changed = []
    for case in cases:
        n, native = case.value.size, case.arm == "native"
        work = {
            "items": 6000 if native else 1000,
            "prepared": 1000,
            "kept": 0 if native else 1000,
        }
        changed.append(
            replace(
                case,
                position=np.full(n, 0 if native else 1),
                warmup=np.zeros(n, dtype=np.bool_),
                iterations=np.ones(n, dtype=np.int64),
                work={name: np.full(n, count) for name, count in work.items()},
            )
        )
    return changed


def case_event(number: int, arm: str, batch: int, **more: Any) -> dict[str, Any]:
    metrics = [{"name": "time", "unit": "ns", "direction": "lower"}]
    return {
        "type": "case",
        "case": number,
        "benchmark": BENCHMARK,
        "arm": arm,
        "params": {"batch": batch},
        "metrics": metrics,
        **more,
    }


def get(lab: Lab, path: str) -> Any:
    answer = lab.client.get(f"/api/v1{path}", headers=dict(lab.headers))
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_defective_protocol_is_stored_by_name_and_raises_no_alert(lab: Lab) -> None:
    lab.request()
    announced = [
        case_event(0, arm, 1000, items_per_iteration=1000)
        for arm in ("native", "fallback")
    ]
    leased = lab.deliver(SLOWER, alter=seed_protocol, announced=announced)
    outbox.drain()
    job = get(lab, f"/jobs/{leased.job_id}")
    assert (job["state"], job["verdict"]) == ("done", "inconclusive")
    assert get(lab, "/alerts")["items"] == []
    audit = get(lab, f"/jobs/{leased.job_id}/report")["audits"][0]
    names = {finding["name"] for finding in audit["findings"] if finding["decisive"]}
    assert names == {
        "order_unbalanced",
        "warmup_in_timer",
        "preparation_in_timer",
        "unequal_work",
    }
    assert audit["naive"].startswith("native 1.4")
    assert audit["naive"].endswith("slower than fallback")
    with read_scope() as session:
        rows = service.comparisons_of_job(session, leased.job_id)
        cases = ingest.read_samples(session, leased.job_id)
    for row in rows:
        assert row.verdict == "inconclusive"
        assert all(name in row.reason for name in names)
        group = [case for case in cases if case.params == row.params]
        recomputed = audit_again(row.evidence["audit"], group, row.reference)
        assert [finding.as_dict() for finding in recomputed] == row.evidence["audit"][
            "findings"
        ]


@pytest.mark.shapes("embedded", "scaled")
def test_an_arm_that_cannot_run_here_is_stored_as_not_applicable(lab: Lab) -> None:
    lab.request()
    announced = [
        case_event(batch, "native", batch, unavailable=REASON) for batch in SLOWER
    ]
    leased = lab.deliver(
        SLOWER,
        alter=lambda cases: [case for case in cases if case.arm == "fallback"],
        announced=announced,
    )
    outbox.drain()
    job = get(lab, f"/jobs/{leased.job_id}")
    assert (job["state"], job["verdict"]) == ("done", "pass")
    assert job["reason"] == "2 comparisons or gates do not apply here"
    report = get(lab, f"/jobs/{leased.job_id}/report")
    assert report["unavailable"] == [
        {"benchmark": BENCHMARK, "params": {}, "arm": "native", "reason": REASON}
    ]
    rows = get(lab, f"/runs/{leased.run_id}/comparisons")["items"]
    assert {row["verdict"] for row in rows} == {"not_applicable"}
    arms = get(lab, f"/arms?suite=sorting&benchmark={BENCHMARK}")
    assert "not available at both points" in arms["summary"]


def test_a_gate_on_a_stored_job_names_the_engine_that_the_arm_chose(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    gate = {
        "benchmark": BENCHMARK,
        "arm": "native",
        "metric": "time",
        "op": "<=",
        "required": 1.0,
    }
    lab = open_lab(client, enrolled, token, manifest=suite_manifest(gates=[gate]))
    lab.request()
    start = {
        "type": "start",
        "v": 1,
        "suite": "sorting",
        "workload": "sorter",
        "launch": 0,
        "seed": 0,
        "build": {f"engine.{BENCHMARK}.native": "portable"},
        "clock": {"name": "simulated", "resolution_ns": 1, "overhead_ns": 1},
    }
    leased = lab.deliver({1000: -0.5, 2000: -0.5}, announced=[start])
    outbox.drain()
    rows = get(lab, f"/jobs/{leased.job_id}/report")["gates"]
    assert {row["verdict"] for row in rows} == {"fail"}
    assert all(row["reason"].endswith("; engine portable") for row in rows)
    assert get(lab, f"/jobs/{leased.job_id}")["verdict"] == "fail"
