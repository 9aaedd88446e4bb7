"""Holds the SQL of change-point detection, for many series per query.

To prevent deadlocks, locks are always taken in the order targets, alerts, series, changes, each by id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from paceline_server.store.insert import insert_into
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.history import (
    Change,
    Series,
    SeriesPoint,
    SeriesState,
)
from paceline_server.store.tables.jobs import Job, Run

CHUNK = 500
"""Ids per statement; SQLite allows 32,766 parameters."""
LIVE = ("suspect", "standing")


def chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Split ids into chunks of at most `CHUNK`."""
    for start in range(0, len(ids), CHUNK):
        yield ids[start : start + CHUNK]


class SeriesRow(NamedTuple):
    """The columns of a series that evaluation needs."""

    id: str
    target_id: str
    unit: str
    direction: str
    metric: str = "time"


_HEAD = (
    Series.id,
    Series.target_id,
    Series.unit,
    Series.direction,
    Series.metric,
)


def series_of_job(session: Session, job_id: str) -> list[SeriesRow]:
    """Return the series with a point of a job, by id."""
    query = (
        select(*_HEAD)
        .join(SeriesPoint, SeriesPoint.series_id == Series.id)
        .where(SeriesPoint.job_id == job_id)
        .order_by(Series.id)
    )
    return [SeriesRow(*row) for row in session.execute(query)]


def list_series(
    session: Session, suite: str | None, series_id: str | None
) -> list[SeriesRow]:
    """Return series by id: all, those of a suite, or a single one."""
    query = select(*_HEAD).order_by(Series.id)
    if suite is not None:
        query = query.where(Series.suite == suite)
    if series_id is not None:
        query = query.where(Series.id == series_id)
    return [SeriesRow(*row) for row in session.execute(query)]


def list_series_on(
    session: Session, suite: str, target_id: str, branch: str
) -> list[SeriesRow]:
    """Return the series of a suite on a target and branch, by id."""
    query = select(*_HEAD).where(
        Series.suite == suite, Series.target_id == target_id, Series.branch == branch
    )
    return [SeriesRow(*row) for row in session.execute(query.order_by(Series.id))]


def lock_targets(session: Session, target_ids: Collection[str]) -> None:
    """Lock these targets until the transaction ends, so that their shifts are decided one at a time. Other
    rows may still refer to them."""
    query = (
        select(Target.id).where(Target.id.in_(sorted(target_ids))).order_by(Target.id)
    )
    session.execute(query.with_for_update(key_share=True)).all()


def lock_series(session: Session, series_ids: Sequence[str]) -> None:
    """Lock these series until the transaction ends. New points may still refer to them. SQLite has a single writer anyway."""
    for chunk in chunks(sorted(series_ids)):
        session.execute(
            select(Series.id)
            .where(Series.id.in_(chunk))
            .order_by(Series.id)
            .with_for_update(key_share=True)
        )


class WindowRow(NamedTuple):
    """The last counted points of a series, oldest first; the columns share an index. `whole`: there are no
    older points."""

    series_id: str
    job_ids: tuple[str, ...]
    values: tuple[float, ...]
    fingerprints: tuple[str, ...]
    whole: bool
    declarations: tuple[str | None, ...]


def _counting(points: Any = SeriesPoint) -> Any:
    return points.excluded.is_(None)


def windows(
    session: Session, series_ids: Sequence[str], size: int
) -> Iterator[WindowRow]:
    """Yield the last `size` counted points of each series that has any."""
    for chunk in chunks(sorted(series_ids)):
        since = _since(session, chunk, size)
        long = [
            and_(SeriesPoint.series_id == series_id, SeriesPoint.at >= at)
            for series_id, at in since.items()
        ]
        short = [series_id for series_id in chunk if series_id not in since]
        query = (
            select(
                SeriesPoint.series_id,
                SeriesPoint.job_id,
                SeriesPoint.value,
                SeriesPoint.fingerprint,
                SeriesPoint.declaration,
            )
            .where(or_(SeriesPoint.series_id.in_(short), *long), _counting())
            .order_by(SeriesPoint.series_id, SeriesPoint.at, SeriesPoint.job_id)
        )
        for series_id, rows in groupby(session.execute(query), key=itemgetter(0)):
            _, jobs, values, fingerprints, declarations = zip(*rows, strict=True)
            yield WindowRow(
                series_id,
                jobs[-size:],
                values[-size:],
                fingerprints[-size:],
                series_id not in since,
                declarations[-size:],
            )


def _since(
    session: Session, series_ids: Sequence[str], size: int
) -> dict[str, datetime]:
    """Return when the first of the last `size` counted points was measured, for series with older points."""
    older = aliased(SeriesPoint)
    bound = (
        select(older.at)
        .where(older.series_id == Series.id, _counting(older))
        .order_by(older.at.desc(), older.job_id.desc())
        .limit(1)
        .offset(size)
        .scalar_subquery()
    )
    query = select(Series.id, bound.label("at")).where(Series.id.in_(series_ids))
    return {row.id: row.at for row in session.execute(query) if row.at is not None}


def newest_counted_job(session: Session, series_ids: Sequence[str]) -> dict[str, str]:
    """Return the job of the newest counted point of each series that has any."""
    point = aliased(SeriesPoint)
    newest = (
        select(point.job_id)
        .where(point.series_id == Series.id, _counting(point))
        .order_by(point.at.desc(), point.job_id.desc())
        .limit(1)
        .scalar_subquery()
    )
    job_ids: dict[str, str] = {}
    for chunk in chunks(series_ids):
        query = select(Series.id, newest.label("job_id")).where(Series.id.in_(chunk))
        job_ids |= {
            row.id: row.job_id
            for row in session.execute(query)
            if row.job_id is not None
        }
    return job_ids


class JobPlaceRow(NamedTuple):
    """The time and commit of a job."""

    at: datetime
    commit: str


def places(session: Session, job_ids: Collection[str]) -> dict[str, JobPlaceRow]:
    """Return the time and commit of these jobs, as in their points."""
    places_by_job: dict[str, JobPlaceRow] = {}
    for chunk in chunks(sorted(job_ids)):
        query = (
            select(
                Job.id,
                func.coalesce(
                    Job.started_at, Job.created_at, type_=Job.created_at.type
                ),
                Run.commit,
            )
            .join(Run, Run.id == Job.run_id)
            .where(Job.id.in_(chunk))
        )
        for job_id, at, commit in session.execute(query):
            places_by_job[job_id] = JobPlaceRow(at, commit)
    return places_by_job


def kept_changes(session: Session, series_ids: Sequence[str]) -> list[Change]:
    """Return the changes of these series that have not vanished, by id, reloaded."""
    changes: list[Change] = []
    for chunk in chunks(series_ids):
        query = (
            select(Change)
            .where(Change.series_id.in_(chunk), Change.state != "vanished")
            .order_by(Change.id)
            .execution_options(populate_existing=True)
        )
        changes += session.scalars(query)
    return changes


def states(session: Session, series_ids: Sequence[str]) -> dict[str, SeriesState]:
    """Return the states of these series, reloaded."""
    states_by_series: dict[str, SeriesState] = {}
    for chunk in chunks(series_ids):
        query = select(SeriesState).where(SeriesState.series_id.in_(chunk))
        for row in session.scalars(query.execution_options(populate_existing=True)):
            states_by_series[row.series_id] = row
    return states_by_series


def upsert_states(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Store the newest evaluation of series; their baselines stay."""
    if not rows:
        return
    statement = insert_into(session, SeriesState)
    changed = {
        name: statement.excluded[name]
        for name in ("evaluated_at", "last_job_id", "points", "segments")
    }
    session.execute(
        statement.on_conflict_do_update(index_elements=["series_id"], set_=changed),
        list(rows),
    )


def newest_jobs_of_target(session: Session, target_id: str, limit: int) -> list[str]:
    """Return the newest jobs of a target with points, oldest first."""
    has_points = exists().where(SeriesPoint.job_id == Job.id)
    at = func.coalesce(Job.started_at, Job.created_at)
    query = (
        select(Job.id)
        .join(Run, Run.id == Job.run_id)
        .where(
            Job.target_id == target_id,
            Job.state == "done",
            ~Run.compares_revisions,
            has_points,
        )
        .order_by(at.desc(), Job.id.desc())
        .limit(limit)
    )
    return list(session.scalars(query))[::-1]


def live_changes_at(
    session: Session, target_id: str, job_ids: Collection[str]
) -> list[Change]:
    """Return live changes of a target's series at these jobs, by id, reloaded and locked."""
    query = (
        select(Change)
        .join(Series, Series.id == Change.series_id)
        .where(
            Series.target_id == target_id,
            Change.state.in_(LIVE),
            Change.job_id.in_(list(job_ids)),
        )
        .order_by(Change.id)
        .with_for_update(of=Change)
    )
    return list(session.scalars(query.execution_options(populate_existing=True)))


def count_series_measured_since(session: Session, target_id: str, job_id: str) -> int:
    """Return the number of a target's series with a point of this job or a later one."""
    since = (
        select(func.coalesce(Job.started_at, Job.created_at))
        .where(Job.id == job_id)
        .scalar_subquery()
    )
    query = select(func.count()).where(
        Series.target_id == target_id, Series.last_at >= since
    )
    return session.scalar(query) or 0


def lock_changes(session: Session, series_ids: Sequence[str]) -> None:
    """Lock every change of these series until the transaction ends, by id in a single statement."""
    query = (
        select(Change.id)
        .where(Change.series_id.in_(list(series_ids)))
        .order_by(Change.id)
    )
    session.execute(query.with_for_update()).all()


def series_of_changes(session: Session, change_ids: Collection[str]) -> list[str]:
    """Return the series of these changes, by id."""
    query = select(Change.series_id).where(Change.id.in_(list(change_ids))).distinct()
    return sorted(session.scalars(query))


def changes_by_id(session: Session, change_ids: Collection[str]) -> list[Change]:
    """Return these changes by id, reloaded and locked until the transaction ends."""
    query = (
        select(Change)
        .where(Change.id.in_(list(change_ids)))
        .order_by(Change.id)
        .with_for_update()
    )
    return list(session.scalars(query.execution_options(populate_existing=True)))


def first_point_after(session: Session, row: Change) -> SeriesPoint:
    """Return the first point of a change's new level."""
    return session.get_one(SeriesPoint, (row.series_id, row.job_id))


def find_point(
    session: Session, series_id: str, job_id: str | None, commit: str | None
) -> SeriesPoint | None:
    """Return the point of a job, or the oldest point of a commit."""
    query = select(SeriesPoint).where(SeriesPoint.series_id == series_id)
    if job_id is not None:
        query = query.where(SeriesPoint.job_id == job_id)
    if commit is not None:
        query = query.where(SeriesPoint.commit.startswith(commit, autoescape=True))
    return session.scalars(
        query.order_by(SeriesPoint.at, SeriesPoint.job_id).limit(1)
    ).one_or_none()


def accepted_changes(session: Session, series_id: str) -> list[Change]:
    """Return the accepted changes of a series, by id, locked until the transaction ends."""
    query = select(Change).where(
        Change.series_id == series_id, Change.state == "accepted"
    )
    query = query.order_by(Change.id).with_for_update()
    return list(session.scalars(query.execution_options(populate_existing=True)))


def unclaimed_changes_until(
    session: Session, series_id: str, at: datetime
) -> list[Change]:
    """Return the live changes of a series without an alert whose new level began by `at`, locked."""
    query = (
        select(Change)
        .join(
            SeriesPoint,
            and_(
                SeriesPoint.series_id == Change.series_id,
                SeriesPoint.job_id == Change.job_id,
            ),
        )
        .where(
            Change.series_id == series_id,
            Change.state.in_(LIVE),
            Change.alert_id.is_(None),
            SeriesPoint.at <= at,
        )
        .order_by(Change.id)
        .with_for_update(of=Change)
    )
    return list(session.scalars(query.execution_options(populate_existing=True)))
