"""Ends leases that ran out or whose agent is revoked, and expires jobs that were not leased in time.

The sweeper runs it about once a second. The server's clock decides (I6). Rows are locked and rows locked by
others are skipped, so several processes may run it at once.
"""

from __future__ import annotations

from typing import cast

from sqlalchemy.orm import Session

from paceline_server.jobs import queries
from paceline_server.jobs.schemas import JobState
from paceline_server.jobs.states import Event, on_lease_loss
from paceline_server.jobs.transitions import move
from paceline_server.kernel import clock
from paceline_server.store import access
from paceline_server.store.session import read_scope, session_scope

BATCH = 100
"""Jobs handled per transaction, so that a write transaction stays short."""

DETAILS = {
    Event.requeue: "the agent stopped renewing its lease; the job waits for another try",
    Event.give_up: "the agent stopped renewing its lease, three times before measuring",
    Event.lose: "the agent stopped renewing its lease; delivered samples are kept, others may still arrive",
    Event.cancel: "cancelled; the agent did not answer any more",
}
REVOKED = "its agent was revoked; delivered samples are kept"


def expire_leases(session: Session) -> int:
    """End leases that ran out; returns the number of their jobs."""
    at = clock.now()
    ran_out = queries.lock_expired_leases(session, at, BATCH)
    revoked = queries.revoked_agents(
        session, {attempt.agent_id for _, attempt in ran_out}
    )
    for job, attempt in ran_out:
        event = on_lease_loss(
            cast(JobState, job.state),
            requeues=job.requeues,
            cancel_requested=attempt.cancel_requested,
        )
        attempt.outcome = "cancelled" if event is Event.cancel else "lost"
        attempt.finished_at = at
        cause = "cancelled" if event is Event.cancel else "agent_lost"
        detail = REVOKED if attempt.agent_id in revoked else DETAILS[event]
        with access.within_project(session, job.project_id):
            move(session, job, event, at, cause=cause, detail=detail)  # type: ignore[arg-type]  # literals
    return len(ran_out)


def expire_unleased(session: Session) -> int:
    """Expire queued jobs that were not leased in time; returns how many."""
    at = clock.now()
    overdue = queries.lock_overdue_jobs(session, at, BATCH)
    for job in overdue:
        with access.within_project(session, job.project_id):
            move(
                session,
                job,
                Event.expire,
                at,
                detail="no agent leased the job in time; check that its target is online",
            )
    return len(overdue)


def sweep() -> int:
    """Expire leases and jobs, each batch in its own transaction. It only reads if there is nothing to do."""
    with read_scope() as session:
        if not queries.has_expired(session, clock.now()):
            return 0
    with session_scope() as session:
        return expire_leases(session) + expire_unleased(session)
