"""Holds the SQL of detection outside `changes`: a job's context, reports, comparisons and findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from paceline_contract.params import params_key
from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from paceline_server.jobs.states import FINAL
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Comparison, Finding, JobReport
from paceline_server.store.tables.fleet import REAL_TARGETS, Target
from paceline_server.store.tables.imports import ImportDocument
from paceline_server.store.tables.jobs import (
    BASELINE_TRIGGERS,
    IMPORTED,
    RECORDED,
    Job,
    Run,
)

_HISTORY_TRIGGERS = (*BASELINE_TRIGGERS, IMPORTED)


@dataclass(frozen=True)
class JobContext:
    """A job with its run and target."""

    job: Job
    run: Run
    target: Target

    @property
    def is_imported(self) -> bool:
        """True if another tool measured the job, so that it gets no verdict."""
        return self.run.trigger == IMPORTED

    @property
    def has_own_manifest(self) -> bool:
        """True if the run came with its document, so that its suite may be unknown otherwise."""
        return self.run.trigger in (IMPORTED, RECORDED)

    @property
    def is_baseline(self) -> bool:
        """True if the job becomes points of history: an ordinary run on a branch, without knobs.

        Imported jobs, whose branch may be their saved baseline, become points that count if they are judged."""
        run = self.run
        ordinary = (
            run.trigger in _HISTORY_TRIGGERS
            and not run.compares_revisions
            and run.branch is not None
        )
        return ordinary and not run.demonstration and not run.knobs


def context(session: Session, job_id: str) -> JobContext | None:
    query = (
        select(Job, Run, Target)
        .join(Run, Run.id == Job.run_id)
        .join(Target, Target.id == Job.target_id)
        .where(Job.id == job_id)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else JobContext(*row)


def imported_texts(session: Session, import_id: str) -> dict[tuple[str, str, str], str]:
    """Return (benchmark, arm, params key) of each series of an imported document → the text that it was named after."""
    document = session.scalar(
        select(ImportDocument.document).where(ImportDocument.id == import_id)
    )
    return {
        (series["benchmark"], series["arm"], params_key(series["params"])): series["id"]
        for run in (document or {}).get("runs", [])
        for series in run["series"]
    }


def has_later_backfill(session: Session, context: JobContext, topic: str) -> bool:
    """Return whether a pending message of a topic is about a later job of the same imported history."""
    run, job = context.run, context.job
    query = (
        select(Job.id)
        .join(Run, Run.id == Job.run_id)
        .where(
            Job.id > job.id,
            Job.id.in_(outbox.pending_keys(topic)),
            Job.target_id == job.target_id,
            Run.suite == run.suite,
            Run.branch == run.branch,
            Run.notifies.is_(False),
        )
        .limit(1)
    )
    return session.scalar(query) is not None


def other_comparisons(
    session: Session, run_id: str, job_id: str, as_of: datetime | None = None
) -> list[Comparison]:
    """Return comparisons of the run's other jobs (those stored until `as_of`), in a fixed order. Simulated targets are
    excluded, because their tests would cost power on real ones."""
    query = (
        select(Comparison)
        .where(
            Comparison.run_id == run_id,
            Comparison.job_id != job_id,
            Comparison.target_id.in_(REAL_TARGETS),
        )
        .order_by(Comparison.job_id, Comparison.id)
    )
    if as_of is not None:
        query = query.where(Comparison.measured_at <= as_of)
    return list(session.scalars(query))


def unjudged_jobs(
    session: Session, run_id: str, job_id: str, as_of: datetime | None = None
) -> int:
    """Return the number of the run's other jobs on real targets that may still get a verdict, or might at `as_of`."""
    open_now = Job.state.not_in(FINAL)
    is_open = open_now if as_of is None else or_(open_now, Job.finished_at > as_of)
    query = select(func.count()).where(
        Job.run_id == run_id,
        Job.id != job_id,
        is_open,
        Job.target_id.in_(REAL_TARGETS),
    )
    return session.scalar(query) or 0


def report(session: Session, job_id: str) -> JobReport | None:
    """Return the newest analysis of a job."""
    query = (
        select(JobReport)
        .where(JobReport.job_id == job_id)
        .order_by(JobReport.batch.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def replace_report(session: Session, row: JobReport) -> None:
    """Store the analysis of a look, replacing an earlier analysis of the same look."""
    session.execute(
        delete(JobReport).where(
            JobReport.job_id == row.job_id, JobReport.batch == row.batch
        )
    )
    session.add(row)


def comparisons_of_job(session: Session, job_id: str) -> list[Comparison]:
    """Return comparisons of a concluded job, in the order of its report."""
    return list(
        session.scalars(
            select(Comparison)
            .where(Comparison.job_id == job_id)
            .order_by(Comparison.id)
        )
    )


def findings_with_comparisons(
    session: Session, alert_ids: Sequence[str]
) -> list[tuple[Finding, Comparison]]:
    """Return findings of alerts with the comparison each came from, oldest first."""
    query = (
        select(Finding, Comparison)
        .join(Comparison, Comparison.id == Finding.comparison_id)
        .where(Finding.alert_id.in_(alert_ids))
        .order_by(Finding.created_at, Finding.id)
    )
    return [(finding, comparison) for finding, comparison in session.execute(query)]


def finding(session: Session, finding_id: str) -> tuple[Finding, Comparison] | None:
    query = (
        select(Finding, Comparison)
        .join(Comparison, Comparison.id == Finding.comparison_id)
        .where(Finding.id == finding_id)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1])


def baseline_jobs(session: Session, suite: str | None) -> list[str]:
    """Return concluded ordinary and imported jobs (of a suite), oldest first."""
    query = (
        select(Job.id)
        .join(Run, Run.id == Job.run_id)
        .where(
            Job.state == "done",
            Run.trigger.in_(_HISTORY_TRIGGERS),
            ~Run.compares_revisions,
            Run.branch.is_not(None),
            Run.demonstration.is_(False),
        )
        .order_by(Job.created_at, Job.id)
    )
    if suite is not None:
        query = query.where(Run.suite == suite)
    return list(session.scalars(query))
