"""Creates runs by schedule: A/A runs for noise floors, nightly measurements.

A schedule is off until somebody enables it, and has at most one unfinished job per target. A run that was missed
because the server was down or the target busy is not repeated later. A run that no target can do, or whose request is
no longer valid, is stored as missed, which raises an alert; the latter is reported as an incident, too.

    next_at ≤ now ──▶ a run on the targets without an unfinished job of this schedule ──▶ next_at: the next
    instant of its interval after now
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.jobs import queries, service
from paceline_server.jobs.schemas import RunIn, ScheduleIn, ScheduleOut, SchedulePatchIn
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import ProblemError, conflict, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import access, audit, incidents
from paceline_server.store.page import page
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.schedules import Schedule

BATCH = 20
"""Schedules per transaction, so that it stays short; the others follow at the next call."""


def create(session: Session, spec: ScheduleIn, who: str) -> ScheduleOut:
    """Create a schedule; its first run is due at once if it is enabled.

    Raises 400 that names each field the suite does not allow, 404 `unknown_suite`, 409 `name_taken`.
    """
    if queries.schedule_named(session, spec.name) is not None:
        raise conflict(
            f"A schedule named {spec.name!r} exists already: choose another name.",
            "name_taken",
        )
    row = Schedule(
        id=ids.new_id("sch"),
        name=spec.name,
        kind=spec.kind,
        suite=spec.suite,
        target_id=spec.target_id,
        request=_request(spec),
        every_s=spec.every_s,
        enabled=spec.enabled,
        next_at=clock.now(),
        last_run_id=None,
        created_by=who,
        created_at=clock.now(),
    )
    service.preview_run(session, _run(row, None))
    session.add(row)
    session.flush()
    audit.record(
        session, who, "schedule.create", "schedule", row.id, {"name": row.name}
    )
    return _out(session, row)


def change(
    session: Session, schedule_id: str, patch: SchedulePatchIn, who: str
) -> ScheduleOut:
    """Enable, disable, or change the interval. Raises 404.

    A shorter interval counts from the last run, so the next one comes sooner; a longer one begins after the
    next run. An enabled schedule is due at once.
    """
    row = _find(session, schedule_id)
    if patch.every_s is not None:
        last = row.next_at - timedelta(seconds=row.every_s)
        row.next_at = min(
            row.next_at, max(clock.now(), last + timedelta(seconds=patch.every_s))
        )
        row.every_s = patch.every_s
    if patch.enabled is not None:
        if patch.enabled and not row.enabled:
            row.next_at = clock.now()
            row.missed_at = row.missed_because = None
        row.enabled = patch.enabled
    detail = {"name": row.name, **patch.model_dump(exclude_none=True)}
    audit.record(session, who, "schedule.change", "schedule", row.id, detail)
    session.flush()
    return _out(session, row)


def remove(session: Session, schedule_id: str, who: str) -> None:
    """Delete a schedule; its runs stay. Raises 404."""
    row = _find(session, schedule_id)
    audit.record(
        session, who, "schedule.remove", "schedule", row.id, {"name": row.name}
    )
    session.delete(row)


def get(session: Session, schedule_id: str) -> ScheduleOut:
    """Return one schedule. Raises 404."""
    return _out(session, _find(session, schedule_id))


def list_schedules(
    session: Session, *, limit: int, cursor: str | None
) -> Page[ScheduleOut]:
    """Return schedules, the newest first."""
    return page(
        session,
        queries.schedules(),
        [Schedule.created_at, Schedule.id],
        lambda row: (row.created_at, row.id),
        lambda row: _out(session, row),
        limit=limit,
        cursor=cursor,
    )


def _find(session: Session, schedule_id: str) -> Schedule:
    row = session.get(Schedule, schedule_id)
    if row is None:
        raise not_found("schedule", schedule_id)
    return row


def _out(session: Session, row: Schedule) -> ScheduleOut:
    target_id = row.target_id
    target = None if target_id is None else queries.target(session, target_id)
    name = None if target is None else target.name
    return ScheduleOut.of_row(row, **row.request, target_name=name)


def _request(spec: ScheduleIn) -> dict[str, object]:
    return spec.model_dump(
        include={
            "benchmarks",
            "params",
            "launches",
            "rounds",
            "min_time_ns",
            "suppress",
        }
    )


def _run(row: Schedule, targets: list[str] | None) -> RunIn:
    """Return the request of one run: the head of the announced branch, for A/A runs too."""
    if targets is None and row.target_id is not None:
        targets = [row.target_id]
    return RunIn(
        suite=row.suite,
        targets=targets,
        trigger="a_a" if row.kind == "a_a" else "schedule",
        **row.request,
    )


def run_due() -> int:
    """Create the runs that are due, in their own transaction; returns how many. It only reads if none is due."""
    with read_scope() as session:
        if not queries.has_due_schedule(session, clock.now()):
            return 0
    with session_scope() as session:
        at = clock.now()
        return sum(
            _run_in_project(session, row, at)
            for row in queries.lock_due_schedules(session, at, BATCH)
        )


def _run_in_project(session: Session, row: Schedule, at: datetime) -> int:
    """Create a schedule's run, only on targets granted to its project."""
    with access.within_project(session, row.project_id, has_fleet=False):
        return _run_schedule(session, row, at)


def _run_schedule(session: Session, row: Schedule, at: datetime) -> int:
    row.next_at = next_due(row.next_at, row.every_s, at)
    try:
        able = [
            target.id
            for target in service.targets_for_schedule(session, _run(row, None))
        ]
        busy = queries.busy_targets_of_schedule(session, row.id)
        free = [target_id for target_id in able if target_id not in busy]
        if not free:
            if not able and not busy:
                _miss_without_target(session, row, at)
            return 0
        with session.begin_nested():
            run = service.create_run(
                session, _run(row, free), f"schedule {row.name}", schedule_id=row.id
            )
    except ProblemError as problem:
        detail = {
            "schedule": row.name,
            "schedule_id": row.id,
            "why": problem.detail[:500],
        }
        incidents.report(session, incidents.SCHEDULE_REFUSED, detail)
        _miss(row, at, problem.detail[:500])
        return 0
    row.last_run_id = run.id
    row.missed_at = row.missed_because = None
    return 1


def _miss_without_target(session: Session, row: Schedule, at: datetime) -> None:
    """Store that no target was free, unless a person holds one back or the server has just begun to hear agents."""
    targets = queries.targets_of_suite(session, row.suite)
    if not fleet.has_heard_agents(session, at) or any(
        fleet.is_in_maintenance(target, at) for target in targets
    ):
        return
    _miss(row, at, f"no target that measures {row.suite} was online and healthy")


def _miss(row: Schedule, at: datetime, why: str) -> None:
    """Store that a run did not happen. `missed_at` stays that of the first one, so that a series of them is one
    episode of its alert."""
    row.missed_at, row.missed_because = row.missed_at or at, why


def next_due(due: datetime, every_s: int, at: datetime) -> datetime:
    """Return the first due instant after `at`; missed ones are skipped."""
    missed = math.floor(max(0.0, (at - due).total_seconds()) / every_s)
    return due + timedelta(seconds=every_s * (missed + 1))
