"""Moves jobs from state to state, with all consequences.

Every change of `Job.state` goes through `move`, except the SQL statement that leases a job. So each change is legal, is
published as a live event and updates its run in the same transaction. If a confirmation or a step of a bisection ends
without a verdict, an outbox row is added, because an alert waits for it.
"""

from __future__ import annotations

from datetime import datetime
from typing import cast

from paceline_contract.attempts import Cause
from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.jobs import queries, run_views
from paceline_server.jobs.schemas import JobState
from paceline_server.jobs.states import FINAL, HELD, Event, step
from paceline_server.store import live_events, outbox
from paceline_server.store.session import hint
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run

JOBS_CHANNEL = "jobs"
"""The channel on which `hint` wakes agents that wait for a job."""


def move(
    session: Session,
    job: Job,
    event: Event,
    at: datetime,
    *,
    cause: Cause | None = None,
    detail: str | None = None,
) -> None:
    """Apply `event` to a locked job. `cause` and `detail` say why a job failed or was lost.

    Raises `IllegalTransitionError` and changes nothing.
    """
    before = cast(JobState, job.state)
    job.state = step(before, event)
    match event:
        case Event.lose:
            job.partial = True
        case Event.requeue:
            job.requeues += 1
            job.progress = None
            job.not_before = at
        case Event.request_batch:
            job.batch += 1
            job.progress = None
        case Event.revive:
            job.partial = False
            cause, detail = None, None
        case Event.late_result | Event.finish_done:
            job.partial = job.partial and event is Event.late_result
            cause, detail = None, None
        case (
            Event.finish_failed | Event.finish_cancelled | Event.cancel | Event.give_up
        ):
            job.partial = job.samples > 0
    if event not in _KEEPS_CAUSE:
        job.cause, job.cause_detail = cause, detail
    job.finished_at = at if job.state in FINAL else None
    if job.state == "queued":
        hint(session, JOBS_CHANNEL)
    publish_job(session, job, target_changed=(before in HELD) != (job.state in HELD))
    follow_up(session, job, at)


_KEEPS_CAUSE = frozenset({Event.lease, Event.prepare, Event.measure, Event.upload})


def publish_job(session: Session, job: Job, *, target_changed: bool = False) -> None:
    """Emit a live event with the job as it is now, and one with its target if `target_changed`."""
    session.flush()
    target = session.get_one(Target, job.target_id)
    if target_changed:
        fleet.publish_target(session, target)
    live_events.emit(
        session, "job", job.run_id, job.id, run_views.job_event(job, target)
    )


def follow_up(session: Session, job: Job, at: datetime) -> None:
    """Update the job's run, and queue the job's analysis or the decision of the alert that waits for its end."""
    run = refresh_run(session, job.run_id, at)
    if job.state == "analysing":
        outbox.add(session, "job.analyse", f"{job.id}:{job.batch}")
    elif (
        run.confirms_alert_id or run.bisection_id or run.schedule_id
    ) and job.state in FINAL - {"done"}:
        outbox.add(session, "alerts.evaluate", job.id)


def refresh_run(session: Session, run_id: str, at: datetime) -> Run:
    """Set the run's state and verdict from its jobs, and publish a change. It locks the run; callers have locked the
    jobs."""
    session.flush()
    run = queries.lock_run(session, run_id)
    jobs = queries.jobs_of_runs(session, [run_id])[run_id]
    rolled = run_views.roll_up_jobs(jobs)
    if (run.state, run.verdict, run.reason) != (
        rolled.state,
        rolled.verdict,
        rolled.reason,
    ):
        run.state, run.verdict, run.reason = rolled.state, rolled.verdict, rolled.reason
        run.finished_at = (
            at if rolled.state in ("done", "failed", "cancelled") else None
        )
        session.flush()
        live_events.emit(session, "run", run.id, None, run_views.run_event(run, jobs))
    return run
