"""All SQL of alerts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, not_, or_, select
from sqlalchemy.orm import Session

from paceline_server.alerts.registry import AlertKindName
from paceline_server.alerts.schemas import AlertState, CauseName
from paceline_server.alerts.states import LIVE
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.alerts import Alert, AlertEvent
from paceline_server.store.tables.bisections import Bisection
from paceline_server.store.tables.decisions import Comparison, Finding
from paceline_server.store.tables.fleet import REAL_TARGETS, Target
from paceline_server.store.tables.history import Change, Series, SeriesPoint
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.store.tables.projects import Project
from paceline_server.store.tables.triage import TriageBatch

LOOKED_BACK = 20
"""Jobs among which one with the same request is looked for."""


def job_with_run(session: Session, job_id: str) -> tuple[Job, Run] | None:
    row = session.execute(
        select(Job, Run).join(Run, Run.id == Job.run_id).where(Job.id == job_id)
    ).one_or_none()
    return None if row is None else (row[0], row[1])


def stored_kinds(session: Session) -> list[str]:
    """Return the kinds of all stored alerts, by name."""
    return list(session.scalars(select(Alert.kind).distinct().order_by(Alert.kind)))


def alert(session: Session, alert_id: str) -> Alert | None:
    return session.get(Alert, alert_id)


def lock_alert(session: Session, alert_id: str) -> Alert | None:
    """Lock until the transaction ends and return an alert as others committed it."""
    query = select(Alert).where(Alert.id == alert_id).with_for_update()
    return session.scalars(
        query.execution_options(populate_existing=True)
    ).one_or_none()


def lock_living_alert(session: Session, cause_key: str) -> Alert | None:
    """Lock and return the living alert of a cause."""
    query = (
        select(Alert)
        .where(Alert.cause_key == cause_key, Alert.state.in_(LIVE))
        .with_for_update()
    )
    return session.scalars(query).one_or_none()


def has_finding(session: Session, alert_id: str, job_id: str) -> bool:
    """Return whether an alert has a finding of this job."""
    query = select(func.count()).where(
        Finding.alert_id == alert_id, Finding.job_id == job_id
    )
    return bool(session.scalar(query))


def newest_numbers(session: Session, alert_id: str) -> dict[str, Any]:
    """Return the numbers of an alert's newest finding that has any."""
    return next(iter(all_numbers(session, alert_id)), {})


def all_numbers(session: Session, alert_id: str) -> list[dict[str, Any]]:
    """Return the numbers of an alert's findings that have any, the newest first."""
    query = (
        select(Finding.numbers)
        .where(Finding.alert_id == alert_id)
        .order_by(Finding.created_at.desc(), Finding.id.desc())
    )
    return [dict(numbers) for numbers in session.scalars(query) if numbers]


def newest_of_cause(session: Session, cause_key: str) -> Alert | None:
    query = (
        select(Alert)
        .where(Alert.cause_key == cause_key)
        .order_by(Alert.id.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def lock_alerts(session: Session, alert_ids: Iterable[str]) -> dict[str, Alert]:
    """Lock in id order and return the existing alerts among these ids."""
    query = (
        select(Alert)
        .where(Alert.id.in_(list(alert_ids)))
        .order_by(Alert.id)
        .with_for_update()
    )
    return {alert.id: alert for alert in session.scalars(query)}


def newest_events(
    session: Session, alert_ids: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Return the newest event and the number of events of each alert; comparing them later shows any change."""
    query = (
        select(AlertEvent.alert_id, func.max(AlertEvent.id), func.count())
        .where(AlertEvent.alert_id.in_(list(alert_ids)))
        .group_by(AlertEvent.alert_id)
    )
    rows = session.execute(query)
    return {row[0]: {"after_event_id": row[1], "events": row[2]} for row in rows}


def lock_batch(session: Session, batch_id: str) -> TriageBatch | None:
    query = select(TriageBatch).where(TriageBatch.id == batch_id).with_for_update()
    return session.scalars(query).one_or_none()


def batches() -> Select[Any]:
    return select(TriageBatch)


def known_comparisons(session: Session, comparison_ids: Iterable[str]) -> set[str]:
    """Return which of these comparisons are evidence of an alert."""
    query = select(Finding.comparison_id).where(
        Finding.comparison_id.in_(list(comparison_ids))
    )
    return set(session.scalars(query))


def evidence_keys(
    session: Session, alert_id: str, role: str, run_id: str | None = None
) -> list[Comparison]:
    """Return comparisons that are evidence of an alert in a role (of one run, if given), oldest first."""
    query = (
        select(Comparison)
        .join(Finding, Finding.comparison_id == Comparison.id)
        .where(Finding.alert_id == alert_id, Finding.role == role)
        .order_by(Finding.id)
    )
    if run_id is not None:
        query = query.where(Finding.run_id == run_id)
    return list(session.scalars(query))


@dataclass(frozen=True)
class FindingEvidence:
    """A finding with what it was made from: a comparison, a series, or neither (policy advice)."""

    finding: Finding
    comparison: Comparison | None
    series: Series | None


_EVIDENCE = (
    select(Finding, Comparison, Series)
    .outerjoin(Comparison, Comparison.id == Finding.comparison_id)
    .outerjoin(Series, Series.id == Finding.series_id)
)


def evidence_of(session: Session, alert_id: str) -> list[FindingEvidence]:
    """Return the findings of an alert, the oldest first."""
    query = _EVIDENCE.where(Finding.alert_id == alert_id).order_by(
        Finding.created_at, Finding.id
    )
    return [FindingEvidence(*row) for row in session.execute(query)]


def finding(session: Session, finding_id: str) -> FindingEvidence | None:
    """Return a finding with what it was made from."""
    row = session.execute(_EVIDENCE.where(Finding.id == finding_id)).one_or_none()
    return None if row is None else FindingEvidence(*row)


def run_is_alive(session: Session, run_id: str) -> bool:
    query = select(func.count()).where(
        Run.id == run_id, Run.state.in_(("queued", "active"))
    )
    return bool(session.scalar(query))


def run_is_taken(session: Session, run_id: str) -> bool:
    """Return whether an agent has leased a job of this run, or the job has ended."""
    query = select(func.count()).where(Job.run_id == run_id, Job.state != "queued")
    return bool(session.scalar(query))


@dataclass(frozen=True)
class AlertFilters:
    """Filters of the list of alerts; None does not filter. Alerts raised in shadow are listed separately."""

    state: AlertState | None = None
    suite: str | None = None
    target: str | None = None
    kind: AlertKindName | None = None
    cause: CauseName | None = None
    rule: str | None = None
    text: str | None = None
    overdue: bool | None = None
    shadow: bool = False
    assignee_id: str | None = None
    unassigned: bool = False
    since: datetime | None = None
    until: datetime | None = None
    """First seen from `since` on, before `until`."""


def alerts(filters: AlertFilters, at: datetime) -> Select[Any]:
    """Return alerts that match; `at` is now."""
    wanted = {
        Alert.state: filters.state,
        Alert.suite: filters.suite,
        Alert.target_id: filters.target,
        Alert.kind: filters.kind,
        Alert.cause: filters.cause,
        Alert.rule_id: filters.rule,
        Alert.assignee_id: filters.assignee_id,
    }
    query: Select[Any] = select(Alert).where(Alert.shadow.is_(filters.shadow))
    query = query.where(
        *(column == value for column, value in wanted.items() if value is not None)
    )
    if filters.since is not None:
        query = query.where(Alert.created_at >= filters.since)
    if filters.until is not None:
        query = query.where(Alert.created_at < filters.until)
    if filters.unassigned:
        query = query.where(Alert.assignee_id.is_(None))
    if filters.overdue is not None:
        overdue = and_(
            Alert.due_at.is_not(None), Alert.due_at < at, Alert.state.in_(LIVE)
        )
        query = query.where(overdue if filters.overdue else not_(overdue))
    if filters.text is not None:
        searched = (
            Alert.title,
            Alert.words,
            Alert.benchmark,
            Alert.suite,
            Alert.base_commit,
            Alert.head_commit,
        )
        query = query.where(
            or_(
                *(
                    column.icontains(filters.text, autoescape=True)
                    for column in searched
                )
            )
        )
    return query


def target_and_assignee_names(
    session: Session, rows: Sequence[Alert]
) -> tuple[dict[str, str], dict[str, Account]]:
    """Return (target names, assignees) of alerts, by id."""
    targets = select(Target).where(Target.id.in_({row.target_id for row in rows}))
    names = {target.id: target.name for target in session.scalars(targets)}
    return names, accounts(session, (row.assignee_id for row in rows))


def events(session: Session, alert_id: str) -> list[AlertEvent]:
    query = (
        select(AlertEvent)
        .where(AlertEvent.alert_id == alert_id)
        .order_by(AlertEvent.at, AlertEvent.id)
    )
    return list(session.scalars(query))


def last_event(
    session: Session, alert_id: str, actions: Sequence[str]
) -> AlertEvent | None:
    """Return the newest event of an alert among these actions."""
    query = (
        select(AlertEvent)
        .where(AlertEvent.alert_id == alert_id, AlertEvent.action.in_(list(actions)))
        .order_by(AlertEvent.at.desc(), AlertEvent.id.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def titles(session: Session, alert_ids: Iterable[str]) -> dict[str, str]:
    """Return the titles of alerts by id."""
    query = select(Alert.id, Alert.title).where(Alert.id.in_(set(alert_ids)))
    return {row.id: row.title for row in session.execute(query)}


def account(session: Session, account_id: str) -> Account | None:
    return session.get(Account, account_id)


def accounts(session: Session, account_ids: Iterable[str | None]) -> dict[str, Account]:
    """Return accounts by id."""
    wanted = {account_id for account_id in account_ids if account_id is not None}
    if not wanted:
        return {}
    query = select(Account).where(Account.id.in_(wanted))
    return {account.id: account for account in session.scalars(query)}


def target_name(session: Session, target_id: str) -> str:
    """Return a target's name, which rules match by."""
    return session.get_one(Target, target_id).name


def spoken_name(session: Session, target_id: str) -> str:
    """Return a target's name as sentences spell it."""
    return session.get_one(Target, target_id).spoken_name


def branch_of_run(session: Session, run_id: str) -> str | None:
    """Return the branch that a run measured."""
    return session.get_one(Run, run_id).branch


def default_branch(session: Session, project_id: str) -> str:
    """Return the branch that a project's history is about."""
    return session.get_one(Project, project_id).default_branch


def job_before(
    session: Session, job: Job, run: Run, triggers: Sequence[str]
) -> str | None:
    """Return the id of the newest done job before this one that was asked for the same: suite, branch, target,
    benchmarks and params, without knobs and a base."""
    query = (
        select(Job.id, Run.benchmarks, Run.params, Run.knobs)
        .join(Run, Run.id == Job.run_id)
        .where(
            Run.suite == run.suite,
            Run.branch == run.branch,
            Run.trigger.in_(list(triggers)),
            not_(Run.compares_revisions),
            Run.demonstration.is_(False),
            Job.target_id == job.target_id,
            Job.state == "done",
            Job.id < job.id,
        )
        .order_by(Job.id.desc())
        .limit(LOOKED_BACK)
    )
    return next(
        (
            row.id
            for row in session.execute(query)
            if (row.benchmarks, row.params) == (run.benchmarks, run.params)
            and not row.knobs
        ),
        None,
    )


def counts_by_state(session: Session) -> dict[str, int]:
    """Return the number of alerts in each state that has any; without alerts in shadow and of simulated targets."""
    query = select(Alert.state, func.count()).where(
        Alert.shadow.is_(False), Alert.target_id.in_(REAL_TARGETS)
    )
    rows = session.execute(query.group_by(Alert.state))
    return {row.state: row[1] for row in rows}


def opened_since(session: Session, since: datetime) -> dict[str, int]:
    """Return the present states of alerts that opened since then, with counts; without alerts in shadow, of
    demonstrations and of simulated targets."""
    opened = select(AlertEvent.alert_id).where(
        AlertEvent.to_state == "open", AlertEvent.at >= since
    )
    query = (
        select(Alert.state, func.count())
        .where(
            Alert.id.in_(opened),
            Alert.shadow.is_(False),
            Alert.demonstration.is_(False),
            Alert.target_id.in_(REAL_TARGETS),
        )
        .group_by(Alert.state)
    )
    return {row.state: row[1] for row in session.execute(query)}


def points_span(
    session: Session, series_id: str, job_ids: Sequence[str]
) -> tuple[datetime | None, datetime | None]:
    """Return when the first and the last of these points were measured."""
    query = select(func.min(SeriesPoint.at), func.max(SeriesPoint.at)).where(
        SeriesPoint.series_id == series_id, SeriesPoint.job_id.in_(list(job_ids))
    )
    first, last = session.execute(query).one()
    return first, last


def lock_bisection(session: Session, bisection_id: str) -> Bisection | None:
    """Lock until the transaction ends and return a bisection as others committed it."""
    query = select(Bisection).where(Bisection.id == bisection_id).with_for_update()
    return session.scalars(
        query.execution_options(populate_existing=True)
    ).one_or_none()


def bisections_of_alert(session: Session, alert_id: str) -> list[Bisection]:
    """Return the bisections of an alert, the newest first."""
    query = (
        select(Bisection)
        .where(Bisection.alert_id == alert_id)
        .order_by(Bisection.id.desc())
    )
    return list(session.scalars(query))


def proving_comparisons(
    session: Session, alert_id: str
) -> list[tuple[Comparison, Job, Run]]:
    """Return the A/B comparisons that are confirmations of an alert with their jobs, the newest first."""
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
    """Return the changes of an alert with their series, the oldest first."""
    query = (
        select(Change, Series)
        .join(Series, Series.id == Change.series_id)
        .where(Change.alert_id == alert_id)
        .order_by(Change.found_at, Change.id)
    )
    return [(change, series) for change, series in session.execute(query)]
