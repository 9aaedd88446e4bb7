"""Tests transactions on the series of a target at the same time: a second round must see what the first one stored, and
none waits for another without need."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.detect.changes import queries
from paceline_server.detect.changes import service as detection
from paceline_server.kernel.clock import FrozenClock
from paceline_server.series import point_queries as points
from paceline_server.store.session import session_scope
from paceline_server.store.tables.history import Change, SeriesPoint
from paceline_server.testing import nightly_jobs
from paceline_server.testing.concurrency import (
    ContextThread,
    wait_for_blocked_connection,
)
from paceline_server.testing.nightly_jobs import TIME, NightlyJobs
from paceline_server.testing.sorting_suite import SUITE, suite_manifest
from paceline_server.testing.stored_jobs import store_finished_job
from sqlalchemy import select
from sqlalchemy.orm import Session

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


def _move_last_at(session: Session, series_id: str) -> None:
    points.update_last_at(session, [series_id], nightly_jobs.START)


def _lock_for_evaluation(session: Session, series_id: str) -> None:
    queries.lock_series(session, [series_id])


@on_postgresql
@pytest.mark.parametrize("lock", [_move_last_at, _lock_for_evaluation])
def test_a_series_is_locked_while_another_transaction_appends_a_point_to_it(
    database: object,
    enrolled: Callable[..., Any],
    lock: Callable[[Session, str], None],
) -> None:
    """Of two jobs that append points to the same series and then lock them, each would wait for the other."""
    past = NightlyJobs(enrolled().target_id)
    past.night({TIME: 1000.0}, evaluate=False)
    job = store_finished_job(
        past.target_id, nightly_jobs.START, suite=SUITE, manifest=suite_manifest()
    )
    locked = threading.Event()

    def lock_series(series_id: str) -> None:
        with session_scope() as session:
            lock(session, series_id)
            locked.set()

    with session_scope() as session:
        point = session.scalars(select(SeriesPoint)).one()
        row = {
            column.name: getattr(point, column.name)
            for column in SeriesPoint.__table__.columns
        }
        points.add_points(session, [row | {"job_id": job.id}])
        other = ContextThread(target=lock_series, args=(point.series_id,))
        other.start()
        assert locked.wait(WITHIN_S)
    other.join(WITHIN_S)
