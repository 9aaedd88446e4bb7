"""Runs that another tool measured: rows as of a job whose one attempt has delivered.

Place: beside `beginnings`, called by imports through `service`. Invariants: nobody leases such a job: it
begins in `analysing` and its target has no agent; from there on it is a job like every other.

    imported ─▶ analysing ─▶ done
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.jobs.transitions import follow, tell
from paceline_server.kernel import clock, ids
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import IMPORTED, Attempt, Job, Run

ATTEMPT = 1
UNKNOWN = "unknown"
"""What stands for a commit that nobody named."""


@dataclass(frozen=True)
class ImportedRun:
    """`source`: id of the document; `branch`: a saved baseline, None for what was saved under no name."""

    suite: str
    source: str
    manifest: dict[str, Any]
    commit: str | None
    branch: str | None
    target: Target
    samples: int
    created_by: str


def imported_run(session: Session, said: ImportedRun) -> Job:
    """Store the run with its one job, ready for its samples."""
    at = clock.now()
    run = Run(
        id=ids.new_id("run"),
        suite=said.suite,
        repository="imports",
        manifest_path=said.source,
        manifest=said.manifest,
        commit=said.commit or UNKNOWN,
        branch=said.branch,
        base_commit=None,
        trigger=IMPORTED,
        state="active",
        verdict=None,
        reason=None,
        demonstration=False,
        benchmarks=list(said.manifest["benchmarks"]),
        params={},
        knobs={},
        launches=1,
        rounds=1,
        min_time_ns=1_000,
        created_by=said.created_by,
        created_at=at,
        finished_at=None,
    )
    session.add(run)
    session.flush()
    job = Job(
        id=ids.new_id("job"),
        run_id=run.id,
        target_id=said.target.id,
        state="analysing",
        attempt=ATTEMPT,
        batch=0,
        launches=1,
        requeues=0,
        seed=0,
        partial=False,
        samples=said.samples,
        not_before=at,
        created_at=at,
        started_at=at,
    )
    session.add(job)
    session.flush()
    session.add(
        Attempt(
            job_id=job.id,
            number=ATTEMPT,
            batch=0,
            agent_id=said.target.agent_id,
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


def analyse_imported(session: Session, job: Job) -> None:
    """Say that all of its samples are here: it is told, and its analysis asked for."""
    tell(session, job)
    follow(session, job, clock.now())
