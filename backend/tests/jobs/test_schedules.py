"""Tests that schedules request runs at their interval: only when enabled, one per target, without a backlog."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.jobs import schedules
from paceline_server.jobs import tasks as jobs
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.audit import AuditEntry
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.store.tables.messages import Incident
from paceline_server.testing.scripted_agent import MANIFEST, ScriptedAgent, announce
from sqlalchemy import select

PREFIX = "/api/v1"
HOUR = 3600
Make = Callable[..., Any]


@pytest.fixture
def ask(
    client: TestClient, clock: FrozenClock, agent: ScriptedAgent, ci: dict[str, str]
) -> Make:
    """Return `ask("POST", "/schedules", body, status)`, which sends a request and returns the JSON of the response."""

    def call(
        method: str, path: str, body: Any = None, status: int = 200, headers: Any = None
    ) -> Any:
        answer = client.request(
            method, f"{PREFIX}{path}", json=body, headers=headers or ci
        )
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    return call


def spec(**changes: Any) -> dict[str, Any]:
    return {
        "name": "floors",
        "kind": "a_a",
        "suite": "demo",
        "every_s": HOUR,
        "enabled": True,
        **changes,
    }


def runs() -> list[Run]:
    with read_scope() as session:
        return list(session.scalars(select(Run).order_by(Run.id)))


def test_nothing_is_asked_for_until_a_schedule_is_switched_on(
    ask: Make, clock: FrozenClock
) -> None:
    assert jobs.sweep() == 0
    schedule = ask(
        "POST",
        "/schedules",
        {key: value for key, value in spec().items() if key != "enabled"},
        201,
    )
    assert schedule["enabled"] is False
    clock.advance(5 * HOUR)
    mark_targets_online()
    assert jobs.sweep() == 0
    ask("PATCH", f"/schedules/{schedule['id']}", {"enabled": True})
    assert jobs.sweep() == 1
    assert len(runs()) == 1


def test_an_a_a_schedule_asks_for_the_head_against_itself(ask: Make) -> None:
    schedule = ask(
        "POST",
        "/schedules",
        spec(benchmarks=["sorting"], params={"n": [1000]}, launches=7),
        201,
    )
    jobs.sweep()
    (run,) = runs()
    assert (run.trigger, run.base_commit, run.schedule_id) == (
        "a_a",
        run.commit,
        schedule["id"],
    )
    assert (run.benchmarks, run.params, run.launches) == (["sorting"], {"n": [1000]}, 7)
    assert run.created_by == "schedule floors"
    assert ask("GET", f"/schedules/{schedule['id']}")["last_run_id"] == run.id


def test_a_measuring_schedule_asks_for_the_head_alone(ask: Make) -> None:
    ask("POST", "/schedules", spec(kind="measure"), 201)
    jobs.sweep()
    (run,) = runs()
    assert (run.trigger, run.base_commit) == ("schedule", None)


def test_one_job_at_a_time_per_target_and_missed_ticks_do_not_pile_up(
    ask: Make, clock: FrozenClock, agent: ScriptedAgent, enrolled: Make
) -> None:
    ask("POST", "/schedules", spec(), 201)
    assert jobs.sweep() == 1
    clock.advance(HOUR)
    announce(enrolled("lab-2").agent_id)  # online now; the first has its job still
    jobs.sweep()
    with read_scope() as session:
        per_target = list(session.scalars(select(Job.target_id)))
    assert len(per_target) == len(set(per_target)) == 2
    clock.advance(1.0)
    agent.measuring().finish(-1, "failed", cause="build_failed")
    clock.advance(10.5 * HOUR)  # ten ticks go by while nobody looks
    mark_targets_online()
    jobs.sweep()
    assert len(runs()) == 3
    assert jobs.sweep() == 0
    (row,) = ask("GET", "/schedules")["items"]
    begun = datetime.fromisoformat(row["created_at"])
    assert datetime.fromisoformat(row["next_at"]) == begun + timedelta(hours=12), (
        "the rhythm is kept"
    )


@pytest.mark.parametrize(
    ("every_s", "due_h"),
    [
        (7 * 24 * HOUR, 24),
        (36 * HOUR, 24),
        (24 * HOUR, 24),
        (20 * HOUR, 20),
        (6 * HOUR, 6),
        (HOUR, 5),
    ],
)
def test_a_shorter_rhythm_brings_the_next_run_forward_and_a_longer_one_keeps_it(
    ask: Make, clock: FrozenClock, every_s: float, due_h: int
) -> None:
    """The interval changes five hours after the last run; a run that is overdue by then is due at once."""
    schedule = ask("POST", "/schedules", spec(every_s=int(24 * HOUR)), 201)
    assert jobs.sweep() == 1
    begun = datetime.fromisoformat(schedule["created_at"])
    clock.advance(5 * HOUR)
    changed = ask("PATCH", f"/schedules/{schedule['id']}", {"every_s": int(every_s)})
    assert datetime.fromisoformat(changed["next_at"]) == begun + timedelta(hours=due_h)
    assert changed["every_s"] == every_s


def mark_targets_online() -> None:
    """Mark every target as online."""
    with session_scope() as session:
        for target in session.scalars(select(Target)):
            target.last_seen_at = clock_module.now()


def test_a_tick_with_nobody_there_is_quiet_and_the_next_one_tries_again(
    ask: Make, clock: FrozenClock, agent: ScriptedAgent
) -> None:
    ask("POST", "/schedules", spec(), 201)
    clock.advance(HOUR / 2)  # the agent fell silent before the first look
    assert jobs.sweep() == 0
    with read_scope() as session:
        assert session.scalars(select(Incident)).all() == []


def test_a_schedule_the_suite_no_longer_allows_is_an_incident_and_harms_no_other(
    ask: Make,
) -> None:
    refused = ask("POST", "/schedules", spec(name="gone", benchmarks=["hashing"]), 201)
    ask("POST", "/schedules", spec(), 201)
    with session_scope() as session:
        suite = session.get_one(Suite, (DEFAULT_PROJECT_ID, "demo"))
        kept = {
            name: about
            for name, about in MANIFEST["benchmarks"].items()
            if name != "hashing"
        }
        suite.manifest = {**MANIFEST, "benchmarks": kept}
    assert jobs.sweep() == 1
    with read_scope() as session:
        (incident,) = session.scalars(select(Incident))
    assert (incident.code, incident.detail["schedule_id"]) == (
        "schedule_refused",
        refused["id"],
    )
    assert "hashing" in incident.detail["why"]
    assert jobs.sweep() == 0, "not reported every second"


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"benchmarks": ["nope"]}, 400, "invalid_request"),
        ({"target_id": "tgt_x"}, 400, "invalid_request"),
        ({"suite": "nope"}, 404, "unknown_suite"),
        ({"every_s": 5}, 422, "invalid_request"),
        ({"kind": "b_b"}, 422, "invalid_request"),
    ],
)
def test_what_could_never_be_carried_out_is_refused_at_once(
    ask: Make, changes: dict[str, Any], status: int, code: str
) -> None:
    assert ask("POST", "/schedules", spec(**changes), status)["code"] == code
    assert ask("GET", "/schedules")["items"] == []


def test_schedules_are_named_once_changed_removed_and_every_change_is_on_record(
    ask: Make,
) -> None:
    schedule = ask("POST", "/schedules", spec(), 201)
    assert ask("POST", "/schedules", spec(), 409)["code"] == "name_taken"
    changed = ask(
        "PATCH", f"/schedules/{schedule['id']}", {"every_s": 7200, "enabled": False}
    )
    assert (changed["every_s"], changed["enabled"]) == (7200, False)
    ask("DELETE", f"/schedules/{schedule['id']}", status=204)
    ask("GET", f"/schedules/{schedule['id']}", status=404)
    ask("PATCH", f"/schedules/{schedule['id']}", {"enabled": True}, 404)
    with read_scope() as session:
        entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id))
        actions = [
            (entry.action, entry.object_id)
            for entry in entries
            if entry.object_kind == "schedule"
        ]
    assert actions == [
        (f"schedule.{verb}", schedule["id"]) for verb in ("create", "change", "remove")
    ]


def test_whoever_only_reads_cannot_schedule(ask: Make, token: Make) -> None:
    reader = token("read")
    assert ask("POST", "/schedules", spec(), 403, reader)["code"] == "forbidden"
    assert ask("GET", "/schedules", None, 200, reader)["items"] == []


def test_two_sweepers_at_once_ask_for_one_run(ask: Make, together: Make) -> None:
    ask("POST", "/schedules", spec(), 201)
    assert sum(together(schedules.run_due, schedules.run_due, schedules.run_due)) == 1
    assert len(runs()) == 1


@pytest.mark.parametrize(("late", "following"), [(0, 1), (0.5, 1), (1, 2), (9.9, 10)])
def test_the_next_tick_is_the_first_of_the_rhythm_after_now(
    late: float, following: int
) -> None:
    due = datetime(2026, 3, 1, tzinfo=UTC)
    at = due + timedelta(hours=late)
    assert schedules.next_due(due, HOUR, at) == due + timedelta(hours=following)
