"""Tests two rounds of a target at the same time: the second one must see what the first one stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.detect.changes import service as detection
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import session_scope
from paceline_server.store.tables.history import Change
from paceline_server.testing import nightly_jobs
from paceline_server.testing.concurrency import (
    ContextThread,
    wait_for_blocked_connection,
)
from paceline_server.testing.nightly_jobs import NightlyJobs
from sqlalchemy import select

on_postgresql = pytest.mark.shapes("scaled")
"""SQLite has one writer: nobody waits inside a transaction there."""


@on_postgresql
def test_marking_a_shift_keeps_the_evidence_another_round_wrote_meanwhile(
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
    assert [("incident" in change.evidence) for change in nightly_jobs.changes()] == [
        True
    ] * 3

    def mark() -> None:
        with session_scope() as session:
            held = session.scalars(select(Change)).all()
            detection.mark_target_shifts(session, [past.target_id])
            assert len(held) == 3

    with session_scope() as session:
        detection.mark_target_shifts(session, [past.target_id])
        for row in session.scalars(select(Change)):
            other_evidence = {
                name: value
                for name, value in row.evidence.items()
                if name != "incident"
            }
            row.evidence = other_evidence | {"round": {"other": 1}}
        session.flush()
        other = ContextThread(target=mark)
        other.start()
        wait_for_blocked_connection()
    other.join(WITHIN_S)
    evidences = [change.evidence for change in nightly_jobs.changes()]
    assert [(evidence["round"], "incident" in evidence) for evidence in evidences] == [
        ({"other": 1}, True)
    ] * 3
