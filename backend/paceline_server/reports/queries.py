"""Holds all SQL of reports, which only reads."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    Text,
    and_,
    cast,
    column,
    func,
    literal,
    or_,
    select,
    true,
    values,
)
from sqlalchemy.orm import Session, aliased, load_only

from paceline_server.jobs.states import FINAL
from paceline_server.reports.schemas import AuditFilters
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.audit import AuditEntry
from paceline_server.store.tables.decisions import Comparison, JobReport
from paceline_server.store.tables.fleet import REAL_TARGETS, Target
from paceline_server.store.tables.history import Change, Series
from paceline_server.store.tables.jobs import (
    BASELINE_TRIGGERS,
    IMPORTED,
    Attempt,
    Job,
    Run,
)
from paceline_server.store.tables.messages import Incident


def incidents() -> Select[Any]:
    return select(Incident)


def audit_entries(filters: AuditFilters, *, of_installation: bool) -> Select[Any]:
    """Return a query for the entries of the audit log that the session sees; `of_installation`: those of no project."""
    wanted_values = {
        AuditEntry.object_kind: filters.object_kind,
        AuditEntry.object_id: filters.object_id,
        AuditEntry.actor: filters.actor,
        AuditEntry.actor_kind: filters.actor_kind,
    }
    query = select(AuditEntry).where(
        *(
            column == value
            for column, value in wanted_values.items()
            if value is not None
        )
    )
    if filters.since is not None:
        query = query.where(AuditEntry.at >= filters.since)
    if filters.until is not None:
        query = query.where(AuditEntry.at < filters.until)
    return query.where(AuditEntry.project_id.is_(None)) if of_installation else query


def comparisons_of_run(run_id: str) -> Select[Any]:
    return select(Comparison).where(Comparison.run_id == run_id)


def job_with_target(session: Session, job_id: str) -> tuple[Job, Target] | None:
    query = (
        select(Job, Target)
        .join(Target, Target.id == Job.target_id)
        .where(Job.id == job_id)
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1])


def newest_comparisons(
    session: Session, suite: str, benchmark: str, metric: str, target_id: str | None
) -> list[Comparison]:
    """Return the newest comparison of arms per target, arm, params and demonstration; no confirmations (I13)."""
    newest = (
        func.row_number()
        .over(
            partition_by=(
                Comparison.target_id,
                Comparison.arm,
                Comparison.params_key,
                Comparison.demonstration,
            ),
            order_by=(Comparison.measured_at.desc(), Comparison.id.desc()),
        )
        .label("newest")
    )
    inner = (
        select(Comparison.id, newest)
        .join(Run, Run.id == Comparison.run_id)
        .where(
            Comparison.suite == suite,
            Comparison.benchmark == benchmark,
            Comparison.metric == metric,
            Comparison.sides == "arms",
            Run.confirms_alert_id.is_(None),
            ~Run.compares_revisions,
        )
    )
    if target_id is not None:
        inner = inner.where(Comparison.target_id == target_id)
    ranked = inner.subquery()
    query = (
        select(Comparison)
        .join(ranked, ranked.c.id == Comparison.id)
        .where(ranked.c.newest == 1)
    )
    return list(session.scalars(query))


class WatchedArm(NamedTuple):
    """A metric of an arm that a rule of its suite watches."""

    suite: str
    benchmark: str
    arm: str
    metric: str


class PointRow(NamedTuple):
    """The newest comparison of an arm with its reference at one point of the params, on one target."""

    suite: str
    benchmark: str
    arm: str
    metric: str
    target_id: str
    params: dict[str, Any]
    params_key: str
    verdict: str
    reason: str
    words: str
    witness: str | None
    ratio: float | None
    measured_at: datetime
    run_id: str
    job_id: str


POINTS_LOOKED_AT = 200
"""The newest comparison of each combination of params is looked for among this many of an arm on a target: ten nightly
jobs of twenty combinations. A combination that is not among them is no longer measured."""


def newest_points(session: Session, arms: Collection[WatchedArm]) -> list[PointRow]:
    """Return the newest comparison of each point of these arms on each target; no demonstrations and no confirmations
    (I13).

    It reads what `ix_comparison_latest` has for a benchmark on a target backwards, until `POINTS_LOOKED_AT`
    comparisons of the arm were found: however long the history is, at most arms x targets x that many, and those
    of other arms between them."""
    if not arms:
        return []
    wanted = (
        values(*(column(name, Text) for name in WatchedArm._fields), name="wanted")
        .data(list(arms))
        .cte("wanted")
    )

    def of_arm(compared: type[Comparison]) -> list[ColumnElement[bool]]:
        same = [
            getattr(compared, name) == wanted.c[name] for name in WatchedArm._fields
        ]
        return [
            *same,
            compared.target_id == Target.id,
            compared.sides == "arms",
            compared.demonstration.is_(False),
        ]

    older = aliased(Comparison)
    after = (
        select(older.measured_at)
        .where(*of_arm(older))
        .order_by(older.measured_at.desc())
        .offset(POINTS_LOOKED_AT)
        .limit(1)
        .correlate(wanted, Target)
        .scalar_subquery()
    )
    newest = func.row_number().over(
        partition_by=(
            Comparison.target_id,
            *(wanted.c[name] for name in WatchedArm._fields),
            Comparison.params_key,
        ),
        order_by=(Comparison.measured_at.desc(), Comparison.id.desc()),
    )
    ranked = (
        select(Comparison.id, newest.label("newest"))
        .select_from(wanted)
        .join(Target, true())
        .join(Comparison, and_(*of_arm(Comparison)))
        .join(Run, Run.id == Comparison.run_id)
        .where(
            Comparison.measured_at > func.coalesce(after, _LONG_AGO),
            Run.confirms_alert_id.is_(None),
            ~Run.compares_revisions,
        )
        .subquery()
    )
    of_evidence = ("words", "witness")
    read = [
        Comparison.evidence[name].as_string().label(name)
        if name in of_evidence
        else getattr(Comparison, name)
        for name in PointRow._fields
    ]
    query = (
        select(*read)
        .join(ranked, ranked.c.id == Comparison.id)
        .where(ranked.c.newest == 1)
    )
    return [PointRow(**row._mapping) for row in session.execute(query)]


class ChangeSinceRow(NamedTuple):
    """A change with its series and target."""

    change: Change
    series: Series
    target: Target


def changes_found_since(
    session: Session, since: datetime, limit: int
) -> list[ChangeSinceRow]:
    """Return changes that were found since then and did not vanish, the newest first."""
    query = (
        select(Change, Series, Target)
        .join(Series, Series.id == Change.series_id)
        .join(Target, Target.id == Series.target_id)
        .where(Change.found_at >= since, Change.state != "vanished")
        .order_by(Change.found_at.desc(), Change.id.desc())
        .limit(limit)
    )
    return [ChangeSinceRow(*row) for row in session.execute(query)]


class FlippedRow(NamedTuple):
    """The newest decided comparison of an arm at one point, and the other verdict before it."""

    comparison: Comparison
    branch: str | None
    before: str
    target: Target


DECIDED = ("pass", "fail")
RUNS_LOOKED_AT = 500
"""How many of a period's newest runs are searched for flipped verdicts: a few weeks of a busy project."""
BEFORE_DAYS = 90
"""The previous verdict is searched in this many days before a period; nobody remembers an older one."""


def flipped_since(session: Session, since: datetime, limit: int) -> list[FlippedRow]:
    """Return the arms whose newest decided verdict since then differs from the last one before, on the same target
    and branch, the newest first; no demonstrations and no confirmations (I13).

    The LIMIT makes the database read the period's runs first. It then finds their comparisons by run, and each earlier
    verdict by reading `ix_comparison_latest` backwards, however long the history is."""
    recent = (
        select(Run.id, func.coalesce(Run.branch, "").label("branch"))
        .where(Run.created_at >= since, *_FOR_HISTORY)
        .order_by(Run.created_at.desc())
        .limit(RUNS_LOOKED_AT)
        .cte("recent")
    )

    def decided(compared: type[Comparison]) -> list[ColumnElement[bool]]:
        return [
            compared.sides == "arms",
            compared.demonstration.is_(False),
            compared.verdict.in_(DECIDED),
        ]

    same = ("suite", "benchmark", "target_id", "arm", "metric", "params_key")
    rank = func.row_number().over(
        partition_by=(*(getattr(Comparison, name) for name in same), recent.c.branch),
        order_by=(Comparison.measured_at.desc(), Comparison.id.desc()),
    )
    newest = (
        select(Comparison.id, rank.label("rank"))
        .select_from(recent)
        .join(Comparison, Comparison.run_id == recent.c.id)
        .where(*decided(Comparison))
        .subquery()
    )
    older, older_run = aliased(Comparison), aliased(Run)
    before = (
        select(older.verdict)
        .join(older_run, older_run.id == older.run_id)
        .where(
            *(getattr(older, name) == getattr(Comparison, name) for name in same),
            *decided(older),
            older.measured_at < Comparison.measured_at,
            older.measured_at >= since - timedelta(days=BEFORE_DAYS),
            older_run.created_at < since,
            older_run.trigger.in_(BASELINE_TRIGGERS),
            older_run.base_commit.is_(None),
            older_run.base_branch.is_(None),
            func.coalesce(older_run.branch, "") == func.coalesce(Run.branch, ""),
        )
        .order_by(older.measured_at.desc(), older.id.desc())
        .limit(1)
        .correlate(Comparison, Run)
        .scalar_subquery()
    )
    query = (
        select(Comparison, Run.branch, before, Target)
        .join(newest, newest.c.id == Comparison.id)
        .join(Run, Run.id == Comparison.run_id)
        .join(Target, Target.id == Comparison.target_id)
        .where(newest.c.rank == 1, before != Comparison.verdict)
        .order_by(Comparison.measured_at.desc(), Comparison.id.desc())
        .limit(limit)
    )
    return [FlippedRow(*row) for row in session.execute(query)]


_LONG_AGO = literal(datetime(1, 1, 1, tzinfo=UTC), Comparison.measured_at.type)


def count_waiting(session: Session) -> tuple[int, int, int]:
    """Count the open alerts, queued runs and quarantined targets. Alerts in shadow and simulated targets do not
    count."""
    alerts = (
        select(func.count())
        .select_from(Alert)
        .where(
            Alert.state == "open",
            Alert.shadow.is_(False),
            or_(Alert.target_id.is_(None), Alert.target_id.in_(REAL_TARGETS)),
        )
    )
    runs = select(func.count()).select_from(Run).where(Run.state == "queued")
    targets = (
        select(func.count())
        .select_from(Target)
        .where(Target.health == "quarantined", Target.simulated.is_(False))
    )
    return (
        session.scalars(alerts).one(),
        session.scalars(runs).one(),
        session.scalars(targets).one(),
    )


def all_targets(session: Session) -> list[Target]:
    """Return every target: real ones first, then by name."""
    query = select(Target).order_by(Target.simulated, Target.name, Target.id)
    return list(session.scalars(query))


def manifest_of_job(session: Session, job_id: str) -> dict[str, Any]:
    """Return the manifest of a job's run."""
    run = session.scalars(
        select(Run).join(Job, Job.run_id == Run.id).where(Job.id == job_id)
    ).one()
    return run.manifest


def targets(session: Session, target_ids: Collection[str]) -> list[Target]:
    """Return these targets, by name."""
    query = (
        select(Target)
        .where(Target.id.in_(set(target_ids)))
        .order_by(Target.name, Target.id)
    )
    return list(session.scalars(query))


def newest_judged(session: Session, suite: str, branch: str) -> list[Comparison]:
    """Return the comparisons of arms from the newest job of each benchmark and target, without demonstrations."""
    newest = (
        func.dense_rank()
        .over(
            partition_by=(Comparison.benchmark, Comparison.target_id),
            order_by=(Comparison.measured_at.desc(), Comparison.job_id.desc()),
        )
        .label("newest")
    )
    ranked = (
        select(Comparison.id, newest)
        .join(Run, Run.id == Comparison.run_id)
        .where(
            Comparison.suite == suite,
            Comparison.sides == "arms",
            Comparison.demonstration.is_(False),
            Run.confirms_alert_id.is_(None),
            ~Run.compares_revisions,
            func.coalesce(Run.branch, "") == branch,
        )
        .subquery()
    )
    query = (
        select(Comparison)
        .join(ranked, ranked.c.id == Comparison.id)
        .where(ranked.c.newest == 1)
    ).order_by(Comparison.id)
    return list(session.scalars(query))


class EndedJobRow(NamedTuple):
    """An ended job, and the benchmarks it should have measured."""

    job: Job
    target: Target
    benchmarks: list[str]


def newest_ended_jobs(
    session: Session, suite: str, branch: str, limit: int
) -> list[EndedJobRow]:
    """Return ended jobs of a branch whose runs measure for history; those of the newest runs first."""
    query = (
        select(Job, Target, Run.benchmarks)
        .join(Run, Run.id == Job.run_id)
        .join(Target, Target.id == Job.target_id)
        .where(
            Run.suite == suite,
            *_FOR_HISTORY,
            func.coalesce(Run.branch, "") == branch,
            Job.state.in_(FINAL),
        )
        .order_by(Run.created_at.desc(), Job.id.desc())
        .limit(limit)
    )
    return [EndedJobRow(*row) for row in session.execute(query)]


def branch_run_last(session: Session, suite: str) -> str | None:
    """Return the branch of the newest run that measures for history."""
    query = (
        select(Run.branch)
        .where(Run.suite == suite, *_FOR_HISTORY)
        .order_by(Run.created_at.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


class PastJobRow(NamedTuple):
    """The first batch of a judged job, and its request."""

    target_id: str
    launches: int
    leased_at: datetime
    finished_at: datetime
    benchmarks: list[str]
    params: dict[str, Any]
    rounds: int
    min_time_ns: int
    two_revisions: bool
    stop_when_sure: bool


def past_jobs(
    session: Session, suite: str, target_ids: Collection[str], limit: int
) -> list[PastJobRow]:
    """Return how long the newest judged jobs of a suite took on these targets, the newest first; no imports, no
    demonstrations, and no job that left out what is not affected."""
    query = (
        select(
            Job.target_id,
            Job.launches,
            Attempt.leased_at,
            Attempt.finished_at,
            Run.benchmarks,
            Run.params,
            Run.rounds,
            Run.min_time_ns,
            Run.compares_revisions,
            Run.stop_when_sure,
        )
        .join(Run, Run.id == Job.run_id)
        .join(
            Attempt,
            and_(
                Attempt.job_id == Job.id, Attempt.batch == 0, Attempt.outcome == "done"
            ),
        )
        .where(
            Run.suite == suite,
            Run.trigger != IMPORTED,
            Run.demonstration.is_(False),
            Job.target_id.in_(list(target_ids)),
            Job.state == "done",
            Job.unaffected.is_(None),
            Attempt.finished_at.is_not(None),
        )
        .order_by(Run.created_at.desc(), Job.id.desc())
        .limit(limit)
    )
    return [PastJobRow(*row) for row in session.execute(query)]


_FOR_HISTORY = (
    Run.trigger.in_(BASELINE_TRIGGERS),
    ~Run.compares_revisions,
    Run.demonstration.is_(False),
)
"""Runs whose measurements belong to history."""
_IMPORTED = (Run.trigger == IMPORTED, Run.superseded_by.is_(None))
"""Imported runs that no corrected file replaced."""


def find_run(session: Session, run_id: str) -> Run | None:
    return session.get(Run, run_id)


def runs_of_revision(session: Session, suite: str | None, commit: str) -> list[Run]:
    """Return runs of an abbreviated commit that measure for history, newest first; where there are none, what other tools
    measured of it."""
    query = (
        select(Run)
        .where(Run.commit.startswith(commit, autoescape=True))
        .order_by(Run.created_at.desc(), Run.id.desc())
    )
    if suite is not None:
        query = query.where(Run.suite == suite)
    measured_here = list(session.scalars(query.where(*_FOR_HISTORY)))
    return measured_here or list(session.scalars(query.where(*_IMPORTED)))


class ReportedJobRow(NamedTuple):
    """A concluded job with its newest report as JSON text, which callers parse in part."""

    job: Job
    target: Target
    report: str


def _newest_batches(of: ColumnElement[bool]) -> Subquery:
    """Select (job_id, batch) of the newest report of each job that matches `of`."""
    return (
        select(JobReport.job_id, func.max(JobReport.batch).label("batch"))
        .join(Job, Job.id == JobReport.job_id)
        .where(of)
        .group_by(JobReport.job_id)
        .subquery()
    )


def reports_of_runs(session: Session, run_ids: Collection[str]) -> list[ReportedJobRow]:
    """Return the newest report of every analysed job of these runs, oldest job first."""
    newest = _newest_batches(Job.run_id.in_(list(run_ids)))
    query = (
        select(Job, Target, cast(JobReport.report, Text))
        .join(Target, Target.id == Job.target_id)
        .join(newest, newest.c.job_id == Job.id)
        .join(
            JobReport,
            and_(JobReport.job_id == Job.id, JobReport.batch == newest.c.batch),
        )
        .where(Job.run_id.in_(list(run_ids)))
        .order_by(Job.created_at, Job.id)
    )
    return [ReportedJobRow(*row) for row in session.execute(query)]


def jobs_of_run(session: Session, run_id: str) -> list[tuple[Job, Target]]:
    """Return a run's jobs with their targets, by target name."""
    query = (
        select(Job, Target)
        .join(Target, Target.id == Job.target_id)
        .where(Job.run_id == run_id)
        .order_by(Target.name, Job.id)
    )
    return [(job, target) for job, target in session.execute(query)]


_JUDGED = (
    Comparison.target_id,
    Comparison.benchmark,
    Comparison.arm,
    Comparison.params_key,
    Comparison.metric,
    Comparison.ratio,
    Comparison.lower,
    Comparison.upper,
    Comparison.verdict,
    Comparison.job_id,
)
"""The columns a comparison of two sides reads."""


def revisions_judged(
    session: Session, suite: str, base: str, head: str
) -> list[Comparison]:
    """Return the comparisons of A/B jobs of this pair of revisions, undecided ones first, then the oldest first. Their
    evidence, which is long, is not loaded."""
    query = (
        select(Comparison)
        .options(load_only(*_JUDGED, raiseload=True))
        .join(Run, Run.id == Comparison.run_id)
        .where(
            Comparison.suite == suite,
            Comparison.sides == "revisions",
            Run.base_commit == base,
            Run.commit == head,
        )
        .order_by(
            Comparison.verdict.in_(("pass", "fail")),
            Comparison.measured_at,
            Comparison.id,
        )
    )
    return list(session.scalars(query))


class JobConditionsRow(NamedTuple):
    """The conditions in a job's newest report; null in reports that predate them."""

    job_id: str
    run_id: str
    suite: str
    at: datetime
    verdict: Any
    conditions: dict[str, Any] | None
    suppressed: list[str] | None


def conditions_of_jobs(
    session: Session, target_id: str, since: datetime, until: datetime, limit: int
) -> list[JobConditionsRow]:
    """Return the conditions of the newest analysed jobs of a target that began in [since, until], the oldest first.
    Only this summary is selected: a whole report is a thousand times as long."""
    at = func.coalesce(Job.started_at, Job.created_at, type_=Job.created_at.type)
    newest = _newest_batches(Job.target_id == target_id)
    query = (
        select(
            Job.id,
            Job.run_id,
            Run.suite,
            at,
            Job.verdict,
            JobReport.report["conditions"],
            JobReport.report["suppressed"],
        )
        .join(Run, Run.id == Job.run_id)
        .join(newest, newest.c.job_id == Job.id)
        .join(
            JobReport,
            and_(JobReport.job_id == Job.id, JobReport.batch == newest.c.batch),
        )
        .where(Job.target_id == target_id, at >= since, at <= until)
        .order_by(at.desc(), Job.id.desc())
        .limit(limit)
    )
    return [JobConditionsRow(*row) for row in reversed(session.execute(query).all())]
