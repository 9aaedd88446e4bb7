"""All SQL of noise floors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.history import NoiseFloor, Series, SeriesPoint


@dataclass(frozen=True)
class NoiseFloorFilters:
    """Exact; None leaves a column open. `target` is an id."""

    suite: str | None = None
    benchmark: str | None = None
    arm: str | None = None
    metric: str | None = None
    target: str | None = None


def newest_floors(filters: NoiseFloorFilters) -> Select[Any]:
    """The newest floor of every key that passes the filters."""
    key = (
        NoiseFloor.target_id,
        NoiseFloor.suite,
        NoiseFloor.benchmark,
        NoiseFloor.arm,
        NoiseFloor.params_key,
        NoiseFloor.metric,
    )
    order = (NoiseFloor.measured_at.desc(), NoiseFloor.id.desc())
    age = func.row_number().over(partition_by=key, order_by=order).label("age")
    inner = select(NoiseFloor.id, age)
    for column, wanted in (
        (NoiseFloor.suite, filters.suite),
        (NoiseFloor.benchmark, filters.benchmark),
        (NoiseFloor.arm, filters.arm),
        (NoiseFloor.metric, filters.metric),
        (NoiseFloor.target_id, filters.target),
    ):
        if wanted is not None:
            inner = inner.where(column == wanted)
    ranked = inner.subquery()
    return (
        select(NoiseFloor)
        .join(ranked, ranked.c.id == NoiseFloor.id)
        .where(ranked.c.age == 1)
    )


def target_names(session: Session, target_ids: Collection[str]) -> dict[str, str]:
    query = select(Target).where(Target.id.in_(set(target_ids)))
    return {target.id: target.name for target in session.scalars(query)}


def last_points(session: Session, series: Series, count: int) -> list[SeriesPoint]:
    """The newest points that count and were measured in the newest one's environment, oldest first."""
    counting = (SeriesPoint.series_id == series.id, SeriesPoint.excluded.is_(None))
    order = (SeriesPoint.at.desc(), SeriesPoint.job_id.desc())
    now = (
        select(SeriesPoint.fingerprint)
        .where(*counting)
        .order_by(*order)
        .limit(1)
        .scalar_subquery()
    )
    query = (
        select(SeriesPoint)
        .where(*counting, SeriesPoint.fingerprint == now)
        .order_by(*order)
        .limit(count)
    )
    return list(reversed(list(session.scalars(query))))
