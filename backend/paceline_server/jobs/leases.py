"""Leases jobs to agents and takes their reports: renew, state, late delivery, finish.

- Every write carries (job, attempt, lease token) and is refused with 409 `lease_lost` unless it belongs to the
  newest attempt (I6). Only the server's clock counts; agents get durations.
- A target has at most one lease, which the database enforces (I9).
- An attempt whose lease ran out while measuring may go on when it renews or asks what is undecided (`lost` →
  `measuring`), or deliver late (`lost` → `uploading`).

Nothing here blocks: the long poll is in `routes.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

from msgspec import to_builtins
from paceline_contract.attempts import FinishReport, StateReport
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.jobs import queries
from paceline_server.jobs.declarations import plan_of
from paceline_server.jobs.schemas import JobState, LeaseOut, WorkOut
from paceline_server.jobs.states import (
    HELD,
    REPORTS,
    Event,
    IllegalTransitionError,
    on_failure,
    step,
)
from paceline_server.jobs.transitions import move, publish_job, refresh_run
from paceline_server.kernel import clock, ids, settings
from paceline_server.kernel.errors import ProblemError, conflict, not_found
from paceline_server.store import access
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Attempt, Job


@dataclass(frozen=True, slots=True)
class LeaseClaim:
    """An agent and the lease it claims to hold."""

    agent_id: str
    job_id: str
    attempt: int
    lease_token: str


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A lease that was checked; its job is locked until the transaction ends.

    `closed`: the attempt has finished, so a repeated request is answered, but new data is refused.
    """

    job: Job
    attempt: Attempt
    closed: bool


def lease_next_job(
    session: Session, agent_id: str, target_ids: Sequence[str] | None
) -> LeaseOut | None:
    """Lease the oldest job for a free target of this agent; returns None if there is none."""
    at, lease_s = clock.now(), settings.current().lease_s
    job = queries.lease_oldest_job(session, agent_id, target_ids, at)
    if job is None:
        return None
    access.enter_project(session, job.project_id)
    token = ids.new_secret("plj")
    attempt = Attempt(
        job_id=job.id,
        number=job.attempt,
        batch=job.batch,
        agent_id=agent_id,
        lease_token_sha256=ids.sha256_hex(token),
        leased_at=at,
        lease_expires_at=at + _lease_duration(),
        cancel_requested=False,
        outcome=None,
        last_seq=None,
        finished_at=None,
    )
    session.add(attempt)
    publish_job(session, job, target_changed=True)
    refresh_run(session, job.run_id, at)
    target = session.get_one(Target, job.target_id)
    return LeaseOut(
        job_id=job.id,
        run_id=job.run_id,
        attempt=job.attempt,
        lease_token=token,
        lease_s=lease_s,
        target_id=target.id,
        target_serial=target.serial,
        work=_work(session, job, target, agent_id),
    )


def _lease_duration() -> timedelta:
    return timedelta(seconds=settings.current().lease_s)


def _work(session: Session, job: Job, target: Target, agent_id: str) -> WorkOut:
    run = queries.run(session, job.run_id)
    if run is None:  # a foreign key forbids it
        raise not_found("run", job.run_id)
    timeout_s = plan_of(session, job.run_id).declared.launch_timeout_s(
        run.benchmarks, target.kind
    )
    return WorkOut(
        suite=run.suite,
        repository=queries.nickname_of_repository(session, run.suite, agent_id)
        or run.repository,
        manifest_path=run.manifest_path,
        commit=run.commit,
        base_commit=run.base_commit,
        base_branch=run.base_branch,
        judges_head=run.judges_head,
        skips_unaffected=run.skips_unaffected,
        benchmarks=run.benchmarks,
        params=run.params,
        knobs=run.knobs,
        first_launch=job.batch * job.launches,
        launches=job.launches,
        rounds=run.rounds,
        min_time_ns=run.min_time_ns,
        seed=job.seed,
        stop_when_sure=run.stop_when_sure,
        launch_timeout_s=timeout_s,
        suppress=list(run.suppress),
    )


def lease_lost(why: str) -> ProblemError:
    """Return 409 `lease_lost`, after which the agent stops the workload."""
    return conflict(
        f"{why} Stop the workload; this attempt can no longer store anything.",
        "lease_lost",
    )


def check_lease(
    session: Session, claim: LeaseClaim, *, delivers: bool = False, renews: bool = False
) -> HeldLease:
    """Check the claimed lease and lock its job. Raises 404, 409 `lease_lost`.

    `delivers`: the write brings results, so a lost attempt may deliver late (`lost` → `uploading` if the
    target is free) and a finished one is returned as `closed`. `renews`: the agent still measures, so a lost
    attempt goes on (`lost` → `measuring`) unless another job has its target.
    """
    locked = queries.lock_attempt(session, claim.job_id, claim.attempt)
    if locked is None:
        if queries.job_with_target(session, claim.job_id) is None:
            raise not_found("job", claim.job_id)
        raise lease_lost("The job has no such attempt.")
    job, attempt = locked
    access.enter_project(session, job.project_id)
    token_matches = ids.same_secret(
        attempt.lease_token_sha256, ids.sha256_hex(claim.lease_token)
    )
    if not token_matches or attempt.agent_id != claim.agent_id:
        raise lease_lost("The lease token belongs to another attempt.")
    if delivers and attempt.outcome in ("done", "failed", "cancelled"):
        return HeldLease(job, attempt, closed=True)
    if job.attempt != attempt.number:
        raise lease_lost(f"Attempt {job.attempt} has taken over.")
    if job.state in HELD and attempt.outcome is None:
        return HeldLease(job, attempt, closed=False)
    if delivers and job.state == "lost" and attempt.outcome == "lost":
        _revive(session, job, attempt, Event.late_result)
        return HeldLease(job, attempt, closed=False)
    if renews and job.state == "lost" and attempt.outcome == "lost":
        if _revive(session, job, attempt, Event.revive):
            return HeldLease(job, attempt, closed=False)
        raise lease_lost("The lease ran out and the target runs another job.")
    raise lease_lost(f"The job is {job.state}.")


def _revive(session: Session, job: Job, attempt: Attempt, event: Event) -> bool:
    """Give a lost attempt its lease again. Returns False, without a change, while its target runs another job (I9); the
    attempt may then still deliver, but not measure."""
    if queries.target_is_held(session, job.target_id):
        return False
    at = clock.now()
    try:
        with session.begin_nested():
            move(session, job, event, at)
            attempt.outcome = None
            attempt.finished_at = None
            attempt.lease_expires_at = at + _lease_duration()
    except IntegrityError:  # another lease took the target meanwhile
        return False
    return True


def renew(session: Session, claim: LeaseClaim) -> bool:
    """Extend the lease from now; returns whether the agent should stop. Raises 409 `lease_lost`.

    A lease that ran out while measuring is renewed if its target is free, so that an agent can go on after a
    long outage of the server or the network.
    """
    lease = check_lease(session, claim, renews=True)
    lease.attempt.lease_expires_at = clock.now() + _lease_duration()
    return lease.attempt.cancel_requested


def report_state(session: Session, claim: LeaseClaim, report: StateReport) -> None:
    """Store the state an agent reports. Raises 409 `lease_lost`, or `conflict` for a step backwards."""
    lease = check_lease(session, claim, delivers=report.state == "uploading")
    job = lease.job
    if lease.closed:
        raise lease_lost("The attempt is finished.")
    _store_merge_base(session, job, report.base_commit)
    before = _reported_fields(job)
    try:
        state = step(cast(JobState, job.state), REPORTS[report.state])
    except IllegalTransitionError as error:
        raise conflict(f"{str(error).capitalize()}.") from None
    lease.attempt.lease_expires_at = clock.now() + _lease_duration()
    job.detail = report.detail
    job.artifact_hash = report.artifact_hash or job.artifact_hash
    job.base_artifact_hash = report.base_artifact_hash or job.base_artifact_hash
    job.fingerprint = report.fingerprint or job.fingerprint
    if report.state == "measuring":
        job.unaffected = _left_out(session, job, report.unaffected) or None
    if report.commits is not None:
        job.commits = to_builtins(report.commits)
    if report.build:
        job.build = dict(report.build)
    if (state, *_reported_fields(job)[1:]) != before and job.state != "lost":
        move(session, job, REPORTS[report.state], clock.now())


def _store_merge_base(session: Session, job: Job, base: str | None) -> None:
    """Store the merge base that an agent found; all jobs of a run measure against the same one.

    Raises 409 `other_base` if another agent found another one, 409 `conflict` if the run needs none."""
    if base is None:
        return
    run = queries.lock_run(session, job.run_id)
    if run.base_branch is None:
        raise conflict("The run names its base; an agent may not choose another.")
    if run.base_commit is None:
        run.base_commit = run.commit if base.startswith(run.commit) else base
    elif not (base.startswith(run.base_commit) or run.base_commit.startswith(base)):
        raise conflict(
            f"Another agent of this run found the merge base {run.base_commit[:12]}. Update both repositories, "
            "then repeat the run.",
            "other_base",
        )


def _left_out(
    session: Session, job: Job, reported: Mapping[str, str]
) -> dict[str, str]:
    """Return which benchmarks no batch of a job measures, given those that its newest attempt leaves out. Where all is
    to be measured, what an agent leaves out is missing."""
    run = queries.run(session, job.run_id) if reported else None
    if run is None or not run.skips_unaffected:
        return {}
    if job.batch == 0:
        return dict(reported)
    earlier = job.unaffected or {}
    return {
        name: digest for name, digest in earlier.items() if reported.get(name) == digest
    }


def _reported_fields(job: Job) -> tuple[str | None, ...]:
    """Return the visible fields that a report may change, beginning with the state."""
    return (
        job.state,
        job.detail,
        job.artifact_hash,
        job.base_artifact_hash,
        job.fingerprint,
    )


def finish(session: Session, held: HeldLease, report: FinishReport) -> None:
    """End an attempt; repeating it changes nothing. Before `done`, ingest has checked that every item has arrived.

    Raises 409 `lease_lost` if the attempt ended otherwise, 409 `conflict` for `done` before measuring.
    """
    job, attempt, at = held.job, held.attempt, clock.now()
    if held.closed:
        if attempt.outcome == report.outcome:
            return
        raise lease_lost(f"The attempt has ended as {attempt.outcome}.")
    cause = report.cause or {"failed": "agent_error", "cancelled": "cancelled"}.get(
        report.outcome
    )
    event = {"done": Event.finish_done, "cancelled": Event.finish_cancelled}.get(
        report.outcome
    )
    if event is None:
        event = on_failure(
            cast(JobState, job.state), cause=str(cause), requeues=job.requeues
        )
    try:
        step(cast(JobState, job.state), event)
    except IllegalTransitionError as error:
        raise conflict(f"{str(error).capitalize()}.") from None
    attempt.outcome = report.outcome
    attempt.last_seq = report.last_seq
    attempt.finished_at = at
    job.detail = None
    if report.outcome == "done":
        fleet.reset_failures(session, job.target_id, job.id)
    elif report.outcome == "failed":
        fleet.count_failed_attempt(
            session,
            job.target_id,
            str(cause),
            report.detail,
            job_id=job.id,
            attempt=attempt.number,
        )
    move(session, job, event, at, cause=cause, detail=report.detail)  # type: ignore[arg-type]  # literals
