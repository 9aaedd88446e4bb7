"""Two transactions on one job at one instant: who waited for the lock decides on what is true after it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from paceline_contract.attempts import FinishReport
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.jobs import expiry, leases
from paceline_server.jobs.leases import LeaseClaim
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.jobs import Attempt, Job
from paceline_server.testing.concurrency import (
    ContextThread,
    wait_for_blocked_connection,
)
from paceline_server.testing.scripted_agent import (
    LeasedJob,
    ScriptedAgent,
    samples_item,
)
from sqlalchemy import event, func, select, update

pytestmark = pytest.mark.shapes("embedded", "scaled")

Make = Callable[..., Any]

on_postgresql = pytest.mark.shapes("scaled")
"""SQLite has one writer: nobody waits inside a transaction there."""


def lease_claim(leased: LeasedJob) -> LeaseClaim:
    lease = leased.lease
    with read_scope() as session:
        agent_id = session.get_one(
            Attempt, (lease["job_id"], lease["attempt"])
        ).agent_id
    return LeaseClaim(agent_id, lease["job_id"], lease["attempt"], lease["lease_token"])


def in_thread(call: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Start `call` in a thread; its result or exception is in the list once the thread has ended."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:
            results.append(error)

    thread = ContextThread(target=run)
    thread.start()
    return thread, results


@on_postgresql
def test_a_delivery_that_waited_for_the_sweeper_is_taken_late(
    agent: ScriptedAgent, clock: FrozenClock, new_run: Make, job_now: Make
) -> None:
    new_run()
    leased = agent.measuring()
    clock.advance(31)
    with session_scope() as session:
        assert expiry.expire_leases(session) == 1
        thread, answers = in_thread(lambda: leased.send(samples_item(0)))
        wait_for_blocked_connection()
    thread.join(WITHIN_S)
    assert [answer.status_code for answer in answers] == [200], answers[0].text
    assert job_now(leased.job_id)["state"] == "uploading"


@on_postgresql
def test_a_finish_repeated_at_the_same_instant_is_answered_once_more(
    agent: ScriptedAgent, new_run: Make, job_now: Make
) -> None:
    new_run()
    leased = agent.measuring()
    writer, report = lease_claim(leased), FinishReport(outcome="done", last_seq=-1)
    with session_scope() as session:
        leases.finish(
            session, leases.check_lease(session, writer, delivers=True), report
        )
        thread, answers = in_thread(lambda: leased.finish(-1))
        wait_for_blocked_connection()
    thread.join(WITHIN_S)
    assert [answer.status_code for answer in answers] == [204], answers[0].text
    assert job_now(leased.job_id)["state"] == "analysing"


@on_postgresql
def test_a_lease_renewed_while_the_sweeper_looks_is_not_taken_back(
    agent: ScriptedAgent,
    clock: FrozenClock,
    new_run: Make,
    job_now: Make,
    database: Database,
) -> None:
    """The renewal commits after the sweeper's snapshot was taken and before it reaches the job's lock."""
    new_run()
    leased = agent.measuring()
    clock.advance(31)

    def renewed(_c: Any, _u: Any, statement: str, *_: Any) -> None:
        if "SKIP LOCKED" in statement:
            later = clock_module.now() + timedelta(seconds=30)
            with database.engine.begin() as other:
                other.execute(update(Attempt).values(lease_expires_at=later))

    event.listen(database.engine, "after_cursor_execute", renewed)
    with session_scope() as session:
        assert expiry.expire_leases(session) == 0
    assert job_now(leased.job_id)["state"] == "measuring"


def test_of_32_claimers_on_exactly_one_job_one_gets_it(
    agent: ScriptedAgent, new_run: Make, together: Make
) -> None:
    job_id = new_run()["jobs"][0]["id"]
    answers = together(*[agent.ask for _ in range(32)])
    assert sorted(answer.status_code for answer in answers) == [200] + [204] * 31
    with read_scope() as session:
        assert session.scalar(select(func.count()).select_from(Attempt)) == 1
        assert session.get_one(Job, job_id).attempt == 1
