"""Holds all SQL of alerts about history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import Select, and_, or_, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.elements import ColumnElement

from paceline_server.alerts.changes.change_facts import ChangeFacts, edges_of
from paceline_server.alerts.states import LIVE
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.history import (
    Change,
    Series,
    SeriesPoint,
)
from paceline_server.store.tables.jobs import Job, Run

KINDS = ("history", "environment")
"""The kinds of alerts about changes of series."""


def changes_of_job(session: Session, job_id: str) -> list[ChangeFacts]:
    """Return changes of every series the job has a point of, by id, locked until the transaction ends."""
    touched = select(SeriesPoint.series_id).where(SeriesPoint.job_id == job_id)
    query = (
        select(Change, Series)
        .join(Series, Series.id == Change.series_id)
        .where(Change.series_id.in_(touched), Change.state != "accepted")
        .order_by(Change.id)
        .with_for_update(of=Change)
        .execution_options(populate_existing=True)
    )
    return _facts(session, query)


def changes_of_alerts(
    session: Session, alert_ids: Collection[str]
) -> dict[str, list[ChangeFacts]]:
    """Return the changes of each alert, by alert id, the oldest first."""
    query = (
        select(Change, Series)
        .join(Series, Series.id == Change.series_id)
        .where(Change.alert_id.in_(list(alert_ids)))
        .order_by(Change.found_at, Change.id)
    )
    facts_by_alert: dict[str, list[ChangeFacts]] = {
        alert_id: [] for alert_id in alert_ids
    }
    for fact in _facts(session, query):
        facts_by_alert[str(fact.change.alert_id)].append(fact)
    return facts_by_alert


def silent_runs(session: Session, run_ids: Collection[str]) -> set[str]:
    """Return which of these runs are an imported history, of whose changes nobody is told."""
    query = select(Run.id).where(Run.id.in_(set(run_ids)), Run.notifies.is_(False))
    return set(session.scalars(query))


def change_ids(session: Session, alert_id: str) -> list[str]:
    """Return the ids of an alert's changes in any state."""
    return list(
        session.scalars(
            select(Change.id).where(Change.alert_id == alert_id).order_by(Change.id)
        )
    )


def changes_of_series(
    session: Session, series_ids: Collection[str]
) -> list[ChangeFacts]:
    """Return every change of these series that stands or is suspected, the oldest first."""
    query = (
        select(Change, Series)
        .join(Series, Series.id == Change.series_id)
        .where(
            Change.series_id.in_(list(series_ids)),
            Change.state.in_(("suspect", "standing")),
        )
        .order_by(Change.found_at, Change.id)
    )
    return _facts(session, query)


def _facts(session: Session, query: Select[Change, Series]) -> list[ChangeFacts]:
    rows = [(change, series) for change, series in session.execute(query)]
    edges = {change.id: edges_of(change) for change, _ in rows}
    jobs = {job_id for edge in edges.values() for job_id in edge.all()}
    points: dict[str, dict[str, SeriesPoint]] = defaultdict(dict)
    at_edges = select(SeriesPoint).where(
        SeriesPoint.series_id.in_({change.series_id for change, _ in rows}),
        SeriesPoint.job_id.in_(jobs),
    )
    for point in session.scalars(at_edges) if rows else ():
        points[point.series_id][point.job_id] = point
    return [
        ChangeFacts(change, series, points[series.id], edges[change.id])
        for change, series in rows
    ]


def _lock_alerts(session: Session, *conditions: ColumnElement[bool]) -> list[Alert]:
    """Return alerts about history as others committed them, locked in id order until the transaction ends."""
    query = (
        select(Alert)
        .where(Alert.kind.in_(KINDS), *conditions)
        .order_by(Alert.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return list(session.scalars(query))


def lock_target(session: Session, target_id: str) -> None:
    """Lock a target until the transaction ends; rows that refer to it may still be added."""
    query = (
        select(Target.id).where(Target.id == target_id).with_for_update(key_share=True)
    )
    session.execute(query).all()


def lock_alerts_of_job(session: Session, job: Job) -> list[Alert]:
    """Return every alert about history that a job's points may concern, locked: those of its series in any state, and
    the living ones of its target."""
    touched = select(SeriesPoint.series_id).where(SeriesPoint.job_id == job.id)
    of_series = select(Change.alert_id).where(Change.series_id.in_(touched))
    living = and_(Alert.target_id == job.target_id, Alert.state.in_(LIVE))
    return _lock_alerts(session, or_(Alert.id.in_(of_series), living))


def living_of_target(session: Session, target_id: str) -> list[Alert]:
    """Return the living alerts about history of a target, the oldest first, locked."""
    return _lock_alerts(session, Alert.target_id == target_id, Alert.state.in_(LIVE))


def closed_about(
    session: Session, series_ids: Collection[str], states: Sequence[str]
) -> list[Alert]:
    """Return alerts about history of these series that are in one of `states`, the newest first, locked."""
    of_series = select(Change.alert_id).where(Change.series_id.in_(list(series_ids)))
    alerts = _lock_alerts(
        session, Alert.id.in_(of_series), Alert.state.in_(list(states))
    )
    # Another transaction may have changed the state while this one waited for the lock.
    return [alert for alert in reversed(alerts) if alert.state in states]


def points_around(
    session: Session, fact: ChangeFacts, limit: int
) -> tuple[list[SeriesPoint], list[SeriesPoint]]:
    """Return at most `limit` counted points before and after the range of a change, nearest first."""
    query = select(SeriesPoint).where(
        SeriesPoint.series_id == fact.series.id, SeriesPoint.excluded.is_(None)
    )
    old = (
        query.where(SeriesPoint.at <= fact.range.after)
        .order_by(SeriesPoint.at.desc())
        .limit(limit)
    )
    new = (
        query.where(SeriesPoint.at >= fact.range.upto)
        .order_by(SeriesPoint.at)
        .limit(limit)
    )
    return list(session.scalars(old)), list(session.scalars(new))


def newest_points(session: Session, series_id: str, limit: int) -> list[SeriesPoint]:
    """Return the newest counted points of a series, the newest first."""
    query = (
        select(SeriesPoint)
        .where(SeriesPoint.series_id == series_id, SeriesPoint.excluded.is_(None))
        .order_by(SeriesPoint.at.desc(), SeriesPoint.job_id.desc())
        .limit(limit)
    )
    return list(session.scalars(query))


def values_of(
    session: Session, series_id: str, job_ids: Collection[str]
) -> dict[str, float]:
    """Return the values of these points of a series, by job."""
    query = select(SeriesPoint.job_id, SeriesPoint.value).where(
        SeriesPoint.series_id == series_id
    )
    wanted = set(job_ids)
    return {
        job_id: value for job_id, value in session.execute(query) if job_id in wanted
    }


def sibling_points(
    session: Session, series: Series, commits: Collection[str]
) -> list[tuple[str, SeriesPoint]]:
    """Return (target name, point) of the same measurement of these commits on other real targets, oldest first."""
    query = (
        select(Target.name, SeriesPoint)
        .join(Series, Series.id == SeriesPoint.series_id)
        .join(Target, Target.id == Series.target_id)
        .where(
            Series.suite == series.suite,
            Series.benchmark == series.benchmark,
            Series.arm == series.arm,
            Series.params_key == series.params_key,
            Series.metric == series.metric,
            Series.branch == series.branch,
            Series.target_id != series.target_id,
            Target.simulated.is_(False),
            SeriesPoint.commit.in_(list(commits)),
            SeriesPoint.excluded.is_(None),
        )
        .order_by(SeriesPoint.at, SeriesPoint.series_id, SeriesPoint.job_id)
    )
    return [(name, point) for name, point in session.execute(query)]


def findings_of_changes(session: Session, change_ids: Collection[str]) -> set[str]:
    """Return which of these changes have a finding."""
    query = select(Finding.change_id).where(Finding.change_id.in_(list(change_ids)))
    return {str(row) for row in session.scalars(query)}
