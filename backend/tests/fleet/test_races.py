"""Two transactions on one device at one instant (PostgreSQL): nobody waits in a circle, nobody needlessly."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from paceline_server.alerts.changes import following
from paceline_server.fleet import actions, orders, queries, service, upkeep
from paceline_server.fleet.schemas import HeartbeatIn
from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import RunIn
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store import outbox
from paceline_server.store.session import session_scope
from paceline_server.store.tables.decisions import Alert
from paceline_server.store.tables.fleet import Target
from paceline_server.testing.locks import wait_for_a_waiter
from paceline_server.testing.scripted_agent import ScriptedAgent
from paceline_server.testing.scripted_device import COOL, ScriptedDevice
from sqlalchemy.orm import Session

from .conftest import Person

pytestmark = pytest.mark.shapes("scaled")
"""SQLite has one writer: nobody waits inside a transaction there."""

WITHIN_S = 150.0
Does = Callable[[Session], Any]


class Beside:
    """Another transaction, in a thread of its own."""

    def __init__(self, does: Does) -> None:
        self._does = does
        self._failed: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with session_scope() as session:
                self._does(session)
        except BaseException as error:
            self._failed.append(error)

    def ended(self) -> None:
        """Wait for its end, which must be a good one."""
        self._thread.join(WITHIN_S)
        assert not self._thread.is_alive(), "it still waits"
        assert self._failed == []


def said(target_id: str) -> tuple[str, str]:
    """(agent, kind and serial) of a device."""
    with session_scope() as session:
        target = session.get_one(Target, target_id)
        return target.agent_id, target.serial


def beats(phone: ScriptedDevice, **changes: Any) -> Does:
    """A heartbeat of it."""
    agent_id, _ = said(phone.target_id)
    body = HeartbeatIn.model_validate(
        {"version": "1", "targets": [phone.announced(**changes)]}
    )
    return lambda session: service.heartbeat(session, agent_id, body)


HOT = {**COOL, "battery_c": 40.0, "ms_ago": 0}


def test_a_heartbeat_does_not_undo_what_a_person_decides_at_that_instant(
    phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    with session_scope() as session:
        queries.lock_target(
            session, target_id
        )  # what she read: only what is written makes others wait
        other = Beside(beats(phone, gates=HOT))
        wait_for_a_waiter()
        actions.quarantine(session, target_id, "it is swollen", "Ada")
    other.ended()
    assert person.target(target_id)["health"]["state"] == "quarantined"


def test_a_person_decides_about_what_a_heartbeat_says_at_that_instant(
    phone: ScriptedDevice, person: Person
) -> None:
    target_id = phone.healthy()
    with session_scope() as session:
        beats(phone, gates=HOT)(session)
        session.flush()
        other = Beside(
            lambda mine: actions.quarantine(mine, target_id, "it is swollen", "Ada")
        )
        wait_for_a_waiter()
    other.ended()
    newest = person.history(target_id, "health")[0]
    assert (newest["from_state"], newest["to_state"]) == ("recovering", "quarantined")


@pytest.mark.parametrize("repeated", [True, False])
def test_two_heartbeats_that_both_change_the_health_of_a_device_are_heard_one_after_the_other(
    phone: ScriptedDevice, person: Person, repeated: bool
) -> None:
    """Also where an agent repeats one whose answer was late: its check is counted once."""
    target_id, check = phone.healthy(), phone.check(ok=False)
    with session_scope() as session:
        beats(phone, check=check)(session)
        session.flush()
        other = Beside(beats(phone, check=check if repeated else phone.check(ok=False)))
        wait_for_a_waiter()
    other.ended()
    assert person.target(target_id)["health"]["failures"] == (1 if repeated else 2)
    failed = [
        name for name in person.events(target_id, "health") if name == "check_failed"
    ]
    assert len(failed) == (1 if repeated else 2)


def test_a_heartbeat_holds_up_nobody_who_asks_for_a_run(
    lab: ScriptedAgent, phone: ScriptedDevice
) -> None:
    assert lab.headers
    spec = RunIn(suite="demo", benchmarks=["sorting"], targets=[phone.healthy()])
    with session_scope() as session:
        beats(phone)(session)
        session.flush()
        Beside(lambda mine: jobs.create_run(mine, spec, "Ada")).ended()


def test_an_order_that_is_carried_out_while_its_time_runs_out_is_done(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    target_id = phone.healthy()
    person.send("POST", f"/targets/{target_id}/reboot")
    (order,) = phone.beat()["orders"]
    clock.advance(3601)
    with session_scope() as session:
        target = queries.lock_target(session, target_id)
        other = Beside(upkeep._expire_orders)
        wait_for_a_waiter()
        orders.answered(session, target, [order["id"]], [], clock_module.now())
        session.flush()
    other.ended()
    assert person.events(target_id, "order") == ["order_requested", "order_done"]


def test_an_alert_that_vanishes_while_its_run_ends_waits_for_nobody(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    """The end of a job locks the job and then its target; evaluation has locked the target already."""
    body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [phone.healthy()]}
    run_id = person.send("POST", "/runs", body).json()["id"]
    job = lab.lease()
    answers: list[int] = []
    with session_scope() as session:
        queries.lock_target(session, phone.target_id)
        lost = Beside(
            lambda _: answers.append(
                job.finish(-1, "failed", cause="device_lost").status_code
            )
        )
        wait_for_a_waiter()
        following._stop_waiting(session, Alert(confirmation_run_id=run_id))
        session.flush()
    lost.ended()
    assert answers == [204]
    outbox.drain()
    assert person.get(f"/runs/{run_id}")["state"] == "cancelled"
    assert person.target(phone.target_id)["health"]["state"] == "suspect"


def test_the_end_of_a_job_waits_for_nobody_who_looks_at_its_target(
    lab: ScriptedAgent, phone: ScriptedDevice, person: Person
) -> None:
    """Neither a host's, which has no health, nor that of a device nothing counts against."""
    (host,) = person.get("/targets?kind=host")["items"]
    for target_id in (host["id"], phone.healthy()):
        body = {"suite": "demo", "benchmarks": ["sorting"], "targets": [target_id]}
        assert person.send("POST", "/runs", body).status_code == 201
        job, answers = lab.measuring(), list[int]()
        with session_scope() as session:
            queries.lock_target(session, target_id)
            Beside(
                lambda _, job=job, answers=answers: answers.append(  # type: ignore[misc]  # bound now
                    job.finish(-1).status_code
                )
            ).ended()
        assert answers == [204]
