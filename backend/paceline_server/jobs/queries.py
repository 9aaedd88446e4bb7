"""Holds all SQL of runs, jobs, attempts and schedules.

A transaction that changes a job locks the job's row first and then its run's, which rules out deadlocks. Leasing is one
statement (I5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from paceline_server.jobs.states import FINAL, HELD
from paceline_server.store.tables.catalog import Suite, SuiteAgent
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.jobs import IMPORTED, Attempt, Job, Run
from paceline_server.store.tables.schedules import Schedule


def suite(session: Session, name: str) -> Suite | None:
    """Return the newest announcement of a suite."""
    return session.scalars(select(Suite).where(Suite.name == name)).one_or_none()


def targets_of_suite(session: Session, name: str) -> list[Target]:
    """Return targets whose agent announced the suite, by name."""
    query = (
        select(Target)
        .join(
            SuiteAgent,
            and_(SuiteAgent.agent_id == Target.agent_id, SuiteAgent.suite == name),
        )
        .order_by(Target.name, Target.id)
    )
    return list(session.scalars(query))


def nickname_of_repository(
    session: Session, suite_name: str, agent_id: str
) -> str | None:
    """Return the name that an agent gives the repository of a suite that it announced."""
    query = select(SuiteAgent.repository).where(
        SuiteAgent.suite == suite_name, SuiteAgent.agent_id == agent_id
    )
    return session.scalars(query).one_or_none()


def run(session: Session, run_id: str) -> Run | None:
    """Return a run; its manifest is loaded only when touched."""
    return session.get(Run, run_id)


def lock_run(session: Session, run_id: str) -> Run:
    """Return the run, locked until the transaction ends. Jobs that are read afterwards are as others committed them."""
    query = (
        select(Run)
        .where(Run.id == run_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return session.scalars(query).one()


def runs_of_key(session: Session, concurrency_key: str) -> list[str]:
    """Return the ids of the runs with this key that no other run has superseded, oldest first."""
    query = (
        select(Run.id)
        .where(Run.concurrency_key == concurrency_key, Run.superseded_by.is_(None))
        .order_by(Run.id)
    )
    return list(session.scalars(query))


def runs(
    suite_name: str | None,
    target: str | None,
    state: str | None,
    trigger: str | None,
    requested: tuple[datetime | None, datetime | None] = (None, None),
    *,
    with_imported: bool = True,
) -> Select[Run]:
    """Return a query for runs. `requested`: from the first instant on, before the second."""
    query = select(Run)
    if not with_imported:
        query = query.where(Run.trigger != IMPORTED)
    since, until = requested
    if since is not None:
        query = query.where(Run.created_at >= since)
    if until is not None:
        query = query.where(Run.created_at < until)
    if suite_name is not None:
        query = query.where(Run.suite == suite_name)
    if state is not None:
        query = query.where(Run.state == state)
    if trigger is not None:
        query = query.where(Run.trigger == trigger)
    if target is not None:
        query = query.where(
            exists().where(Job.run_id == Run.id, Job.target_id == target)
        )
    return query


def launches_of(session: Session, run_id: str, target_id: str) -> int | None:
    """Return the launches per batch of the run's job on a target; None if the run has no job there."""
    query = (
        select(Job.launches)
        .where(Job.run_id == run_id, Job.target_id == target_id)
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def jobs_of_runs(
    session: Session, run_ids: Iterable[str]
) -> dict[str, list[tuple[Job, Target]]]:
    """Return jobs with their targets, per run, in order of creation."""
    jobs: dict[str, list[tuple[Job, Target]]] = {run_id: [] for run_id in run_ids}
    query = (
        select(Job, Target)
        .join(Target, Target.id == Job.target_id)
        .where(Job.run_id.in_(list(jobs)))
        .order_by(Job.id)
        .execution_options(populate_existing=True)
    )
    for job, target in session.execute(query):
        jobs[job.run_id].append((job, target))
    return jobs


def lock_jobs_of_run(session: Session, run_id: str) -> list[Job]:
    """Return the run's jobs, locked in order of id."""
    query = select(Job).where(Job.run_id == run_id).order_by(Job.id).with_for_update()
    return list(session.scalars(query.execution_options(populate_existing=True)))


def job_with_target(session: Session, job_id: str) -> tuple[Job, Target] | None:
    """Return a job and its target."""
    query = (
        select(Job, Target)
        .join(Target, Target.id == Job.target_id)
        .where(Job.id == job_id)
    )
    return session.execute(query).one_or_none()


def lock_job(session: Session, job_id: str) -> Job | None:
    """Return the job, locked until the transaction ends."""
    query = (
        select(Job)
        .where(Job.id == job_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return session.scalars(query).one_or_none()


def lock_attempt(
    session: Session, job_id: str, number: int
) -> tuple[Job, Attempt] | None:
    """Lock a job, and return it with one of its attempts as it is under that lock.

    These are two statements because PostgreSQL re-reads only the row for whose lock it waited: an attempt joined in the
    same statement would be as it was before the wait.
    """
    job = lock_job(session, job_id)
    if job is None:
        return None
    attempt = session.get(Attempt, (job_id, number), populate_existing=True)
    return None if attempt is None else (job, attempt)


def attempt(session: Session, job_id: str, number: int) -> Attempt | None:
    """Return one attempt of a job."""
    return session.get(Attempt, (job_id, number))


_candidate = aliased(Job)


def _select_next_leasable(
    agent_id: str, target_ids: Sequence[str] | None, at: datetime
) -> Select[str]:
    """Select the next job that this agent may lease: queued, due, and on a free target that takes jobs.

    A device must also be connected and in good health.
    """
    candidate, other = _candidate, aliased(Job)
    is_held = exists().where(
        other.target_id == candidate.target_id, other.state.in_(HELD)
    )
    query = (
        select(candidate.id)
        .join(Target, Target.id == candidate.target_id)
        .where(
            candidate.state == "queued",
            candidate.not_before <= at,
            or_(candidate.expires_at.is_(None), candidate.expires_at > at),
            Target.agent_id == agent_id,
            Target.refuses.is_(None),
            or_(Target.maintenance_by.is_(None), Target.maintenance_until <= at),
            Target.health != "quarantined",
            or_(
                Target.kind != "device",
                and_(Target.connection == "online", Target.health == "good"),
            ),
            ~is_held,
        )
        .order_by(func.coalesce(candidate.queue_at, candidate.not_before), candidate.id)
        .limit(1)
    )
    return query if target_ids is None else query.where(Target.id.in_(list(target_ids)))


class HoldingJobRow(NamedTuple):
    """A job that holds a target, since when, and what it measures."""

    job_id: str
    run_id: str
    suite: str
    since: datetime


class QueuedJobRow(NamedTuple):
    """A job in the queue of a target."""

    job_id: str
    target_id: str


def holding_jobs(
    session: Session, target_ids: Sequence[str]
) -> dict[str, HoldingJobRow]:
    """Return the jobs that hold these targets, by target id, as far as the session may see them."""
    query = (
        select(Job.target_id, Job.id, Run.id, Run.suite, Attempt.leased_at)
        .join(Run, Run.id == Job.run_id)
        .join(Attempt, and_(Attempt.job_id == Job.id, Attempt.number == Job.attempt))
        .where(Job.target_id.in_(target_ids), Job.state.in_(HELD))
    )
    return {row[0]: HoldingJobRow(*row[1:]) for row in session.execute(query)}


def queues(
    session: Session, target_ids: Sequence[str], at: datetime
) -> dict[str, list[QueuedJobRow]]:
    """Return the queued jobs of these targets that are due, by target id, in the order in which they are leased."""
    query = (
        select(Job.id, Job.target_id)
        .where(
            Job.target_id.in_(target_ids),
            Job.state == "queued",
            Job.not_before <= at,
        )
        .order_by(func.coalesce(Job.queue_at, Job.not_before), Job.id)
    )
    queues_by_target: dict[str, list[QueuedJobRow]] = {}
    for row in session.execute(query):
        queues_by_target.setdefault(row.target_id, []).append(QueuedJobRow(*row))
    return queues_by_target


def newest_attempts(session: Session, job_ids: Sequence[str]) -> dict[str, Attempt]:
    """Return the newest attempt of each of these jobs; a job that was never leased has none."""
    query = (
        select(Attempt)
        .join(Job, and_(Attempt.job_id == Job.id, Attempt.number == Job.attempt))
        .where(Job.id.in_(job_ids))
    )
    return {attempt.job_id: attempt for attempt in session.scalars(query)}


def has_leasable_job(
    session: Session, agent_id: str, target_ids: Sequence[str] | None, at: datetime
) -> bool:
    """Return whether a job could be leased now. It only reads, so waiting agents do not queue for the write lock."""
    return (
        session.execute(_select_next_leasable(agent_id, target_ids, at)).first()
        is not None
    )


def lease_oldest_job(
    session: Session, agent_id: str, target_ids: Sequence[str] | None, at: datetime
) -> Job | None:
    """Lease the oldest leasable job: queued → leased, attempt + 1, in one statement (I5).

    Returns None if there is none, or if another lease took the same target first, which the unique partial index
    decides; the caller may then try again.
    """
    oldest = _select_next_leasable(agent_id, target_ids, at).with_for_update(
        of=_candidate, skip_locked=True
    )
    statement = (
        update(Job)
        .where(Job.id == oldest.scalar_subquery(), Job.state == "queued")
        .values(
            state="leased",
            attempt=Job.attempt + 1,
            started_at=func.coalesce(Job.started_at, at),
            detail=None,
        )
        .returning(Job.id)
        .execution_options(synchronize_session=False)
    )
    try:
        with session.begin_nested():
            job_id = session.execute(statement).scalar_one_or_none()
    except IntegrityError:
        return None
    if job_id is None:
        return None
    query = (
        select(Job).where(Job.id == job_id).execution_options(populate_existing=True)
    )
    return session.scalars(query).one()


def target_is_held(session: Session, target_id: str) -> bool:
    """Return whether any job holds the target."""
    query = select(Job.id).where(Job.target_id == target_id, Job.state.in_(HELD))
    return session.execute(query.limit(1)).first() is not None


def revoked_agents(session: Session, agent_ids: Collection[str]) -> set[str]:
    """Return the ids of the revoked ones among these agents."""
    query = select(Agent.id).where(
        Agent.id.in_(list(agent_ids)), Agent.revoked_at.is_not(None)
    )
    return set(session.scalars(query))


def _lease_is_over(at: datetime) -> ColumnElement[bool]:
    """Return the condition that a lease is over. Leases of a revoked agent are over, even if they were renewed."""
    revoked = select(Agent.id).where(Agent.revoked_at.is_not(None))
    return or_(Attempt.lease_expires_at < at, Attempt.agent_id.in_(revoked))


def lock_expired_leases(
    session: Session, at: datetime, limit: int
) -> list[tuple[Job, Attempt]]:
    """Return held jobs whose newest lease ran out by `at` or whose agent is revoked, locked; rows locked by others are
    skipped.

    The jobs are locked first and read again with their attempts afterwards: a lease renewed while the lock
    was being taken has not run out.
    """
    ran_out = and_(
        Attempt.job_id == Job.id, Attempt.number == Job.attempt, _lease_is_over(at)
    )
    candidates = (
        select(Job.id)
        .join(Attempt, ran_out)
        .where(Job.state.in_(HELD))
        .order_by(Job.id)
        .limit(limit)
        .with_for_update(of=Job, skip_locked=True)
    )
    locked = list(session.scalars(candidates))
    query = (
        select(Job, Attempt)
        .join(Attempt, ran_out)
        .where(Job.id.in_(locked), Job.state.in_(HELD))
        .order_by(Job.id)
        .execution_options(populate_existing=True)
    )
    return [(job, attempt) for job, attempt in session.execute(query)]


def lock_overdue_jobs(session: Session, at: datetime, limit: int) -> list[Job]:
    """Return queued jobs that were not leased in time, locked; rows locked by others are skipped."""
    query = (
        select(Job)
        .where(Job.state == "queued", Job.expires_at <= at)
        .order_by(Job.id)
        .limit(limit)
        .with_for_update(of=Job, skip_locked=True)
        .execution_options(populate_existing=True)
    )
    return list(session.scalars(query))


def has_expired(session: Session, at: datetime) -> bool:
    """Return whether a lease or a queued job has expired."""
    ran_out = exists().where(
        Attempt.job_id == Job.id,
        Attempt.number == Job.attempt,
        _lease_is_over(at),
        Job.state.in_(HELD),
    )
    overdue = and_(Job.state == "queued", Job.expires_at <= at)
    query = (
        select(literal(1))
        .select_from(Job)
        .where(or_(ran_out, overdue), Job.state.not_in(FINAL))
        .limit(1)
    )
    return session.execute(query).first() is not None


def counting_attempts(
    session: Session, job_id: str, *, under_way: bool = False
) -> list[int]:
    """Return the numbers of the attempts that count for verdicts: the newest `done` one of each batch, in order.

    `under_way`: include the attempt that has not ended.
    """
    counts = Attempt.outcome == "done"
    if under_way:
        counts = or_(counts, Attempt.outcome.is_(None))
    query = (
        select(Attempt.batch, func.max(Attempt.number))
        .where(Attempt.job_id == job_id, counts)
        .group_by(Attempt.batch)
        .order_by(Attempt.batch)
    )
    return [number for _, number in session.execute(query)]


def schedules() -> Select[Schedule]:
    return select(Schedule)


def schedule_named(session: Session, name: str) -> Schedule | None:
    return session.scalars(select(Schedule).where(Schedule.name == name)).one_or_none()


def has_due_schedule(session: Session, at: datetime) -> bool:
    """Return whether a schedule is due."""
    due = exists().where(Schedule.enabled.is_(True), Schedule.next_at <= at)
    return session.execute(select(literal(1)).where(due)).first() is not None


def lock_due_schedules(session: Session, at: datetime, limit: int) -> list[Schedule]:
    """Return due schedules, locked, the longest overdue first; rows locked by others are skipped."""
    query = (
        select(Schedule)
        .where(Schedule.enabled.is_(True), Schedule.next_at <= at)
        .order_by(Schedule.next_at, Schedule.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .execution_options(populate_existing=True)
    )
    return list(session.scalars(query))


def busy_targets_of_schedule(session: Session, schedule_id: str) -> set[str]:
    """Return targets with a job of this schedule that has not ended."""
    query = (
        select(Job.target_id)
        .join(Run, Run.id == Job.run_id)
        .where(Run.schedule_id == schedule_id, Job.state.not_in(FINAL))
    )
    return set(session.scalars(query))


def missed_schedules(session: Session) -> list[Schedule]:
    """Return the enabled schedules whose newest run did not happen, by name."""
    query = select(Schedule).where(*_MISSED).order_by(Schedule.name)
    return list(session.scalars(query))


def projects_with_missed_schedules(session: Session) -> set[str]:
    """Return the projects of the enabled schedules whose newest run did not happen."""
    return set(session.scalars(select(Schedule.project_id).where(*_MISSED)))


_MISSED = (Schedule.enabled.is_(True), Schedule.missed_at.is_not(None))


def find_schedule(session: Session, schedule_id: str) -> Schedule | None:
    return session.get(Schedule, schedule_id)


def target(session: Session, target_id: str) -> Target | None:
    """Return a target that the session's project may see."""
    return session.get(Target, target_id)
