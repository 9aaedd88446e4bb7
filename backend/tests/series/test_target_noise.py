"""Tests which target is called noisy, from ingested jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.testing.delivered_jobs import Lab, open_lab

EFFECTS = {1000: -0.5, 2000: -0.6}


def by_noise(lab: Lab) -> list[dict[str, Any]]:
    answer = lab.client.get("/api/v1/targets-by-noise", headers=dict(lab.headers))
    assert answer.status_code == 200, answer.text
    return list(answer.json()["targets"])


def waiting(percent: float) -> list[dict[str, Any]]:
    return [{"workload_wait_percent": percent}] * 3


def measure(lab: Lab, **delivery: Any) -> None:
    lab.request(branch="main")
    lab.deliver(EFFECTS, **delivery)
    outbox.drain()


@pytest.mark.shapes("embedded", "scaled")
def test_the_target_with_the_widest_scatter_comes_first(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    quiet, noisy, idle = (
        open_lab(client, enrolled, token, name=name)
        for name in ("a-quiet", "b-noisy", "c-idle")
    )
    measure(quiet, conditions=waiting(1.0))
    measure(noisy, sigma=0.08, conditions=waiting(40.0))
    first, second = by_noise(idle)
    assert [first["target_name"], second["target_name"]] == ["b-noisy", "a-quiet"]
    assert first["scatter"] > 3 * second["scatter"] > 0
    assert (first["waiting_percent"], second["waiting_percent"]) == (40.0, 1.0)
    clock.advance(15 * 86_400)
    assert by_noise(idle) == []


def test_processes_of_a_job_that_wait_for_one_another_are_no_waiting(lab: Lab) -> None:
    measure(lab, conditions=[{"psi_cpu_percent": 40.0, "others_cpu_percent": 3.0}])
    (target,) = by_noise(lab)
    assert target["waiting_percent"] == 3.0


def test_a_target_that_does_not_report_waiting_has_none(lab: Lab) -> None:
    measure(lab)
    (target,) = by_noise(lab)
    assert target["waiting_percent"] is None


@pytest.mark.parametrize(
    "delivery",
    [
        {"conditions": waiting(40.0)},
        {
            "conditions": [
                {"phase": "before", "calibration_ns": 1_000_000},
                {"phase": "after", "calibration_ns": 1_200_000},
            ]
        },
        {"conditions": [{"thermal_status": 5}]},
        {"checks_ok": False},
    ],
    ids=["busy", "drifting", "void", "failed check"],
)
def test_jobs_that_count_in_no_series_are_excluded(
    lab: Lab, delivery: dict[str, Any]
) -> None:
    """A disturbed job has a verdict, and yet its host must not rank as clean."""
    measure(lab)
    measure(lab, **delivery)
    (target,) = by_noise(lab)
    assert (target["excluded_jobs"], target["jobs"]) == (1, 2)
    assert target["excluded_share"] == 0.5
