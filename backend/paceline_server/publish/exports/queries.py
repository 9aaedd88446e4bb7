"""Holds the SQL of exports, which read in pages by primary key, so that no read takes long, and of restoring them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, bindparam, or_, select, tuple_
from sqlalchemy.orm import Session

from paceline_server.store.base import Base
from paceline_server.store.insert import insert_into
from paceline_server.store.tables.alerts import Alert, AlertEvent
from paceline_server.store.tables.annotations import Annotation
from paceline_server.store.tables.bisections import Bisection
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.decisions import Comparison, Finding, JobReport
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.history import (
    Change,
    Fingerprint,
    NoiseFloor,
    Series,
    SeriesPoint,
    SeriesState,
)
from paceline_server.store.tables.imports import ImportDocument
from paceline_server.store.tables.jobs import Attempt, Job, Run
from paceline_server.store.tables.policies import PolicyAdvice
from paceline_server.store.tables.projects import Project, TargetGrant
from paceline_server.store.tables.retired_benchmarks import RetiredBenchmark
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute
from paceline_server.store.tables.samples import (
    ConditionsRow,
    Item,
    LogChunk,
    ReportedLine,
    SampleChunk,
    StreamEvent,
)
from paceline_server.store.tables.waivers import Waiver


class ChunkKey(NamedTuple):
    """The identity of a chunk (I7), by which exports of samples are ordered."""

    job_id: str
    attempt: int
    seq: int


class ChunkRow(NamedTuple):
    """A stored chunk with its target and batch."""

    chunk: SampleChunk
    target: str
    batch: int


_KEY = (SampleChunk.job_id, SampleChunk.attempt, SampleChunk.seq)


def chunks_after(
    session: Session,
    run_id: str,
    after: ChunkKey | None,
    last: ChunkKey | None,
    limit: int,
) -> list[ChunkRow]:
    """Return the next `limit` chunks of a run in order of their keys, up to and including `last`."""
    query: Select[*tuple[Any, ...]] = (
        select(SampleChunk, Target.name, Attempt.batch)
        .join(Job, Job.id == SampleChunk.job_id)
        .join(Target, Target.id == Job.target_id)
        .join(
            Attempt,
            (Attempt.job_id == SampleChunk.job_id)
            & (Attempt.number == SampleChunk.attempt),
        )
    )
    query = _between(query, run_id, after).limit(limit)
    if last is not None:
        query = query.where(tuple_(*_KEY) <= tuple_(*last))
    return [ChunkRow(*row) for row in session.execute(query)]


def chunk_sizes(
    session: Session, run_id: str, after: ChunkKey | None
) -> Iterator[tuple[ChunkKey, int]]:
    """Yield the keys and sample counts of a run's chunks, in order."""
    query: Select[*tuple[Any, ...]] = select(*_KEY, SampleChunk.n).join(
        Job, Job.id == SampleChunk.job_id
    )
    for row in session.execute(_between(query, run_id, after)).yield_per(1_000):
        job_id, attempt, seq, n = row
        yield ChunkKey(job_id, attempt, seq), n


def _between(
    query: Select[*tuple[Any, ...]], run_id: str, after: ChunkKey | None
) -> Select[*tuple[Any, ...]]:
    query = query.where(Job.run_id == run_id).order_by(*_KEY)
    return query if after is None else query.where(tuple_(*_KEY) > tuple_(*after))


class TimeRange(NamedTuple):
    """Instants between which a run was requested: `since` included, `until` not; None: no limit."""

    since: datetime | None
    until: datetime | None

    def holds(self, at: Any) -> list[ColumnElement[bool]]:
        """Return the conditions on a column of instants."""
        conditions = []
        if self.since is not None:
            conditions.append(at >= self.since)
        if self.until is not None:
            conditions.append(at < self.until)
        return conditions


Criterion = Callable[[TimeRange], list[ColumnElement[bool]]]


def _runs(period: TimeRange) -> Any:
    """Return the ids of the finished runs of a period; unfinished ones would change while they are exported."""
    return select(Run.id).where(
        Run.finished_at.is_not(None), *period.holds(Run.created_at)
    )


def _jobs(period: TimeRange) -> Any:
    return select(Job.id).where(Job.run_id.in_(_runs(period)))


def _alerts(period: TimeRange) -> Any:
    """Return the alerts of these runs, and those of no run that were raised in the period."""
    is_of_exported = or_(
        Alert.target_id.is_(None), Alert.target_id.in_(_targets(period))
    )
    return select(Alert.id).where(
        or_(
            Alert.run_id.in_(_runs(period)),
            and_(
                Alert.run_id.is_(None), is_of_exported, *period.holds(Alert.created_at)
            ),
        )
    )


def _series(period: TimeRange) -> Any:
    return select(SeriesPoint.series_id).where(SeriesPoint.job_id.in_(_jobs(period)))


def _targets(period: TimeRange) -> Any:
    return select(Job.target_id).where(Job.run_id.in_(_runs(period)))


def _of_job(table: Any) -> Criterion:
    return lambda period: [table.job_id.in_(_jobs(period))]


def _of_alert(table: Any) -> Criterion:
    return lambda period: [table.alert_id.in_(_alerts(period))]


def _of_series(table: Any) -> Criterion:
    return lambda period: [table.series_id.in_(_series(period))]


def _all(_: TimeRange) -> list[ColumnElement[bool]]:
    return []


EXPORTED: dict[type[Base], Criterion] = {
    Agent: lambda period: [
        Agent.id.in_(select(Target.agent_id).where(Target.id.in_(_targets(period))))
    ],
    Target: lambda period: [Target.id.in_(_targets(period))],
    Suite: _all,
    Run: lambda period: [Run.id.in_(_runs(period))],
    Job: lambda period: [Job.run_id.in_(_runs(period))],
    Attempt: _of_job(Attempt),
    Item: _of_job(Item),
    SampleChunk: _of_job(SampleChunk),
    StreamEvent: _of_job(StreamEvent),
    ConditionsRow: _of_job(ConditionsRow),
    ReportedLine: _of_job(ReportedLine),
    LogChunk: _of_job(LogChunk),
    JobReport: _of_job(JobReport),
    Comparison: _of_job(Comparison),
    AlertRule: _all,
    AlertRuleVersion: _all,
    RuleMute: _all,
    Waiver: _all,
    RetiredBenchmark: _all,
    Alert: lambda period: [Alert.id.in_(_alerts(period))],
    AlertEvent: _of_alert(AlertEvent),
    Bisection: _of_alert(Bisection),
    Finding: lambda period: [
        or_(Finding.job_id.is_(None), Finding.job_id.in_(_jobs(period))),
        or_(Finding.alert_id.is_(None), Finding.alert_id.in_(_alerts(period))),
    ],
    Fingerprint: lambda period: [
        Fingerprint.hash.in_(
            select(SeriesPoint.fingerprint).where(SeriesPoint.job_id.in_(_jobs(period)))
        )
    ],
    Series: lambda period: [Series.id.in_(_series(period))],
    SeriesPoint: _of_job(SeriesPoint),
    SeriesState: _of_series(SeriesState),
    Change: lambda period: [
        Change.series_id.in_(_series(period)),
        or_(Change.alert_id.is_(None), Change.alert_id.in_(_alerts(period))),
    ],
    NoiseFloor: _of_job(NoiseFloor),
    PolicyAdvice: _of_job(PolicyAdvice),
    Annotation: lambda period: [
        or_(
            Annotation.series_id.in_(_series(period)),
            Annotation.target_id.in_(_targets(period)),
        )
    ],
    ImportDocument: lambda period: period.holds(ImportDocument.created_at),
}
"""The tables of an export, each after those it refers to, with the conditions for rows that belong to a period."""


def read_from_one_snapshot(session: Session) -> None:
    """Make all statements of a session read one snapshot. On SQLite a transaction does so anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})


def rows_of_table(
    session: Session, table: type[Base], period: TimeRange, names: Sequence[str]
) -> Iterator[Sequence[Any]]:
    """Yield the values of the columns `names` in the exported rows of a table, by primary key. They are fetched in
    pages."""
    columns = [getattr(table, name) for name in names]
    keys = [getattr(table, column.name) for column in table.__table__.primary_key]
    query = select(*columns).where(*EXPORTED[table](period)).order_by(*keys)
    yield from session.execute(query.execution_options(yield_per=ROWS_AT_ONCE))


ROWS_AT_ONCE = 200
"""Rows of a page; a report or a row of conditions has some 100 KB."""


def runs_of_period(session: Session, period: TimeRange) -> list[str]:
    """Return the ids of the exported runs, oldest first."""
    query = select(Run.id).where(Run.id.in_(_runs(period))).order_by(Run.id)
    return list(session.scalars(query))


def judged_jobs(session: Session) -> list[str]:
    """Return the ids of the jobs with a verdict, in order of creation."""
    return list(
        session.scalars(select(Job.id).where(Job.verdict.is_not(None)).order_by(Job.id))
    )


def has_runs(session: Session) -> bool:
    """Return whether the session's project has any run."""
    return session.scalars(select(Run.id).limit(1)).first() is not None


def project(session: Session, project_id: str) -> Project:
    """Return an existing project."""
    return session.get_one(Project, project_id)


def insert_rows(
    session: Session, table: type[Base], rows: Iterable[dict[str, Any]]
) -> None:
    """Insert rows. Rows of shared tables that exist already are skipped."""
    listed = list(rows)
    if listed:
        statement = insert_into(session, table)
        if table in SHARED:
            statement = statement.on_conflict_do_nothing()
        session.execute(statement, listed)


SHARED = (Agent, Target, Fingerprint)
"""Tables without a project, whose rows another export may have restored already."""


def grant_targets(
    session: Session, project_id: str, target_ids: Iterable[str], at: datetime
) -> None:
    """Grant targets to a project."""
    statement = insert_into(session, TargetGrant).on_conflict_do_nothing()
    rows = [
        {"target_id": target_id, "project_id": project_id, "created_at": at}
        for target_id in target_ids
    ]
    if rows:
        session.execute(statement, rows)


class RowSource(NamedTuple):
    """The source of an exported table's rows. `keys`: the columns by which they are ordered, unique together; `at`: the
    instant by which a period selects them."""

    columns: tuple[Any, ...]
    keys: tuple[Any, ...]
    at: Any
    joins: tuple[tuple[Any, ColumnElement[bool]], ...] = ()
    outer_joins: tuple[tuple[Any, ColumnElement[bool]], ...] = ()
    """Joins that keep rows without a partner."""
    run: Any = None
    series: Any = None


SOURCES: dict[str, RowSource] = {
    "alerts": RowSource(
        columns=(
            Alert.id,
            Alert.state,
            Alert.kind,
            Alert.cause,
            Alert.title,
            Alert.words,
            Alert.suite,
            Alert.benchmark,
            Alert.arm,
            Alert.reference,
            Alert.metric,
            Target.name.label("target"),
            Alert.ratio,
            Alert.lower,
            Alert.upper,
            Alert.demonstration,
            Alert.shadow,
            Alert.base_commit,
            Alert.head_commit,
            Alert.rule_id,
            Alert.rule_version,
            Alert.run_id,
            Alert.confirmation_run_id,
            Alert.issue_url,
            Alert.due_at,
            Alert.created_at,
            Alert.updated_at,
        ),
        keys=(Alert.id,),
        at=Alert.created_at,
        outer_joins=((Target, Target.id == Alert.target_id),),
        run=Alert.run_id,
    ),
    "comparisons": RowSource(
        columns=(
            Comparison.id,
            Comparison.run_id,
            Comparison.job_id,
            Target.name.label("target"),
            Comparison.suite,
            Comparison.benchmark,
            Comparison.params,
            Comparison.arm,
            Comparison.reference,
            Comparison.metric,
            Comparison.sides,
            Comparison.ratio,
            Comparison.lower,
            Comparison.upper,
            Comparison.share_slower,
            Comparison.launches,
            Comparison.blocks,
            Comparison.verdict,
            Comparison.reason,
            Comparison.demonstration,
            Comparison.evidence,
            Comparison.measured_at,
        ),
        keys=(Comparison.id,),
        at=Comparison.measured_at,
        joins=((Target, Target.id == Comparison.target_id),),
        run=Comparison.run_id,
    ),
    "conditions": RowSource(
        columns=(
            Job.run_id,
            ConditionsRow.job_id,
            Target.name.label("target"),
            ConditionsRow.attempt,
            ConditionsRow.seq,
            ConditionsRow.phase,
            ConditionsRow.at_ms,
            ConditionsRow.values,
        ),
        keys=(ConditionsRow.job_id, ConditionsRow.attempt, ConditionsRow.seq),
        at=Job.created_at,
        joins=(
            (Job, Job.id == ConditionsRow.job_id),
            (Target, Target.id == Job.target_id),
        ),
        run=Job.run_id,
    ),
    "findings": RowSource(
        columns=(
            Finding.id,
            Finding.kind,
            Finding.role,
            Finding.alert_id,
            Finding.comparison_id,
            Finding.series_id,
            Finding.change_id,
            Finding.run_id,
            Finding.job_id,
            Finding.method,
            Finding.parameters,
            Finding.filters,
            Finding.window,
            Finding.numbers,
            Finding.created_at,
        ),
        keys=(Finding.id,),
        at=Finding.created_at,
        run=Finding.run_id,
        series=Finding.series_id,
    ),
    "points": RowSource(
        columns=(
            SeriesPoint.series_id,
            Series.suite,
            Series.benchmark,
            Series.params,
            Series.arm,
            Series.metric,
            Series.unit,
            Series.direction,
            Target.name.label("target"),
            Series.branch,
            SeriesPoint.at,
            SeriesPoint.commit,
            SeriesPoint.value,
            SeriesPoint.lower,
            SeriesPoint.upper,
            SeriesPoint.n,
            SeriesPoint.launches,
            SeriesPoint.excluded,
            SeriesPoint.run_id,
            SeriesPoint.job_id,
            SeriesPoint.artifact_hash,
            SeriesPoint.fingerprint,
            SeriesPoint.conditions,
        ),
        keys=(SeriesPoint.series_id, SeriesPoint.at, SeriesPoint.job_id),
        at=SeriesPoint.at,
        joins=(
            (Series, Series.id == SeriesPoint.series_id),
            (Target, Target.id == Series.target_id),
        ),
        run=SeriesPoint.run_id,
        series=SeriesPoint.series_id,
    ),
}


class RowFilter(NamedTuple):
    """Selects rows of a table; None selects all."""

    period: TimeRange
    run_id: str | None
    series_id: str | None


Key = Sequence[Any]


def source_rows(
    session: Session,
    source: RowSource,
    wanted: RowFilter,
    after: Key | None,
    last: Key | None,
    *,
    limit: int,
) -> list[tuple[Any, ...]]:
    """Return the next `limit` rows, each with its keys and then its columns, up to and including `last`."""
    query = _source(source, (*source.keys, *source.columns), wanted, after)
    if last is not None:
        query = query.where(tuple_(*source.keys) <= _bound(source, last))
    return [tuple(row) for row in session.execute(query.limit(limit))]


def end_of_part(
    session: Session,
    source: RowSource,
    wanted: RowFilter,
    after: Key | None,
    limit: int,
) -> Key | None:
    """Return the key of the last row of a part with `limit` rows; None if no more rows follow it."""
    query = _source(source, source.keys, wanted, after).offset(limit - 1).limit(2)
    rows = [tuple(row) for row in session.execute(query)]
    return rows[0] if len(rows) == 2 else None


def _source(
    source: RowSource,
    columns: Sequence[Any],
    wanted: RowFilter,
    after: Key | None,
) -> Select[*tuple[Any, ...]]:
    query = select(*columns).select_from(source.keys[0].class_)
    for table, condition in source.joins:
        query = query.join(table, condition)
    for table, condition in source.outer_joins:
        query = query.outerjoin(table, condition)
    query = query.where(*wanted.period.holds(source.at)).order_by(*source.keys)
    if wanted.run_id is not None:
        query = query.where(source.run == wanted.run_id)
    if wanted.series_id is not None:
        query = query.where(source.series == wanted.series_id)
    if after is not None:
        query = query.where(tuple_(*source.keys) > _bound(source, after))
    return query


def _bound(source: RowSource, key: Key) -> Any:
    """Return the key as parameters with the types of their columns, because SQLite compares instants as text."""
    return tuple_(
        *(
            bindparam(None, value, type_=column.type)
            for column, value in zip(source.keys, key, strict=True)
        )
    )
