"""A job that measures nothing says what it waits for, since when, and what would change that."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.testing.scripted_agent import ScriptedAgent
from sqlalchemy import select, update

PREFIX = "/api/v1"
Make = Callable[..., Any]
Reason = dict[str, Any] | None


@pytest.fixture
def reason_of(client: TestClient, ci: dict[str, str]) -> Callable[[str], Reason]:
    def read(run_id: str) -> Reason:
        """Why the one job of a run waits; runs, jobs and lists say the same."""
        run = client.get(f"{PREFIX}/runs/{run_id}", headers=ci).json()
        (job,) = run["jobs"]
        reason: Reason = job["waiting_reason"]
        alone = client.get(f"{PREFIX}/jobs/{job['id']}", headers=ci).json()
        assert alone["waiting_reason"] == reason
        listed = client.get(f"{PREFIX}/runs", headers=ci).json()["items"]
        (same,) = (item for item in listed if item["id"] == run_id)
        assert same["jobs"][0]["waiting_reason"] == reason
        return reason

    return read


def change_target(**fields: Any) -> None:
    with session_scope() as session:
        session.execute(update(Target).values(**fields))


@pytest.mark.shapes("embedded", "scaled")
def test_a_queued_job_names_the_job_that_has_its_target_and_how_many_come_first(
    agent: ScriptedAgent, new_run: Make, reason_of: Callable[[str], Reason]
) -> None:
    first, second, third = (new_run()["id"] for _ in range(3))
    held = agent.lease()
    assert held.run_id == first
    reason = reason_of(second)
    assert reason is not None
    assert reason["text"] == f"{agent_target()} runs job {held.job_id} of demo"
    assert reason["run_id"] == first
    assert f"run {first} is cancelled" in reason["advice"]
    assert reason["since"] is not None
    later = reason_of(third)
    assert later is not None
    assert later["text"].endswith(" of demo, and 1 queued job comes first")


def agent_target() -> str:
    with read_scope() as session:
        return session.scalars(select(Target.name)).one()


def test_a_free_target_and_the_queue_before_it_are_named(
    agent: ScriptedAgent, new_run: Make, reason_of: Callable[[str], Reason]
) -> None:
    first, second = new_run()["id"], new_run()["id"]
    taken, behind = reason_of(first), reason_of(second)
    assert taken is not None
    assert behind is not None
    assert "is free, and its agent takes the job in a moment" in taken["text"]
    assert behind["text"] == f"1 job for {agent_target()} is before it"
    assert agent is not None


@pytest.mark.parametrize(
    ("fields", "text", "advice"),
    [
        (
            {"health": "quarantined", "health_reason": "three failures"},
            "takes no jobs: it is in quarantine: three failures",
            "fix the cause, then release it",
        ),
        (
            {"maintenance_by": "Ada", "maintenance_reason": "new fans"},
            "takes no jobs: Ada has it in maintenance: new fans",
            "End its maintenance",
        ),
        (
            {
                "kind": "device",
                "connection": "unauthorized",
                "connection_advice": "Accept the key.",
                "health": "recovering",
                "health_reason": "42 °C",
            },
            "takes no jobs: it does not trust its agent; it is recovering: 42 °C",
            "Accept the key.",
        ),
    ],
)
def test_a_target_that_takes_no_jobs_says_why_and_what_to_do(
    new_run: Make,
    reason_of: Callable[[str], Reason],
    fields: dict[str, Any],
    text: str,
    advice: str,
) -> None:
    run = new_run()
    change_target(**fields)
    reason = reason_of(run["id"])
    assert reason is not None
    assert reason["text"].endswith(text)
    assert advice in reason["advice"]


def test_a_silent_agent_is_named_with_when_it_was_heard_last(
    clock: FrozenClock, new_run: Make, reason_of: Callable[[str], Reason]
) -> None:
    run = new_run()
    clock.advance(600)
    reason = reason_of(run["id"])
    assert reason is not None
    assert reason["text"].endswith("takes no jobs: its agent is silent")
    assert reason["advice"].startswith("Start its agent.")
    assert reason["since"] is not None


def test_a_job_that_rests_says_until_when(
    clock: FrozenClock, new_run: Make, reason_of: Callable[[str], Reason]
) -> None:
    run = new_run()
    due = clock.now() + timedelta(minutes=20)
    with session_scope() as session:
        session.execute(update(Job).values(not_before=due))
    reason = reason_of(run["id"])
    assert reason is not None
    assert f"it rests until {due:%Y-%m-%d %H:%M:%S} UTC" in reason["text"]


def test_a_held_job_says_what_it_waits_for_then_its_step_and_no_event_does(
    agent: ScriptedAgent, new_run: Make, reason_of: Callable[[str], Reason]
) -> None:
    run_id = new_run()["id"]
    leased = agent.lease()
    holder = "paceline run of demo (process 7) holds the lock"
    leased.report("leased", detail=holder)
    reason = reason_of(run_id)
    assert reason is not None
    assert (reason["text"], reason["advice"]) == (
        holder,
        "It goes on when that is over.",
    )
    leased.report("preparing", detail="building demo, step 1 of 2: cargo build")
    reason = reason_of(run_id)
    assert reason is not None
    assert (reason["text"], reason["advice"]) == (
        "building demo, step 1 of 2: cargo build",
        None,
    )
    assert reason["since"] is not None
    leased.report("measuring", artifact_hash="a" * 64)
    assert reason_of(run_id) is None
    with read_scope() as session:
        events = session.scalars(
            select(LiveEvent.data).where(LiveEvent.kind == "job")
        ).all()
    assert events
    assert not any("waiting_reason" in event for event in events)
