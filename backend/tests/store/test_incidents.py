"""Tests that incidents are stored, logged as errors and counted."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import incidents, outbox
from paceline_server.store.session import session_scope
from sqlalchemy.orm import Session

pytestmark = pytest.mark.shapes("embedded", "scaled")

TOPIC = "test.stuck"


@pytest.fixture(autouse=True)
def _always_failing() -> None:
    @outbox.handle_topic(TOPIC)
    def fail(_: Session, key: str) -> None:
        raise RuntimeError(f"no {key}")


def test_operators_read_incidents_in_pages(
    client: TestClient, token: Callable[..., dict[str, str]]
) -> None:
    for number in range(3):
        with session_scope() as session:
            incidents.report(session, incidents.ITEM_CONFLICT, {"seq": number})
    admin = token("admin")
    first = client.get("/api/v1/incidents", params={"limit": 2}, headers=admin).json()
    assert [(item["code"], item["detail"]) for item in first["items"]] == [
        ("item_conflict", {"seq": 2}),
        ("item_conflict", {"seq": 1}),
    ]
    rest = client.get(
        "/api/v1/incidents", params={"cursor": first["next"]}, headers=admin
    ).json()
    assert [item["detail"]["seq"] for item in rest["items"]] == [0]
    assert client.get("/api/v1/incidents", headers=token("read")).status_code == 403


def test_a_repeated_failure_is_one_incident(
    client: TestClient, clock: FrozenClock
) -> None:
    assert (
        'paceline_incidents_total{code="outbox_stuck"} 0.0'
        in client.get("/metrics").text
    )
    with session_scope() as session:
        outbox.add(session, TOPIC, "job_1")
    output = io.StringIO()
    with redirect_stderr(output):
        for _ in range(outbox.INCIDENT_AFTER + 2):
            outbox.drain()
            clock.advance(max(outbox.BACK_OFF_S))
    entries = [json.loads(line) for line in output.getvalue().splitlines()]
    entries = [line for line in entries if line["event"] == "incident"]
    assert [(line["level"], line["code"], line["topic"]) for line in entries] == [
        ("error", "outbox_stuck", TOPIC)
    ]
    text = client.get("/metrics").text
    assert 'paceline_incidents_total{code="outbox_stuck"} 1.0' in text
    assert 'paceline_incidents_total{code="item_conflict"} 0.0' in text
    assert "# TYPE paceline_incidents_total counter" in text
