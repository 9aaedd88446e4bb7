"""Stores a new run with one queued job per target.

The run, its jobs and their live events are one transaction, and waiting agents are woken when it commits. What
a request may contain is checked before, in `service.py` and `selection.py`.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.jobs import run_views
from paceline_server.jobs.schemas import RunOut
from paceline_server.jobs.transitions import JOBS_CHANNEL
from paceline_server.jobs.waiting import waiting_reasons
from paceline_server.kernel import clock, ids
from paceline_server.stats.constants import DEFAULT_LAUNCHES, DEVICE_LAUNCHES
from paceline_server.store import live_events
from paceline_server.store.session import hint
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run

EXPIRES_AFTER = timedelta(hours=24)
"""A job that was not leased within a day is no longer worth measuring."""

HEAD_START = {
    "pull_request": timedelta(hours=12),
    "request": timedelta(hours=6),
    "schedule": timedelta(0),
}
"""How far ahead of its time a job is queued, because a person waits for a pull request and nobody for a nightly. With a
head start instead of a rank nothing starves: after 12 h, a scheduled job is before every new one, well before it
expires."""

SEED_BITS = 53
"""A seed stays exact as a JSON number in a browser."""


def default_launches(target: Target) -> int:
    """Return the launches of a batch on a target, for requests that do not name a number (stats/README.md §1)."""
    return DEVICE_LAUNCHES if target.kind == "device" else DEFAULT_LAUNCHES


def _head_start(run: Run) -> timedelta:
    if run.judges_head:
        return HEAD_START["pull_request"]
    is_scheduled = run.schedule_id is not None or run.trigger == "schedule"
    return HEAD_START["schedule" if is_scheduled else "request"]


def new_run(created_by: str, *, state: str = "queued", **request: Any) -> Run:
    """Return a run without a result, not stored yet; `request` has the columns of what it measures."""
    return Run(
        id=ids.new_id("run"),
        created_by=created_by,
        created_at=clock.now(),
        finished_at=None,
        state=state,
        verdict=None,
        reason=None,
        **request,
    )


def store_run(
    session: Session,
    run: Run,
    targets: Sequence[Target],
    not_before: datetime,
    launches: int | None = None,
) -> RunOut:
    """Store a run made by `new_run` and one job per target, leasable from `not_before`.

    `launches`: of one batch of each job; None: the default of its kind of target.
    """
    at = clock.now()
    amounts = [launches or default_launches(target) for target in targets]
    run.launches = launches or min(amounts, default=DEFAULT_LAUNCHES)
    session.add(run)
    session.flush()
    pairs: list[tuple[Job, Target]] = []
    for target, amount in zip(targets, amounts, strict=True):
        job = Job(
            id=ids.new_id("job"),
            run_id=run.id,
            target_id=target.id,
            state="queued",
            attempt=0,
            batch=0,
            launches=amount,
            requeues=0,
            seed=secrets.randbits(SEED_BITS),
            partial=False,
            samples=0,
            not_before=not_before,
            queue_at=max(at, not_before) - _head_start(run),
            expires_at=max(at, not_before) + EXPIRES_AFTER,
            created_at=at,
        )
        session.add(job)
        pairs.append((job, target))
    session.flush()
    live_events.emit(session, "run", run.id, None, run_views.run_event(run, pairs))
    for job, target in pairs:
        live_events.emit(
            session, "job", run.id, job.id, run_views.job_event(job, target)
        )
    hint(session, JOBS_CHANNEL)
    return run_views.run_out(run, pairs, waiting_reasons(session, pairs))
