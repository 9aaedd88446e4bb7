"""Stores runs that another tool measured, as a run with one job whose attempt has delivered its samples.

No agent leases such a job: it begins in `analysing`, and its target has no agent. Then it is a job like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.jobs import queries
from paceline_server.jobs.run_creation import new_run
from paceline_server.jobs.transitions import follow_up, publish_job
from paceline_server.kernel import clock, ids
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import IMPORTED, Attempt, Job

ATTEMPT = 1
UNKNOWN = "unknown"
"""The commit of imports that name none."""


@dataclass(frozen=True)
class ImportedRun:
    """A run of another tool. `source`: the id of the document; `branch`: also the name of a saved baseline;
    `measured_at`: the time of its points, None if nobody says it: then that of the import; `fingerprint`: of the facts
    that the document gives about its target; `judged` and `notifies` as in `Run`."""

    suite: str
    source: str
    manifest: dict[str, Any]
    commit: str | None
    branch: str | None
    target: Target
    samples: int
    created_by: str
    measured_at: datetime | None = None
    fingerprint: str | None = None
    judged: bool = False
    notifies: bool = False


def store_imported_run(session: Session, imported: ImportedRun) -> Job:
    """Store the run with its job, to which samples can then be added."""
    at = clock.now()
    run = new_run(
        imported.created_by,
        state="active",
        suite=imported.suite,
        repository="imports",
        manifest_path=imported.source,
        manifest=imported.manifest,
        commit=imported.commit or UNKNOWN,
        branch=imported.branch,
        base_commit=None,
        trigger=IMPORTED,
        demonstration=False,
        judged=imported.judged,
        notifies=imported.notifies,
        benchmarks=list(imported.manifest["benchmarks"]),
        params={},
        knobs={},
        launches=1,
        rounds=1,
        min_time_ns=1_000,
    )
    session.add(run)
    session.flush()
    job = Job(
        id=ids.new_id("job"),
        run_id=run.id,
        target_id=imported.target.id,
        state="analysing",
        attempt=ATTEMPT,
        batch=0,
        launches=1,
        requeues=0,
        seed=0,
        fingerprint=imported.fingerprint,
        partial=False,
        samples=imported.samples,
        not_before=at,
        created_at=at,
        started_at=imported.measured_at or at,
    )
    session.add(job)
    session.flush()
    session.add(
        Attempt(
            job_id=job.id,
            number=ATTEMPT,
            batch=0,
            agent_id=imported.target.agent_id,
            lease_token_sha256="",
            leased_at=at,
            lease_expires_at=at,
            cancel_requested=False,
            outcome="done",
            last_seq=None,
            finished_at=at,
        )
    )
    session.flush()
    return job


def supersede_imported_run(session: Session, run_id: str, by: str) -> None:
    """Let the run `by` count instead of an imported one."""
    queries.lock_run(session, run_id).superseded_by = by


def analyse_imported(session: Session, job: Job) -> None:
    """Publish the job and queue its analysis, now that all its samples are stored."""
    publish_job(session, job)
    follow_up(session, job, clock.now())
