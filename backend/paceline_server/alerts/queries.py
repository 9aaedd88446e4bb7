"""Holds all SQL of alerts, their events and their rules; that of changes is in `changes/queries.py`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, not_, or_, select
from sqlalchemy.orm import Session

from paceline_server.alerts.registry import AlertKindName
from paceline_server.alerts.schemas import AlertState, CauseName
from paceline_server.alerts.states import LIVE
from paceline_server.series.retired import SEPARATOR
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.alerts import Alert, AlertEvent
from paceline_server.store.tables.bisections import Bisection
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.decisions import Comparison, Finding
from paceline_server.store.tables.fleet import (
    IMPORTS_AGENT,
    REAL_TARGETS,
    Agent,
    Target,
)
from paceline_server.store.tables.history import (
    Change,
    Series,
    SeriesPoint,
)
from paceline_server.store.tables.jobs import IMPORTED, RECORDED, Job, Run
from paceline_server.store.tables.projects import Project
from paceline_server.store.tables.retired_benchmarks import RetiredBenchmark
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute
from paceline_server.store.tables.triage import TriageBatch

UNSEEN_TARGET = "a target that is no longer granted"
LOOKED_BACK = 20
"""A job with the same request is looked for among this many."""

_OF_REAL_TARGETS = or_(Alert.target_id.is_(None), Alert.target_id.in_(REAL_TARGETS))
"""Alerts that count: those of no target, too."""


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
    """Return an alert as others committed it, locked until the transaction ends."""
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


def living_of_kind(session: Session, kind: str) -> list[Alert]:
    """Return the living alerts of a kind, the oldest first."""
    query = select(Alert).where(Alert.kind == kind, Alert.state.in_(LIVE))
    return list(session.scalars(query.order_by(Alert.id)))


def projects_with_living(session: Session, kinds: Iterable[str]) -> set[str]:
    """Return the projects with a living alert of these kinds."""
    query = select(Alert.project_id).where(
        Alert.kind.in_(list(kinds)), Alert.state.in_(LIVE)
    )
    return set(session.scalars(query))


def known_episodes(session: Session, cause_keys: Iterable[str]) -> dict[str, set[str]]:
    """Return the episodes that alerts know and did not see end since, by cause. A person who closes an alert ends no
    episode; maintenance does, so what stands again after it is new."""
    query = (
        select(Alert.cause_key, Finding.role, Finding.numbers)
        .join(Finding, Finding.alert_id == Alert.id)
        .where(
            Alert.cause_key.in_(list(cause_keys)),
            Finding.role.in_(("candidate", "recovery")),
        )
        .order_by(Finding.created_at, Finding.id)
    )
    episodes: dict[str, set[str]] = defaultdict(set)
    for cause_key, role, numbers in session.execute(query):
        if role == "recovery":
            episodes[cause_key].clear()
        else:
            episodes[cause_key].add((numbers or {}).get("episode", ""))
    return episodes


def newest_episodes(session: Session, kind: str) -> dict[str, str]:
    """Return the newest episode of each living alert of a kind, by the alert's id."""
    query = (
        select(Alert.id, Finding.numbers)
        .join(Finding, Finding.alert_id == Alert.id)
        .where(Alert.kind == kind, Alert.state.in_(LIVE), Finding.role == "candidate")
        .order_by(Finding.created_at, Finding.id)
    )
    return {
        alert_id: (numbers or {}).get("episode", "")
        for alert_id, numbers in session.execute(query)
    }


def projects_with_active_rules(session: Session, kind: str) -> set[str]:
    """Return the projects with a rule of a kind that raises alerts, if only in shadow."""
    query = (
        select(AlertRule.project_id)
        .join(AlertRuleVersion, _NEWEST)
        .where(
            AlertRule.deleted_at.is_(None),
            AlertRuleVersion.kind == kind,
            AlertRuleVersion.mode != "off",
        )
    )
    return set(session.scalars(query))


@dataclass(frozen=True)
class ImportedRow:
    """The newest imported run of a suite, with the target that its results are of."""

    run: Run
    target_id: str


def newest_imports(session: Session, suite: str | None = None) -> list[ImportedRow]:
    """Return the newest imported run of each suite, or of one, by suite."""
    newest = (
        select(func.max(Run.id))
        .where(Run.trigger == IMPORTED)
        .group_by(Run.project_id, Run.suite)
    )
    if suite is not None:
        newest = newest.where(Run.suite == suite)
    query = (
        select(Run, Job.target_id)
        .join(Job, Job.run_id == Run.id)
        .where(Run.id.in_(newest))
        .order_by(Run.suite)
    )
    return [ImportedRow(*row) for row in session.execute(query)]


def who_measured_elsewhere(session: Session, run_id: str) -> str | None:
    """Return who measured a run where no agent can measure it again; None if an agent did."""
    trigger = session.scalar(select(Run.trigger).where(Run.id == run_id))
    return _ELSEWHERE.get(trigger or "")


_ELSEWHERE = {
    IMPORTED: "another tool",
    RECORDED: "a person, without an agent,",
}


def agent_name(session: Session, agent_id: str) -> str:
    """Return an agent's name, which rules about silence match by."""
    return session.get_one(Agent, agent_id).name


def lock_project(session: Session, project_id: str) -> None:
    """Lock a project until the transaction ends; rows that refer to it may still be inserted."""
    query = select(Project).where(Project.id == project_id)
    session.scalars(query.with_for_update(key_share=True)).one()


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
    """Only alerts first seen from `since` on and before `until`."""


def alerts(filters: AlertFilters, at: datetime) -> Select[Any]:
    """Return a query for alerts that match; `at` is now."""
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


def spoken_name(session: Session, target_id: str | None) -> str:
    """Return a target's name as sentences spell it; empty for None."""
    if target_id is None:
        return ""
    target = session.get(Target, target_id)
    return UNSEEN_TARGET if target is None else target.spoken_name


def branch_of_run(session: Session, run_id: str | None) -> str | None:
    """Return the branch that a run measured; None for None."""
    return None if run_id is None else session.get_one(Run, run_id).branch


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
        Alert.shadow.is_(False), _OF_REAL_TARGETS
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
            _OF_REAL_TARGETS,
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
    """Return a bisection as others committed it, locked until the transaction ends."""
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


_NEWEST = (AlertRuleVersion.rule_id == AlertRule.id) & (
    AlertRuleVersion.version == AlertRule.version
)


def newest_versions(
    session: Session, kind: str | None = None
) -> list[tuple[AlertRule, AlertRuleVersion]]:
    """Return every rule that is not deleted with its present version, by name."""
    query = (
        select(AlertRule, AlertRuleVersion)
        .join(AlertRuleVersion, _NEWEST)
        .where(AlertRule.deleted_at.is_(None))
        .order_by(AlertRule.name)
    )
    if kind is not None:
        query = query.where(AlertRuleVersion.kind == kind)
    return [(rule, version) for rule, version in session.execute(query)]


def rules(kind: str | None, mode: str | None) -> Select[Any]:
    """Return a query for rules that are not deleted."""
    query: Select[Any] = (
        select(AlertRule)
        .join(AlertRuleVersion, _NEWEST)
        .where(AlertRule.deleted_at.is_(None))
    )
    if kind is not None:
        query = query.where(AlertRuleVersion.kind == kind)
    return query if mode is None else query.where(AlertRuleVersion.mode == mode)


def present_versions(
    session: Session, rules: Sequence[AlertRule]
) -> dict[str, AlertRuleVersion]:
    """Return the present versions of rules, by rule id."""
    query = (
        select(AlertRuleVersion)
        .join(AlertRule, _NEWEST)
        .where(AlertRule.id.in_([rule.id for rule in rules]))
    )
    return {version.rule_id: version for version in session.scalars(query)}


def versions_of_rule(rule_id: str) -> Select[Any]:
    return select(AlertRuleVersion).where(AlertRuleVersion.rule_id == rule_id)


def rule(session: Session, rule_id: str, *, lock: bool = False) -> AlertRule | None:
    """Return a rule that is not deleted; `lock` holds it until the transaction ends."""
    query = select(AlertRule).where(
        AlertRule.id == rule_id, AlertRule.deleted_at.is_(None)
    )
    query = query.with_for_update() if lock else query
    return session.scalars(query).one_or_none()


def lock_rule_named(session: Session, name: str) -> AlertRule | None:
    """Lock and return the rule with this name, deleted or not."""
    return session.scalars(
        select(AlertRule).where(AlertRule.name == name).with_for_update()
    ).one_or_none()


def mutes_in_force(session: Session, at: datetime) -> dict[str, RuleMute]:
    """Return the mute that ends last of each rule that is muted at `at`."""
    query = (
        select(RuleMute)
        .where(RuleMute.ended_at.is_(None), RuleMute.until > at)
        .order_by(RuleMute.until, RuleMute.id)
    )
    return {mute.rule_id: mute for mute in session.scalars(query)}


def mutes_of_rule(session: Session, rule_id: str) -> list[RuleMute]:
    """Return every mute of a rule, the newest first."""
    query = (
        select(RuleMute).where(RuleMute.rule_id == rule_id).order_by(RuleMute.id.desc())
    )
    return list(session.scalars(query))


def silenced_alerts(
    session: Session, rule_id: str, silenced: str, notified: str
) -> list[str]:
    """Return alerts of a rule whose newest notification event is that the rule was muted."""
    newest = (
        select(AlertEvent.alert_id, func.max(AlertEvent.id).label("event_id"))
        .where(AlertEvent.action.in_((silenced, notified)))
        .group_by(AlertEvent.alert_id)
        .subquery()
    )
    query = (
        select(Alert.id)
        .join(newest, newest.c.alert_id == Alert.id)
        .join(AlertEvent, AlertEvent.id == newest.c.event_id)
        .where(Alert.rule_id == rule_id, AlertEvent.action == silenced)
        .order_by(Alert.id)
    )
    return list(session.scalars(query))


def lock_shadows(session: Session, rule_id: str) -> list[Alert]:
    """Return living alerts that a rule raised in shadow, locked in id order."""
    query = (
        select(Alert)
        .where(Alert.rule_id == rule_id, Alert.shadow.is_(True), Alert.state.in_(LIVE))
        .order_by(Alert.id)
        .with_for_update()
    )
    return list(session.scalars(query))


def count_alerts_by_rule(
    session: Session, rule_ids: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return the number of alerts of each rule by state, without demonstrations and simulated targets."""
    query = (
        select(Alert.rule_id, Alert.state, func.count())
        .where(
            Alert.rule_id.in_(rule_ids),
            Alert.demonstration.is_(False),
            _OF_REAL_TARGETS,
        )
        .group_by(Alert.rule_id, Alert.state)
    )
    counts: dict[str, dict[str, int]] = {rule_id: {} for rule_id in rule_ids}
    for rule_id, state, count in session.execute(query):
        counts[str(rule_id)][state] = count
    return counts


def living_series(session: Session, since: datetime) -> list[tuple[Series, str]]:
    """Return series with a point since then, with the target's name; without retired benchmarks and arms, imports and
    simulated targets, which no rule decides about."""
    retired = (
        select(RetiredBenchmark.suite)
        .where(
            RetiredBenchmark.suite == Series.suite,
            RetiredBenchmark.benchmark.in_(
                (Series.benchmark, Series.benchmark + SEPARATOR + Series.arm)
            ),
        )
        .exists()
    )
    query = (
        select(Series, Target.name)
        .join(Target, Target.id == Series.target_id)
        .where(
            Series.last_at >= since,
            ~retired,
            Target.simulated.is_(False),
            Target.agent_id != IMPORTS_AGENT,
        )
        .order_by(
            Series.suite,
            Series.benchmark,
            Series.arm,
            Series.metric,
            Target.name,
            Series.id,
        )
    )
    return [(series, name) for series, name in session.execute(query)]


def suites(session: Session) -> list[Suite]:
    return list(session.scalars(select(Suite).order_by(Suite.name)))


def measuring_targets(session: Session) -> list[tuple[str, str]]:
    """Return (kind, name) of every target that is not simulated and can measure, by name."""
    measures = (Target.simulated.is_(False), Target.agent_id != IMPORTS_AGENT)
    query = select(Target.kind, Target.name).where(*measures).order_by(Target.name)
    return [(kind, name) for kind, name in session.execute(query)]


def changes_since(
    session: Session, since: datetime
) -> list[tuple[Change, Series, str, datetime]]:
    """Return changes in any state whose first point was measured since then, with the target's name and that time, the
    newest first; no simulated targets."""
    query = (
        select(Change, Series, Target.name, SeriesPoint.at)
        .join(Series, Series.id == Change.series_id)
        .join(Target, Target.id == Series.target_id)
        .join(
            SeriesPoint,
            (SeriesPoint.series_id == Change.series_id)
            & (SeriesPoint.job_id == Change.job_id),
        )
        .where(SeriesPoint.at >= since, Target.simulated.is_(False))
        .order_by(SeriesPoint.at.desc(), Change.id.desc())
    )
    return [
        (change, series, name, at)
        for change, series, name, at in session.execute(query)
    ]


def arm_comparisons_since(
    session: Session, since: datetime
) -> list[tuple[Comparison, str, str]]:
    """Return comparisons of arms since then with commit and target name, oldest first; without confirmations, A/B
    runs and simulated targets."""
    query = (
        select(Comparison, Run.commit, Target.name)
        .join(Run, Run.id == Comparison.run_id)
        .join(Target, Target.id == Comparison.target_id)
        .where(
            Comparison.measured_at >= since,
            Comparison.sides == "arms",
            Target.simulated.is_(False),
            Run.confirms_alert_id.is_(None),
            ~Run.compares_revisions,
        )
        .order_by(Comparison.measured_at, Comparison.id)
    )
    return [
        (comparison, commit, name)
        for comparison, commit, name in session.execute(query)
    ]


def alert_states(session: Session, alert_ids: Iterable[str | None]) -> dict[str, str]:
    wanted = {alert_id for alert_id in alert_ids if alert_id is not None}
    if not wanted:
        return {}
    query = select(Alert).where(Alert.id.in_(wanted))
    return {alert.id: alert.state for alert in session.scalars(query)}
