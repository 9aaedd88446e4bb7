"""Writes the rows of finished scheduled jobs, for tests of history that need no measurements."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from paceline_server.kernel import ids
from paceline_server.store.session import session_scope
from paceline_server.store.tables.jobs import Job, Run


def store_finished_job(
    target_id: str,
    at: datetime,
    *,
    suite: str,
    manifest: Mapping[str, Any],
    commit: str | None = None,
) -> Job:
    """Store a run with a job that passed at `at`; without a `commit` it gets one of its own."""
    job_id = ids.new_id("job")
    run_id = f"run{job_id[3:]}"
    run = Run(
        id=run_id,
        suite=suite,
        repository="r",
        manifest_path="suite.toml",
        manifest=dict(manifest),
        commit=commit or job_id[-12:],
        branch="main",
        base_commit=None,
        trigger="schedule",
        state="done",
        verdict="pass",
        reason=None,
        demonstration=False,
        benchmarks=list(manifest["benchmarks"]),
        params={},
        knobs={},
        launches=5,
        rounds=20,
        min_time_ns=1,
        created_by="test",
        created_at=at,
        finished_at=at,
    )
    job = Job(
        id=job_id,
        run_id=run_id,
        target_id=target_id,
        state="done",
        attempt=1,
        batch=0,
        requeues=0,
        seed=1,
        verdict="pass",
        partial=False,
        samples=0,
        not_before=at,
        created_at=at,
        started_at=at,
    )
    with session_scope() as session:
        session.add(run)
        session.flush()
        session.add(job)
    return job
