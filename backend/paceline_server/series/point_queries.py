"""All SQL that writes points and series: bulk inserts, and renames when a suite renames a
benchmark.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, delete, exists, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased

from paceline_server.store.base import Base
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.history import (
    Annotation,
    Change,
    Fingerprint,
    NoiseFloor,
    Series,
    SeriesPoint,
    SeriesState,
)

Key = tuple[str, str, str, str]
"""(benchmark, arm, params key, metric): a series of one suite on one target and branch."""


def _insert_once(
    session: Session, table: type[Base], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert the rows whose identity is new."""
    insert = (
        postgresql.insert
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert
    )
    target: Table = table.__table__  # type: ignore[assignment]  # declarative classes map tables
    if rows:
        session.execute(
            insert(target).on_conflict_do_nothing(), [dict(row) for row in rows]
        )


def add_fingerprint(
    session: Session, digest: str, factors: Mapping[str, Any], at: datetime
) -> None:
    """Keep what a fingerprint stands for; factors that were not known may become known, never change."""
    _insert_once(
        session,
        Fingerprint,
        [{"hash": digest, "factors": dict(factors), "first_seen_at": at}],
    )
    row = session.get(Fingerprint, digest)
    if row is not None and factors and not row.factors:
        row.factors = dict(factors)


def series_ids(
    session: Session, suite: str, target_id: str, branch: str
) -> dict[Key, str]:
    """The series of a suite on a target and branch, by what they measure."""
    query = select(
        Series.id, Series.benchmark, Series.arm, Series.params_key, Series.metric
    ).where(
        Series.suite == suite, Series.target_id == target_id, Series.branch == branch
    )
    return {
        (row.benchmark, row.arm, row.params_key, row.metric): row.id
        for row in session.execute(query)
    }


def add_series(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Begin series that are new."""
    _insert_once(session, Series, rows)


def add_points(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Append points; those that are here already stay as they are."""
    _insert_once(session, SeriesPoint, rows)


def update_last_at(session: Session, series_ids: Collection[str], at: datetime) -> None:
    """Series have a point of then; the newest counts. Locked in order of id first: nobody waits in a
    circle."""
    ordered = (
        select(Series.id).where(Series.id.in_(list(series_ids))).order_by(Series.id)
    )
    session.execute(ordered.with_for_update())
    session.execute(
        update(Series)
        .where(Series.id.in_(list(series_ids)), Series.last_at < at)
        .values(last_at=at)
    )


def points_of_job(session: Session, job_id: str) -> dict[str, SeriesPoint]:
    """The points of a job, by series."""
    query = select(SeriesPoint).where(SeriesPoint.job_id == job_id)
    return {point.series_id: point for point in session.scalars(query)}


def correct_point(
    session: Session, series_id: str, job_id: str, columns: Mapping[str, Any]
) -> None:
    """Correct one point."""
    row = session.get_one(SeriesPoint, (series_id, job_id))
    for name, value in columns.items():
        setattr(row, name, value)


def jobs_with_points(session: Session, series_id: str) -> list[str]:
    """Jobs that left a point in a series, in a fixed order."""
    query = select(SeriesPoint.job_id).where(SeriesPoint.series_id == series_id)
    return list(session.scalars(query.order_by(SeriesPoint.job_id)))


def series_named(
    session: Session, suite: str, benchmarks: Sequence[str]
) -> list[Series]:
    """Series of these benchmarks, locked, by id."""
    query = (
        select(Series)
        .where(Series.suite == suite, Series.benchmark.in_(list(benchmarks)))
        .order_by(Series.id)
        .with_for_update()
    )
    return list(session.scalars(query))


def same_series(
    session: Session, row: Series, benchmark: str, arm: str
) -> Series | None:
    """The series that measures the same under another name."""
    query = select(Series).where(
        Series.suite == row.suite,
        Series.benchmark == benchmark,
        Series.arm == arm,
        Series.params_key == row.params_key,
        Series.metric == row.metric,
        Series.target_id == row.target_id,
        Series.branch == row.branch,
    )
    return session.scalars(query).one_or_none()


def join_series(session: Session, old: str, new: str) -> None:
    """Everything of one series becomes part of another; of a job that is in both the newer name's point
    stays."""
    there = aliased(SeriesPoint)
    twice = exists().where(there.series_id == new, there.job_id == SeriesPoint.job_id)
    session.execute(delete(SeriesPoint).where(SeriesPoint.series_id == old, twice))
    for table in (SeriesPoint, Change, Annotation, Finding):
        session.execute(
            update(table).where(table.series_id == old).values(series_id=new)
        )
    session.execute(delete(SeriesState).where(SeriesState.series_id == old))
    gone = session.get_one(Series, old)
    kept = session.get_one(Series, new)
    kept.last_at = max(kept.last_at, gone.last_at)
    session.delete(gone)
    session.flush()
    session.expire_all()


def rename_floors(session: Session, suite: str, old: str, new: str) -> None:
    """Noise floors of a benchmark follow its name."""
    query = update(NoiseFloor).where(
        NoiseFloor.suite == suite, NoiseFloor.benchmark == old
    )
    session.execute(query.values(benchmark=new))


def rename_floors_of_arm(
    session: Session, suite: str, benchmark: str, old: str, new: str
) -> None:
    """Noise floors of an arm follow its name."""
    query = update(NoiseFloor).where(
        NoiseFloor.suite == suite,
        NoiseFloor.benchmark == benchmark,
        NoiseFloor.arm == old,
    )
    session.execute(query.values(arm=new))
