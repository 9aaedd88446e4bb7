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


def measure(lab: Lab, *, sigma: float = 0.004, waited: float | None = None) -> None:
    readings = [] if waited is None else [{"workload_wait_percent": waited}] * 3
    lab.request(branch="main")
    lab.deliver(EFFECTS, sigma=sigma, conditions=readings)
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
    measure(quiet, waited=1.0)
    measure(noisy, sigma=0.08, waited=40.0)
    first, second = by_noise(idle)
    assert [first["target_name"], second["target_name"]] == ["b-noisy", "a-quiet"]
    assert first["scatter"] > 3 * second["scatter"] > 0
    assert (first["waiting_percent"], second["waiting_percent"]) == (40.0, 1.0)
    assert (first["void_jobs"], first["jobs"], first["void_share"]) == (1, 1, 1.0)
    assert (second["void_jobs"], second["void_share"]) == (0, 0.0)
    clock.advance(15 * 86_400)
    assert by_noise(idle) == []


def test_a_target_that_does_not_report_waiting_has_none(lab: Lab) -> None:
    measure(lab)
    (target,) = by_noise(lab)
    assert target["waiting_percent"] is None
