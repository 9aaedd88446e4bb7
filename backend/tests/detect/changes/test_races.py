"""Two rounds of one target at one instant: who waited sees what the other one kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from paceline_server.detect.changes import service as detection
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.history import Change
from paceline_server.testing import nightly_jobs
from paceline_server.testing.locks import wait_for_a_waiter
from paceline_server.testing.nightly_jobs import NightlyJobs
from sqlalchemy import select

on_postgresql = pytest.mark.shapes("scaled")
"""SQLite has one writer: nobody waits inside a transaction there."""


@on_postgresql
def test_marking_an_incident_keeps_the_evidence_another_round_wrote_meanwhile(
    database: object, enrolled: Callable[..., Any], clock: FrozenClock
) -> None:
    past = NightlyJobs(enrolled().target_id)
    rng, names = (
        np.random.default_rng(10),
        [(f"bench_{number}", "native", 1000) for number in range(6)],
    )
    for night in range(30):
        levels = [1100.0 if night >= 22 and at < 3 else 1000.0 for at in range(6)]
        values = levels * np.exp(rng.normal(0.0, 0.004, 6))
        past.night(
            {name: float(values[at]) for at, name in enumerate(names)},
            evaluate=night == 29,
        )
    assert [("incident" in one.evidence) for one in nightly_jobs.changes()] == [
        True
    ] * 3

    def mark() -> None:
        with session_scope() as session:
            held = session.scalars(select(Change)).all()
            detection.mark_incidents(session, [past.target_id])
            assert len(held) == 3

    with session_scope() as session:
        detection.mark_incidents(session, [past.target_id])
        for row in session.scalars(select(Change)):
            left = {
                name: value
                for name, value in row.evidence.items()
                if name != "incident"
            }
            row.evidence = left | {"round": {"other": 1}}
        session.flush()
        other = threading.Thread(target=mark)
        other.start()
        wait_for_a_waiter()
    other.join(120)
    found = [one.evidence for one in nightly_jobs.changes()]
    assert [(one["round"], "incident" in one) for one in found] == [
        ({"other": 1}, True)
    ] * 3
