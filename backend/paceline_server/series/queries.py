"""Holds the SQL that reads series: lists, points, changes, annotations and noise floors.

The SQL that writes them is in `point_queries.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Select, and_, case, exists, func, or_, select, true
from sqlalchemy.orm import Session
from sqlalchemy.sql.elements import ColumnElement

from paceline_server.series.environments import cut_into_environments
from paceline_server.store.tables.annotations import Annotation
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target
from paceline_server.store.tables.history import (
    Change,
    Fingerprint,
    NoiseFloor,
    Series,
    SeriesPoint,
    SeriesState,
)
from paceline_server.store.tables.retired_benchmarks import RetiredBenchmark

LIVE = ("suspect", "standing")
"""States of a change that detection still evaluates."""


class SeriesFilters(NamedTuple):
    """Filters of a list of series; None matches everything."""

    suite: str | None = None
    benchmark: str | None = None
    arm: str | None = None
    metric: str | None = None
    target: str | None = None
    branch: str | None = None
    text: str | None = None
    changed: bool | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Only series with a point from `since` on and before `until`."""


class TitledNamesRow(NamedTuple):
    """The names of a series, and the text from which they were made."""

    benchmark: str
    arm: str
    title: str


def select_series(filters: SeriesFilters) -> Select[Any]:
    """Return a query for series; each word of `text` must occur in a part of the name, `target` is an id."""
    query = select(Series)
    for column, wanted in (
        (Series.suite, filters.suite),
        (Series.benchmark, filters.benchmark),
        (Series.arm, filters.arm),
        (Series.metric, filters.metric),
        (Series.target_id, filters.target),
        (Series.branch, filters.branch),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    for word in (filters.text or "").lower().split():
        parts = (
            Series.suite,
            Series.benchmark,
            Series.arm,
            Series.metric,
            Series.params_key,
            Series.branch,
            Series.title,
        )
        named = exists().where(
            Target.id == Series.target_id,
            func.lower(Target.name).contains(word, autoescape=True),
        )
        query = query.where(
            or_(
                *(func.lower(part).contains(word, autoescape=True) for part in parts),
                named,
            )
        )
    if filters.since is not None or filters.until is not None:
        measured = exists().where(SeriesPoint.series_id == Series.id)
        if filters.since is not None:
            measured = measured.where(SeriesPoint.at >= filters.since)
        if filters.until is not None:
            measured = measured.where(SeriesPoint.at < filters.until)
        query = query.where(measured)
    if filters.changed is not None:
        live = exists().where(Change.series_id == Series.id, Change.state.in_(LIVE))
        query = query.where(live if filters.changed else ~live)
    return query


def series_by_id(session: Session, series_id: str) -> Series | None:
    return session.get(Series, series_id)


def _is_measured_here() -> ColumnElement[bool]:
    """Return the condition that a series was not imported."""
    imported = select(Target.id).where(Target.agent_id == IMPORTS_AGENT)
    return Series.target_id.not_in(imported)


def _is_judged() -> ColumnElement[bool]:
    """Return the condition that a series was measured here, or that its newest imported point counts
    (docs/decisions/0058-judged-imports.md)."""
    counts = exists().where(
        SeriesPoint.series_id == Series.id,
        SeriesPoint.at == Series.last_at,
        SeriesPoint.excluded.is_(None),
    )
    return or_(_is_measured_here(), counts)


Imports = Literal["none", "judged", "all"]
"""Which imported series are returned beside those that were measured here."""


def _is_shown(imports: Imports) -> ColumnElement[bool]:
    if imports == "all":
        return true()
    return _is_judged() if imports == "judged" else _is_measured_here()


def of_suite(
    session: Session, suite: str, branch: str | None = None, imports: Imports = "none"
) -> list[Series]:
    """Return the series of a suite (on a branch) by name."""
    query = select(Series).where(Series.suite == suite, _is_shown(imports))
    if branch is not None:
        query = query.where(Series.branch == branch)
    order = (
        Series.benchmark,
        Series.arm,
        Series.params_key,
        Series.metric,
        Series.target_id,
        Series.id,
    )
    return list(session.scalars(query.order_by(*order)))


class SeriesNameRow(NamedTuple):
    """The identity of a series; the field names are those of `Series`."""

    id: str
    target_id: str
    benchmark: str
    arm: str
    params_key: str
    metric: str


def series_names(
    session: Session, suite: str, branch: str, benchmarks: Collection[str]
) -> list[SeriesNameRow]:
    """Return the identities of the series of these benchmarks on a branch; whole rows would take ten times as long."""
    columns = (
        Series.id,
        Series.target_id,
        Series.benchmark,
        Series.arm,
        Series.params_key,
        Series.metric,
    )
    query = select(*columns).where(
        Series.suite == suite, Series.branch == branch, Series.benchmark.in_(benchmarks)
    )
    return [SeriesNameRow(*row) for row in session.execute(query)]


def titled_names(session: Session, names: Collection[str]) -> Sequence[TitledNamesRow]:
    """Return the title of a series for each (benchmark, arm) of which one is in `names`."""
    query = (
        select(Series.benchmark, Series.arm, func.min(Series.title).label("title"))
        .where(
            Series.title.is_not(None),
            or_(Series.benchmark.in_(names), Series.arm.in_(names)),
        )
        .group_by(Series.benchmark, Series.arm)
    )
    return [
        TitledNamesRow(row.benchmark, row.arm, row.title)
        for row in session.execute(query)
    ]


def state(session: Session, series_id: str) -> SeriesState | None:
    return session.get(SeriesState, series_id)


def newest_points(
    session: Session, series_ids: Collection[str]
) -> dict[str, SeriesPoint]:
    """Return the newest point of each series, excluded or not."""
    query = (
        select(SeriesPoint)
        .join(
            Series,
            and_(Series.id == SeriesPoint.series_id, Series.last_at == SeriesPoint.at),
        )
        .where(Series.id.in_(list(series_ids)))
        .order_by(SeriesPoint.series_id, SeriesPoint.job_id)
    )
    return {point.series_id: point for point in session.scalars(query)}


def point_counts(session: Session, series_ids: Collection[str]) -> dict[str, int]:
    query = (
        select(SeriesPoint.series_id, func.count())
        .where(SeriesPoint.series_id.in_(list(series_ids)))
        .group_by(SeriesPoint.series_id)
    )
    return {series_id: int(count) for series_id, count in session.execute(query)}


def change_counts(
    session: Session, series_ids: Collection[str]
) -> dict[str, dict[str, int]]:
    """Return the number of changes by state, per series."""
    query = (
        select(Change.series_id, Change.state, func.count())
        .where(Change.series_id.in_(list(series_ids)))
        .group_by(Change.series_id, Change.state)
        .order_by(Change.series_id, Change.state)
    )
    counts: dict[str, dict[str, int]] = {}
    for series_id, state, count in session.execute(query):
        counts.setdefault(series_id, {})[state] = int(count)
    return counts


class ChangeRow(NamedTuple):
    """A change with its series and the first point of its new level."""

    change: Change
    series: Series
    point: SeriesPoint


def changes(
    session: Session, series_ids: Collection[str], states: Collection[str] | None = None
) -> list[ChangeRow]:
    """Return the changes of these series (in these states), with the newest point first."""
    query = (
        select(Change, Series, SeriesPoint)
        .join(Series, Series.id == Change.series_id)
        .join(
            SeriesPoint,
            and_(
                SeriesPoint.series_id == Change.series_id,
                SeriesPoint.job_id == Change.job_id,
            ),
        )
        .where(Change.series_id.in_(list(series_ids)))
        .order_by(SeriesPoint.at.desc(), Change.id.desc())
    )
    if states is not None:
        query = query.where(Change.state.in_(list(states)))
    return [ChangeRow(*row) for row in session.execute(query)]


class PlainPointRow(NamedTuple):
    """A point without its values, for splitting a series into environments."""

    job_id: str
    at: datetime
    commit: str
    fingerprint: str
    declaration: str | None


def plain_points(session: Session, series_id: str) -> list[PlainPointRow]:
    """Return every point of a series without its values, oldest first."""
    query = (
        select(
            SeriesPoint.job_id,
            SeriesPoint.at,
            SeriesPoint.commit,
            SeriesPoint.fingerprint,
            SeriesPoint.declaration,
        )
        .where(SeriesPoint.series_id == series_id)
        .order_by(SeriesPoint.at, SeriesPoint.job_id)
    )
    return [PlainPointRow(*row) for row in session.execute(query)]


def points(
    session: Session, series_id: str, since: datetime | None, until: datetime | None
) -> list[SeriesPoint]:
    """Return the points of a window, both ends included, oldest first."""
    query = select(SeriesPoint).where(SeriesPoint.series_id == series_id)
    if since is not None:
        query = query.where(SeriesPoint.at >= since)
    if until is not None:
        query = query.where(SeriesPoint.at <= until)
    return list(session.scalars(query.order_by(SeriesPoint.at, SeriesPoint.job_id)))


def fingerprints(
    session: Session, hashes: Collection[str]
) -> dict[str, dict[str, Any]]:
    """Return the factors of these fingerprints, by hash."""
    query = select(Fingerprint.hash, Fingerprint.factors).where(
        Fingerprint.hash.in_(set(hashes))
    )
    return {row.hash: row.factors for row in session.execute(query)}


def fingerprints_of_jobs(session: Session, job_ids: Collection[str]) -> dict[str, str]:
    """Return the fingerprint of each job's target, for those of the jobs that have points."""
    query = (
        select(
            SeriesPoint.job_id, func.min(SeriesPoint.fingerprint).label("fingerprint")
        )
        .where(SeriesPoint.job_id.in_(list(job_ids)))
        .group_by(SeriesPoint.job_id)
    )
    return {row.job_id: row.fingerprint for row in session.execute(query)}


class NoiseFloorRow(NamedTuple):
    """A minimum detectable effect with its key; the field names are those of `NoiseFloor`."""

    mde: float
    target_id: str
    benchmark: str
    arm: str
    params_key: str
    metric: str


def noise_floors(
    session: Session, suite: str, target_ids: Collection[str]
) -> list[NoiseFloorRow]:
    """Return the newest noise floor of each series of a suite on these targets.

    The database selects the newest rows, because every A/A job adds a row with evidence for each series."""
    key = (
        NoiseFloor.target_id,
        NoiseFloor.benchmark,
        NoiseFloor.arm,
        NoiseFloor.params_key,
        NoiseFloor.metric,
    )
    newer = func.lead(NoiseFloor.id).over(
        partition_by=key, order_by=(NoiseFloor.measured_at, NoiseFloor.id)
    )
    ranked = (
        select(NoiseFloor.mde, *key, newer.label("newer"))
        .where(NoiseFloor.suite == suite, NoiseFloor.target_id.in_(set(target_ids)))
        .subquery()
    )
    newest = session.execute(select(*ranked.c[:6]).where(ranked.c.newer.is_(None)))
    return [NoiseFloorRow(*row) for row in newest]


def noise_floor(session: Session, series: Series) -> NoiseFloor | None:
    """Return the newest noise floor of a series' key."""
    query = (
        select(NoiseFloor)
        .where(
            NoiseFloor.target_id == series.target_id,
            NoiseFloor.suite == series.suite,
            NoiseFloor.benchmark == series.benchmark,
            NoiseFloor.arm == series.arm,
            NoiseFloor.params_key == series.params_key,
            NoiseFloor.metric == series.metric,
        )
        .order_by(NoiseFloor.measured_at.desc(), NoiseFloor.id.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def annotations_beside(session: Session, series: Series) -> Sequence[Annotation]:
    """Return annotations of a series or its target, oldest first."""
    query = (
        select(Annotation)
        .where(
            or_(
                Annotation.series_id == series.id,
                Annotation.target_id == series.target_id,
            )
        )
        .order_by(Annotation.at, Annotation.id)
    )
    return list(session.scalars(query))


def annotation(session: Session, annotation_id: str) -> Annotation | None:
    return session.get(Annotation, annotation_id)


def retired_benchmarks(session: Session, suite: str) -> list[RetiredBenchmark]:
    """Return retired benchmarks of a suite, by name."""
    query = select(RetiredBenchmark).where(RetiredBenchmark.suite == suite)
    return list(session.scalars(query.order_by(RetiredBenchmark.benchmark)))


def retired_benchmark(
    session: Session, suite: str, key: str
) -> RetiredBenchmark | None:
    query = select(RetiredBenchmark).where(
        RetiredBenchmark.suite == suite, RetiredBenchmark.benchmark == key
    )
    return session.scalars(query).one_or_none()


def was_measured(session: Session, suite: str, benchmark: str, arm: str | None) -> bool:
    """Return whether a series of this benchmark (and arm) exists."""
    query = select(Series.id).where(
        Series.suite == suite, Series.benchmark == benchmark
    )
    if arm is not None:
        query = query.where(Series.arm == arm)
    return session.scalars(query.limit(1)).one_or_none() is not None


def branches(session: Session, suite: str, imports: Imports = "judged") -> list[str]:
    """Return the branches with series of a suite, the most recent first."""
    newest = func.max(Series.last_at)
    query = (
        select(Series.branch)
        .where(Series.suite == suite, _is_shown(imports))
        .group_by(Series.branch)
    )
    return list(session.scalars(query.order_by(newest.desc(), Series.branch)))


@dataclass(frozen=True)
class NoiseFloorFilters:
    """Filters by equality; None matches everything. `target` is an id."""

    suite: str | None = None
    benchmark: str | None = None
    arm: str | None = None
    metric: str | None = None
    target: str | None = None


def select_newest_floors(filters: NoiseFloorFilters) -> Select[Any]:
    """Select the newest floor of every key that passes the filters."""
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


def floors_of_real_targets(session: Session) -> list[tuple[NoiseFloor, str]]:
    """Return the newest floor of every key with its target's name, without simulated targets."""
    query = (
        select_newest_floors(NoiseFloorFilters())
        .add_columns(Target.name)
        .join(Target, Target.id == NoiseFloor.target_id)
        .where(Target.simulated.is_(False))
        .order_by(NoiseFloor.id)
    )
    return [(floor, name) for floor, name in session.execute(query)]


def last_points(session: Session, series: Series, count: int) -> list[SeriesPoint]:
    """Return the newest `count` points that count and share the newest point's environment and meaning, oldest
    first."""
    counted = (SeriesPoint.series_id == series.id, SeriesPoint.excluded.is_(None))
    order = (SeriesPoint.at.desc(), SeriesPoint.job_id.desc())
    newest = (
        select(SeriesPoint.fingerprint)
        .where(*counted)
        .order_by(*order)
        .limit(1)
        .scalar_subquery()
    )
    query = (
        select(SeriesPoint)
        .where(*counted, SeriesPoint.fingerprint == newest)
        .order_by(*order)
        .limit(count)
    )
    points = list(reversed(list(session.scalars(query))))
    stretches = cut_into_environments(
        [point.fingerprint for point in points],
        [point.declaration for point in points],
    )
    return points[stretches[-1].start :] if stretches else []


class JobNoiseRow(NamedTuple):
    """The noise in a job's points: the mean of their relative half intervals (`scatter`), the share of time in which
    the workload waited for a CPU, and whether all of its points are excluded."""

    target_id: str
    target_name: str
    simulated: bool
    job_id: str
    scatter: float
    waiting_percent: float | None
    excluded: bool


def noise_of_jobs(session: Session, since: datetime) -> list[JobNoiseRow]:
    """Return the noise of jobs with points from `since` on, without imports."""

    def condition(name: str) -> ColumnElement[float]:
        median: ColumnElement[float] = SeriesPoint.conditions[name]["median"].as_float()
        return median

    pressure, others = condition("psi_cpu_percent"), condition("others_cpu_percent")
    query = (
        select(
            Series.target_id,
            Target.name,
            Target.simulated,
            SeriesPoint.job_id,
            func.avg((SeriesPoint.upper - SeriesPoint.lower) / (2 * SeriesPoint.value)),
            func.max(
                func.coalesce(
                    condition("workload_wait_percent"),
                    case((others < pressure, others), else_=pressure),
                )
            ),
            func.count(SeriesPoint.excluded) == func.count(),
        )
        .join(Series, Series.id == SeriesPoint.series_id)
        .join(Target, Target.id == Series.target_id)
        .where(
            SeriesPoint.at >= since,
            SeriesPoint.value > 0,
            Target.agent_id != IMPORTS_AGENT,
        )
        .group_by(Series.target_id, Target.name, Target.simulated, SeriesPoint.job_id)
    )
    return [JobNoiseRow(*row) for row in session.execute(query)]
