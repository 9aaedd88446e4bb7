"""Stores runs that a person measured without a server, as a run with one job that takes items as an agent's does.

Its target has no agent. Each batch of launches becomes an attempt with a lease of its own, under which ingest stores and
checks its items like any other; then the job is analysed like any other, and never extended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins
from paceline_contract.manifest import Manifest
from paceline_contract.recordings import Recording
from sqlalchemy.orm import Session

from paceline_server.jobs.imported_runs import UNKNOWN
from paceline_server.jobs.leases import LeaseClaim
from paceline_server.jobs.run_creation import new_run
from paceline_server.jobs.states import Event
from paceline_server.jobs.transitions import move
from paceline_server.kernel import clock, ids
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import RECORDED, Attempt, Job


@dataclass(frozen=True)
class RecordedRun:
    """A recording and where it belongs. `source`: the id of its document; `manifest` and `at_base`: of the head and the
    base, read; `fingerprint`: of the facts about its target; `notifies` as in `Run`."""

    recording: Recording
    manifest: Manifest
    at_base: Manifest | None
    source: str
    target: Target
    fingerprint: str
    created_by: str
    notifies: bool


def open_recorded_run(session: Session, recorded: RecordedRun) -> Job:
    """Store the run with its job, of which `open_batch` then begins the first batch.

    The points of a tree with uncommitted changes are shown and never count: they are of no commit."""
    recording, plan = recorded.recording, recorded.recording.plan
    head, base = recording.head, recording.base
    run = new_run(
        recorded.created_by,
        suite=recorded.manifest.suite.name,
        repository="imports",
        manifest_path=recorded.source,
        manifest=head.manifest,
        base_manifest=None if base is None else base.manifest,
        manifest_of_commit=True,
        whole_suite=not plan.benchmarks,
        commit=head.commit or UNKNOWN,
        branch=recording.branch,
        base_commit=None if base is None else base.commit,
        trigger=RECORDED,
        demonstration=recorded.manifest.is_demonstration(plan.knobs),
        judged=head.commit is not None and not head.dirty,
        notifies=recorded.notifies,
        stop_when_sure=plan.stop_when_sure,
        benchmarks=plan.benchmarks or _list_benchmarks(recorded),
        params=plan.params,
        knobs=plan.knobs,
        launches=plan.launches,
        rounds=plan.rounds,
        min_time_ns=plan.min_time_ns,
    )
    session.add(run)
    session.flush()
    at = clock.now()
    job = Job(
        id=ids.new_id("job"),
        run_id=run.id,
        target_id=recorded.target.id,
        state="queued",
        attempt=0,
        batch=0,
        launches=plan.launches,
        requeues=0,
        seed=plan.seed,
        artifact_hash=head.artifact_hash,
        base_artifact_hash=None if base is None else base.artifact_hash,
        build=dict(head.build),
        commits=_list_commits(recording),
        unaffected=dict(recording.unaffected) or None,
        fingerprint=recorded.fingerprint,
        partial=False,
        samples=0,
        not_before=at,
        created_at=at,
        started_at=recording.started_at,
    )
    session.add(job)
    session.flush()
    return job


def open_batch(session: Session, job: Job, batch: int) -> LeaseClaim:
    """Begin a batch of a recorded job, after the one before it was finished; return the lease under which its items are
    stored."""
    at = clock.now()
    if batch > 0:
        move(session, job, Event.request_batch, at)
    job.attempt += 1
    token = ids.new_secret("plj")
    agent_id = session.get_one(Target, job.target_id).agent_id
    session.add(
        Attempt(
            job_id=job.id,
            number=job.attempt,
            batch=batch,
            agent_id=agent_id,
            lease_token_sha256=ids.sha256_hex(token),
            leased_at=at,
            lease_expires_at=at,
            cancel_requested=False,
            outcome=None,
            last_seq=None,
            finished_at=None,
        )
    )
    move(session, job, Event.lease, at)
    move(session, job, Event.measure, at)
    session.flush()
    return LeaseClaim(agent_id, job.id, job.attempt, token)


def _list_benchmarks(recorded: RecordedRun) -> list[str]:
    sides = [recorded.manifest, recorded.at_base]
    names = [name for side in sides if side is not None for name in side.benchmarks]
    return list(dict.fromkeys(names))


def _list_commits(recording: Recording) -> list[dict[str, Any]] | None:
    return [to_builtins(commit) for commit in recording.commits] or None
