"""Holds the SQL that writes series and points: bulk inserts, corrections, renames and joins."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Table, delete, exists, select, update
from sqlalchemy.orm import Session, aliased

from paceline_server.series.declarations import Declaration
from paceline_server.store.base import Base
from paceline_server.store.insert import insert_into
from paceline_server.store.tables.annotations import Annotation
from paceline_server.store.tables.decisions import Finding
from paceline_server.store.tables.history import (
    Change,
    Fingerprint,
    NoiseFloor,
    Series,
    SeriesPoint,
    SeriesState,
)

Key = tuple[str, str, str, str]
"""(benchmark, arm, params key, metric), which identifies a series of one suite, target and branch."""


def _insert_once(
    session: Session, table: type[Base], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows; those whose identity is stored already are skipped."""
    if rows:
        target: Table = table.__table__  # type: ignore[assignment]  # declarative classes map tables
        insert = insert_into(session, target)
        session.execute(insert.on_conflict_do_nothing(), [dict(row) for row in rows])


def add_fingerprint(
    session: Session, digest: str, factors: Mapping[str, Any], at: datetime
) -> None:
    """Store the factors of a fingerprint. Unknown factors may be filled in later; known ones never change."""
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
    """Return the ids of a suite's series on a target and branch, by key."""
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
    """Insert series that do not exist yet."""
    _insert_once(session, Series, rows)


def add_points(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Append points; stored points stay as they are."""
    _insert_once(session, SeriesPoint, rows)


def update_last_at(session: Session, series_ids: Collection[str], at: datetime) -> None:
    """Move `last_at` of these series forward to `at`. Rows are first locked in order of id, to rule out deadlocks. Other
    transactions that have appended points refer to them, and are not waited for."""
    ordered = (
        select(Series.id).where(Series.id.in_(list(series_ids))).order_by(Series.id)
    )
    session.execute(ordered.with_for_update(key_share=True))
    session.execute(
        update(Series)
        .where(Series.id.in_(list(series_ids)), Series.last_at < at)
        .values(last_at=at)
    )


def update_declarations(
    session: Session, declared: Mapping[str, Declaration], at: datetime
) -> None:
    """Set unit and direction of series to those of points measured at `at`, unless newer points are stored.

    Points without a declaration first get the series' previous unit and direction as theirs.
    """
    query = select(Series).where(Series.id.in_(list(declared))).order_by(Series.id)
    for row in session.scalars(query):
        unit, direction = declared[row.id][:2]
        if (row.unit, row.direction) == (unit, direction):
            continue
        _declare_points(session, row)
        if at >= row.last_at:
            row.unit, row.direction = unit, direction
    session.flush()


def _declare_points(session: Session, row: Series) -> None:
    """Give the points of a series that have no declaration the unit and direction of the series."""
    session.execute(
        update(SeriesPoint)
        .where(SeriesPoint.series_id == row.id, SeriesPoint.declaration.is_(None))
        .values(declaration=Declaration(row.unit, row.direction).text())
        .execution_options(synchronize_session=False)
    )


def points_of_job(session: Session, job_id: str) -> dict[str, SeriesPoint]:
    """Return the points of a job, by series."""
    query = select(SeriesPoint).where(SeriesPoint.job_id == job_id)
    return {point.series_id: point for point in session.scalars(query)}


def correct_point(
    session: Session, series_id: str, job_id: str, columns: Mapping[str, Any]
) -> None:
    """Overwrite columns of a stored point."""
    row = session.get_one(SeriesPoint, (series_id, job_id))
    for name, value in columns.items():
        setattr(row, name, value)


def jobs_with_points(session: Session, series_id: str) -> list[str]:
    """Return jobs with a point in a series, by id."""
    query = select(SeriesPoint.job_id).where(SeriesPoint.series_id == series_id)
    return list(session.scalars(query.order_by(SeriesPoint.job_id)))


def lock_series_of_benchmarks(
    session: Session, suite: str, benchmarks: Sequence[str]
) -> list[Series]:
    """Lock and return the series of these benchmarks, in order of id."""
    query = (
        select(Series)
        .where(Series.suite == suite, Series.benchmark.in_(list(benchmarks)))
        .order_by(Series.id)
        .with_for_update()
    )
    return list(session.scalars(query))


def find_renamed_series(
    session: Session, row: Series, benchmark: str, arm: str
) -> Series | None:
    """Return the series with these names of benchmark and arm that equals `row` in all else, if there is one."""
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
    """Move everything of the series `old` to `new`, and delete `old`. If both have a point of a job, that of `new`
    stays."""
    old_series, new_series = session.get_one(Series, old), session.get_one(Series, new)
    if (old_series.unit, old_series.direction) != (
        new_series.unit,
        new_series.direction,
    ):
        _declare_points(session, old_series)
        _declare_points(session, new_series)
    other = aliased(SeriesPoint)
    in_both = exists().where(other.series_id == new, other.job_id == SeriesPoint.job_id)
    session.execute(delete(SeriesPoint).where(SeriesPoint.series_id == old, in_both))
    for table in (SeriesPoint, Change, Annotation, Finding):
        session.execute(
            update(table).where(table.series_id == old).values(series_id=new)
        )
    session.execute(delete(SeriesState).where(SeriesState.series_id == old))
    new_series.last_at = max(new_series.last_at, old_series.last_at)
    session.delete(old_series)
    session.flush()
    session.expire_all()


def rename_floors(session: Session, suite: str, old: str, new: str) -> None:
    """Rename a benchmark in its noise floors."""
    query = update(NoiseFloor).where(
        NoiseFloor.suite == suite, NoiseFloor.benchmark == old
    )
    session.execute(query.values(benchmark=new))


def rename_floors_of_arm(
    session: Session, suite: str, benchmark: str, old: str, new: str
) -> None:
    """Rename an arm in its noise floors."""
    query = update(NoiseFloor).where(
        NoiseFloor.suite == suite,
        NoiseFloor.benchmark == benchmark,
        NoiseFloor.arm == old,
    )
    session.execute(query.values(arm=new))
