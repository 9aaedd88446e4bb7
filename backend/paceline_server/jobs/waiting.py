"""Says why a job measures nothing now: what it waits for, since when, and what would change that.

Clients and pages show these sentences and make none of their own. The condition of a lease (`queries.py`) decides what
is taken; a job that it takes next has a reason here, too, because an agent needs a moment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.jobs import queries
from paceline_server.jobs.queries import HoldingJobRow, QueuedJobRow
from paceline_server.jobs.schemas import WaitingReasonOut
from paceline_server.kernel import clock
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Attempt, Job

STATES = ("queued", "leased", "preparing", "lost")
"""A job in one of these states waits for something."""


@dataclass(frozen=True)
class _RelatedRows:
    """Facts about the targets of waiting jobs, by target id, and their newest attempts, by job id."""

    holders: Mapping[str, HoldingJobRow]
    held_for_others: set[str]
    queued: Mapping[str, Sequence[QueuedJobRow]]
    attempts: Mapping[str, Attempt]


def waiting_reasons(
    session: Session, jobs: Sequence[tuple[Job, Target]]
) -> dict[str, WaitingReasonOut]:
    """Return the reasons of those of `jobs` that wait, by job id. The number of queries is fixed."""
    waiting = [(job, target) for job, target in jobs if job.state in STATES]
    if not waiting:
        return {}
    targets, at = sorted({target.id for _, target in waiting}), clock.now()
    related = _RelatedRows(
        queries.holding_jobs(session, targets),
        fleet.held_for_others(session, targets),
        queries.queues(session, targets, at),
        queries.newest_attempts(session, [job.id for job, _ in waiting]),
    )
    return {job.id: _explain_job(job, target, related, at) for job, target in waiting}


def _explain_job(
    job: Job, target: Target, related: _RelatedRows, at: datetime
) -> WaitingReasonOut:
    if job.state == "queued":
        return _explain_queued_job(job, target, related, at)
    attempt = related.attempts.get(job.id)
    since = None if attempt is None else attempt.leased_at
    if job.state == "lost":
        return WaitingReasonOut(
            text=f"the agent of {target.spoken_name} stopped answering",
            advice="It goes on when its agent is back, and what it measured before is kept. If it stays away, repeat the run.",
            since=since,
        )
    stops = attempt is not None and attempt.cancel_requested
    waits = job.state == "leased" and job.detail is not None and not stops
    return WaitingReasonOut(
        text=job.detail or "its agent has taken it",
        advice="It goes on when that is over." if waits else None,
        since=since,
    )


def _explain_queued_job(
    job: Job, target: Target, related: _RelatedRows, at: datetime
) -> WaitingReasonOut:
    name = target.spoken_name
    refusal = fleet.refusal_of(target, at)
    holder = related.holders.get(target.id)
    ahead = _count_ahead(job, related.queued.get(target.id, ()))
    if refusal is not None:
        return WaitingReasonOut(
            text=f"{name} takes no jobs: {refusal.text}",
            advice=refusal.advice,
            since=refusal.since,
        )
    if job.not_before > at:
        return WaitingReasonOut(
            text=f"it rests until {job.not_before:%Y-%m-%d %H:%M:%S} UTC, so that it measures in another session",
            advice="It starts by itself then.",
        )
    if holder is not None:
        return WaitingReasonOut(
            text=f"{name} runs job {holder.job_id} of {holder.suite}{_say_who_is_first(ahead)}",
            advice=f"It starts when that ends, or sooner if run {holder.run_id} is cancelled.",
            since=holder.since,
            run_id=holder.run_id,
        )
    if target.id in related.held_for_others:
        return WaitingReasonOut(
            text=f"{name} runs a job of another project{_say_who_is_first(ahead)}",
            advice="It starts when that ends.",
        )
    if ahead:
        return WaitingReasonOut(
            text=f"{ahead} {_job_noun(ahead)} for {name} {'is' if ahead == 1 else 'are'} before it",
            advice="It starts when those have ended.",
        )
    return WaitingReasonOut(
        text=f"{name} is free, and its agent takes the job in a moment",
        advice="If this lasts, look at the log of its agent.",
    )


def _count_ahead(job: Job, queued: Sequence[QueuedJobRow]) -> int:
    """Count the jobs before this one in the queue of its target."""
    ids = [row.job_id for row in queued]
    return ids.index(job.id) if job.id in ids else 0


def _say_who_is_first(ahead: int) -> str:
    return (
        f", and {ahead} queued {_job_noun(ahead)} come{'s' if ahead == 1 else ''} first"
        if ahead
        else ""
    )


def _job_noun(count: int) -> str:
    return "job" if count == 1 else "jobs"
