"""The journey of a measurement with nothing fake: real agent, real JVM workload, real API and worker on PostgreSQL and Redis."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_contract.testing.waiting import wait_until

from .stack import CLONE, Stack, with_kept_builds

pytestmark = [pytest.mark.journey, pytest.mark.shapes("scaled")]

BENCHMARK = "ledger_batch"
QUICK = {"benchmarks": [BENCHMARK], "launches": 3, "rounds": 12, "min_time_ns": 200_000}
DEMONSTRATION = {"knobs": {"native_slowdown_percent": 1500}}


@pytest.mark.timeout(900)
def test_a_real_run_is_judged_and_a_slowed_native_arm_becomes_a_confirmed_alert(
    stack: Stack,
) -> None:
    with_kept_builds(
        stack.directory / "host"
    )  # that a clone builds cold, test_first_run.py says
    stack.agent({"paceline": (CLONE, "native/hashing/suite.toml")}, name="host")
    quick = {**QUICK, "params": _one_point(stack)}
    job = stack.measure("hashing", **quick)
    ended = stack.job_in(job, "done", "failed")
    assert ended["state"] == "done", ended

    report = stack.get(f"/jobs/{job}/report")
    checks = {check["name"]: check["ok"] for check in report["checks"]}
    assert checks
    assert all(checks.values()), checks
    comparison = next(row for row in report["comparisons"] if row["arm"] == "native")
    assert (comparison["benchmark"], comparison["reference"]) == (BENCHMARK, "fallback")
    assert comparison["blocks"] >= 30
    assert comparison["launches"] == 3
    assert comparison["lower"] <= comparison["ratio"] <= comparison["upper"]
    assert stack.get(f"/jobs/{job}/conditions")["items"], (
        "conditions travel with every run"
    )
    assert stack.alerts() == []

    slowed = stack.measure("hashing", **quick, **DEMONSTRATION)
    assert stack.job_in(slowed, "done", "failed")["verdict"] == "fail"
    alert = wait_until("a candidate alert", lambda: stack.get("/alerts")["items"])[0]
    assert alert["demonstration"] is True
    opened = wait_until(
        "the alert to be confirmed", lambda: _in_state(stack, alert["id"], "open")
    )
    roles = {finding["role"] for finding in opened["findings"]}
    assert roles == {"candidate", "confirmation"}
    candidate, confirmation = (
        {finding["job_id"] for finding in opened["findings"] if finding["role"] == role}
        for role in ("candidate", "confirmation")
    )
    assert candidate.isdisjoint(confirmation), (
        "confirmation is a new session, never the same data"
    )
    assert "slower" in opened["words"]

    acknowledged = stack.post(
        f"/alerts/{alert['id']}/actions", {"action": "acknowledge", "note": "seen"}
    )
    assert acknowledged["state"] == "acknowledged"
    assert acknowledged["history"][-1]["note"] == "seen"


def _one_point(stack: Stack) -> dict[str, list[int | str]]:
    """A batch of 1,000 of messages without a gate: a journey checks the way, not the figures, and a gate would judge
    the machine."""
    declared = next(
        one for one in stack.suite("hashing")["benchmarks"] if one["name"] == BENCHMARK
    )
    values = {param["name"]: param["values"][0] for param in declared["params"]}
    point = {**values, "batch": 1000, "message": 64}
    return {name: [value] for name, value in point.items()}


def _in_state(stack: Stack, alert_id: str, state: str) -> dict[str, Any] | None:
    alert: dict[str, Any] = stack.get(f"/alerts/{alert_id}")
    return alert if alert["state"] == state else None
