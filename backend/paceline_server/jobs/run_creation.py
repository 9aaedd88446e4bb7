"""How every run begins: its row, one queued job per target, and who hears of it.

Place: under `service` (what people and programs ask for), `followups` (what alerts ask for) and `schedules`.
Invariant: a run and its jobs appear in one transaction, told live, and wake waiting agents when it commits.
Checks nothing: what a request may ask for is decided before.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.jobs import shapes
from paceline_server.jobs.schemas import RunOut
from paceline_server.jobs.transitions import JOBS_CHANNEL
from paceline_server.kernel import clock, ids
from paceline_server.stats.constants import DEFAULT_LAUNCHES, DEVICE_LAUNCHES
from paceline_server.store import live_events
from paceline_server.store.session import hint
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run

EXPIRES_AFTER = timedelta(hours=24)
"""A job nobody leased within a day says nothing about the revision any more."""

SEED_BITS = 53
"""Seeds stay exact in every language's numbers, JSON in a browser included."""


def default_launches(target: Target) -> int:
    """How many launches a batch has on a target when nobody says (STATISTICS §1)."""
    return DEVICE_LAUNCHES if target.kind == "device" else DEFAULT_LAUNCHES


def store_run(
    session: Session,
    run: Run,
    targets: Sequence[Target],
    not_before: datetime,
    launches: int | None = None,
) -> RunOut:
    """Store a run (its request filled in, everything else is set here) with its jobs, leasable from
    `not_before`. `launches`: of a batch of each job; None: what its kind of target gets."""
    at = clock.now()
    amounts = [launches or default_launches(target) for target in targets]
    run.launches = launches or min(amounts, default=DEFAULT_LAUNCHES)
    run.id, run.created_at, run.finished_at = ids.new_id("run"), at, None
    run.state, run.verdict, run.reason = "queued", None, None
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
            expires_at=max(at, not_before) + EXPIRES_AFTER,
            created_at=at,
        )
        session.add(job)
        pairs.append((job, target))
    session.flush()
    live_events.emit(session, "run", run.id, None, shapes.run_event(run, pairs))
    for job, target in pairs:
        live_events.emit(session, "job", run.id, job.id, shapes.job_event(job, target))
    hint(session, JOBS_CHANNEL)
    return shapes.run_out(run, pairs)
