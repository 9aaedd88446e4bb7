"""All SQL of bisections."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from paceline_server.store.tables.bisections import Bisection
from paceline_server.store.tables.decisions import Comparison, Finding
from paceline_server.store.tables.history import Change, Series
from paceline_server.store.tables.jobs import Job, Run


def lock_bisection(session: Session, bisection_id: str) -> Bisection | None:
    """A bisection as others committed it, locked until the transaction ends."""
    query = select(Bisection).where(Bisection.id == bisection_id).with_for_update()
    return session.scalars(
        query.execution_options(populate_existing=True)
    ).one_or_none()


def bisections_of_alert(session: Session, alert_id: str) -> list[Bisection]:
    """The bisections of an alert, the newest first."""
    query = (
        select(Bisection)
        .where(Bisection.alert_id == alert_id)
        .order_by(Bisection.id.desc())
    )
    return list(session.scalars(query))


def proving_comparisons(
    session: Session, alert_id: str
) -> list[tuple[Comparison, Job, Run]]:
    """The A/B comparisons that are confirmations of an alert with their jobs, the newest first."""
    query = (
        select(Comparison, Job, Run)
        .join(Finding, Finding.comparison_id == Comparison.id)
        .join(Job, Job.id == Comparison.job_id)
        .join(Run, Run.id == Comparison.run_id)
        .where(
            Finding.alert_id == alert_id,
            Finding.role == "confirmation",
            Comparison.sides == "revisions",
        )
        .order_by(Comparison.measured_at.desc(), Comparison.id)
    )
    return [(comparison, job, run) for comparison, job, run in session.execute(query)]


def series_of(session: Session, alert_id: str) -> list[tuple[Change, Series]]:
    """The changes of an alert with their series, the oldest first."""
    query = (
        select(Change, Series)
        .join(Series, Series.id == Change.series_id)
        .where(Change.alert_id == alert_id)
        .order_by(Change.found_at, Change.id)
    )
    return [(change, series) for change, series in session.execute(query)]
