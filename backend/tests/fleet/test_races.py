"""Concurrent transactions on one device (PostgreSQL): no deadlock, no lost update, no needless wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.alerts import lifecycle
from paceline_server.fleet import (
    device_orders,
    expiry,
    queries,
    service,
    target_actions,
)
from paceline_server.fleet.schemas import HeartbeatIn
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import RunIn
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.store.session import session_scope
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.fleet import Target
from paceline_server.testing.concurrency import (
    ContextThread,
    wait_for_blocked_connection,
)
from paceline_server.testing.scripted_agent import ScriptedAgent
from paceline_server.testing.scripted_device import COOL, ScriptedDevice
from sqlalchemy.orm import Session

from .conftest import Person

pytestmark = pytest.mark.shapes("scaled")
"""SQLite has one writer, so no transaction waits for another's row."""

Work = Callable[[Session], Any]


class ConcurrentTransaction:
    """Another transaction, in a thread of its own."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._failed: list[BaseException] = []
        self._thread = ContextThread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with session_scope() as session:
                self._work(session)
        except BaseException as error:
            self._failed.append(error)

    def wait_until_committed(self) -> None:
        self._thread.join(WITHIN_S)
        assert not self._thread.is_alive(), "it is still blocked"
        assert self._failed == []


def heartbeat(phone: ScriptedDevice, **changes: Any) -> Work:
    with session_scope() as session:
        agent_id = session.get_one(Target, phone.target_id).agent_id
    body = HeartbeatIn.model_validate(
        {"version": "1", "targets": [phone.announcement(**changes)]}
    )
    return lambda session: service.heartbeat(session, agent_id, body)


HOT = {**COOL, "battery_c": 40.0, "ms_ago": 0}


def test_a_heartbeat_does_not_overwrite_a_concurrent_decision_of_a_person(
    phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    with session_scope() as session:
        queries.lock_target(session, target_id)
        other = ConcurrentTransaction(heartbeat(phone, gates=HOT))
        wait_for_blocked_connection()
        target_actions.quarantine(session, target_id, "it is swollen", "Ada")
    other.wait_until_committed()
    assert person.target(target_id)["health"]["state"] == "quarantined"


def test_a_decision_of_a_person_sees_a_concurrent_heartbeat(
    phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    with session_scope() as session:
        heartbeat(phone, gates=HOT)(session)
        session.flush()
        other = ConcurrentTransaction(
            lambda mine: target_actions.quarantine(
                mine, target_id, "it is swollen", "Ada"
            )
        )
        wait_for_blocked_connection()
    other.wait_until_committed()
    newest = person.history(target_id, "health")[0]
    assert (newest["from_state"], newest["to_state"]) == ("recovering", "quarantined")


@pytest.mark.parametrize("repeated", [True, False])
def test_concurrent_heartbeats_change_the_health_of_a_device_one_after_the_other(
    phone: ScriptedDevice, person: Person, repeated: bool
) -> None:
    """A check that is reported again because the answer was late counts once."""
    target_id, check = phone.healthy(), phone.check(ok=False)
    with session_scope() as session:
        heartbeat(phone, check=check)(session)
        session.flush()
        other = ConcurrentTransaction(
            heartbeat(phone, check=check if repeated else phone.check(ok=False))
        )
        wait_for_blocked_connection()
    other.wait_until_committed()
    assert person.target(target_id)["health"]["failures"] == (1 if repeated else 2)
    failed = [
        name for name in person.events(target_id, "health") if name == "check_failed"
    ]
    assert len(failed) == (1 if repeated else 2)


def test_a_heartbeat_does_not_block_the_creation_of_a_run(
    lab: ScriptedAgent, phone: ScriptedDevice
) -> None:
    assert lab.headers
    spec = RunIn(suite="demo", benchmarks=["sorting"], targets=[phone.healthy()])
    with session_scope() as session:
        heartbeat(phone)(session)
        session.flush()
        ConcurrentTransaction(
            lambda mine: jobs.create_run(mine, spec, "Ada")
        ).wait_until_committed()


def test_an_order_carried_out_while_it_expires_is_done(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    person.send("POST", f"/targets/{target_id}/reboot")
    (order,) = phone.heartbeat()["orders"]
    clock.advance(3601)
    with session_scope() as session:
        target = queries.lock_target(session, target_id)
        other = ConcurrentTransaction(expiry._expire_orders)
        wait_for_blocked_connection()
        device_orders.end_answered_orders(
            session, target, [order["id"]], [], clock_module.now()
        )
        session.flush()
    other.wait_until_committed()
    assert person.events(target_id, "order") == ["order_requested", "order_done"]


def test_an_alert_that_vanishes_while_its_run_ends_causes_no_deadlock(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    """The end of a job locks the job and then its target; evaluation has locked the target already."""
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [phone.healthy()]}
    run_id = person.send("POST", "/runs", body).json()["id"]
    job = lab.lease()
    answers: list[int] = []
    with session_scope() as session:
        queries.lock_target(session, phone.target_id)
        lost = ConcurrentTransaction(
            lambda _: answers.append(
                job.finish(-1, "failed", cause="device_lost").status_code
            )
        )
        wait_for_blocked_connection()
        lifecycle.cancel_confirmation(session, Alert(confirmation_run_id=run_id))
        session.flush()
    lost.wait_until_committed()
    assert answers == [204]
    outbox.drain()
    assert person.get(f"/runs/{run_id}")["state"] == "cancelled"
    assert person.target(phone.target_id)["health"]["state"] == "suspect"


def test_the_end_of_a_job_does_not_wait_for_a_lock_on_its_target(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    """A host has no health, and a device without failures has nothing to reset."""
    (host,) = person.get("/targets?kind=host")["items"]
    for target_id in (host["id"], phone.healthy()):
        body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [target_id]}
        assert person.send("POST", "/runs", body).status_code == 201
        job, answers = lab.measuring(), list[int]()
        with session_scope() as session:
            queries.lock_target(session, target_id)
            ConcurrentTransaction(
                lambda _, job=job, answers=answers: answers.append(  # type: ignore[misc]
                    job.finish(-1).status_code
                )
            ).wait_until_committed()
        assert answers == [204]
