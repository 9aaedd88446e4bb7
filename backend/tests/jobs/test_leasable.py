"""The lease's condition in SQL and the sentence in Python are one rule, over all that a target can be."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from paceline_server.fleet.target_messages import describe_availability
from paceline_server.fleet.target_state import is_connected
from paceline_server.jobs import queries
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel import ids
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job
from sqlalchemy import insert, select

pytestmark = pytest.mark.shapes("embedded", "scaled")

Make = Callable[..., Any]

STATES = ("unknown", "checking", "good", "recovering", "suspect", "quarantined")
CONNECTIONS = (None, "absent", "offline", "unauthorized", "booting", "online")
HOUR = timedelta(hours=1)
MAINTENANCE = (
    (None, None),
    ("Ada", None),
    ("Ada", -HOUR),
    ("Ada", timedelta()),
    ("Ada", HOUR),
)
COLUMNS = ("kind", "health", "connection", "maintenance", "refuses", "busy")


def test_a_job_is_leased_exactly_where_the_target_says_that_it_takes_jobs(
    clock: FrozenClock, enrolled: Make, new_run: Make
) -> None:
    lab, at = enrolled("rack"), clock.now()
    run_id = new_run()["id"]
    product = itertools.product(
        ("host", "device"),
        STATES,
        CONNECTIONS,
        MAINTENANCE,
        (None, "disk full"),
        (False, True),
    )
    targets, jobs = [], []
    for number, row in enumerate(product):
        one: dict[str, Any] = dict(zip(COLUMNS, row, strict=True))
        by, until = one["maintenance"]
        target_id = f"tgt_{number:05}"
        targets.append(
            {
                "id": target_id,
                "kind": one["kind"],
                "serial": str(number),
                "name": str(number),
                "agent_id": lab.agent_id,
                "factors": {},
                "fingerprint": "",
                "preflight": [],
                "simulated": False,
                "created_at": at,
                "last_seen_at": at,
                "health": one["health"],
                "connection": one["connection"],
                "refuses": one["refuses"],
                "maintenance_by": by,
                "maintenance_until": None if until is None else at + until,
                "held_for": [],
                "configuration": [],
                "last_check_raw": [],
                "failures": 0,
                "checked": False,
            }
        )
        queued = {
            "run_id": run_id,
            "target_id": target_id,
            "attempt": 0,
            "batch": 0,
            "requeues": 0,
            "seed": 1,
            "partial": False,
            "samples": 0,
            "not_before": at,
            "created_at": at,
            "launches": 5,
        }
        jobs.append({**queued, "id": ids.new_id("job"), "state": "queued"})
        if one["busy"]:
            jobs.append({**queued, "id": ids.new_id("job"), "state": "measuring"})
    with session_scope() as session:
        session.execute(insert(Target), targets)
        session.execute(insert(Job), jobs)
    with read_scope() as session:
        busy = set(
            session.scalars(select(Job.target_id).where(Job.state == "measuring"))
        )
        leasable = queries._select_next_leasable(
            lab.agent_id, None, clock_module.now()
        ).limit(None)
        found = set(session.scalars(select(Job.target_id).where(Job.id.in_(leasable))))
        rows = session.scalars(
            select(Target).where(Target.id.in_([target["id"] for target in targets]))
        )
        wrong = [
            (
                one.kind,
                one.health,
                one.connection,
                one.maintenance_by,
                one.maintenance_until,
                one.refuses,
            )
            for one in rows
            if describe_availability(
                one, at, online=is_connected(one), busy=one.id in busy
            )[0]
            != (one.id in found)
        ]
    assert wrong == []
    assert found, "some take jobs"
