"""Tests a target's page for a period with more readings than are shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.reports.target_conditions import MAX_READINGS
from paceline_server.store.session import session_scope
from paceline_server.store.tables.fleet import Target, TargetReading
from sqlalchemy import insert


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize("cut", [False, True])
def test_a_month_with_too_many_readings_says_where_it_begins(
    client: TestClient,
    clock: FrozenClock,
    enrolled: Callable[..., Any],
    token: Callable[..., dict[str, str]],
    cut: bool,
) -> None:
    target_id, now = enrolled("phone").target_id, clock.now()
    oldest = now - timedelta(minutes=5 * (MAX_READINGS - 1))
    readings = [
        {
            "target_id": target_id,
            "at": now - timedelta(minutes=5 * back),
            "battery_c": 30.0,
        }
        for back in range(MAX_READINGS + cut)
    ]
    with session_scope() as session:
        session.get_one(Target, target_id).kind = "device"
        session.execute(insert(TargetReading), readings)
    query = {"from": (now - timedelta(days=31)).isoformat()}
    answer = client.get(
        f"/api/v1/targets/{target_id}/conditions", params=query, headers=token("read")
    )
    conditions = answer.json()
    assert conditions["tracks"][0]["points"][0]["at"].startswith(
        f"{oldest:%Y-%m-%dT%H:%M}"
    )
    note = f"There are too many readings for all of this time: these begin {oldest:%Y-%m-%d %H:%M} UTC. Read"
    assert conditions["note"].startswith(note) is cut
    assert not conditions["gaps"]
