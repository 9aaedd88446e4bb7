"""All SQL of alerts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, not_, or_, select
from sqlalchemy.orm import Session

from paceline_server.alerts.schemas import AlertKind, AlertState, CauseName
from paceline_server.alerts.states import LIVE
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.decisions import (
    Alert,
    AlertEvent,
    Comparison,
    Finding,
)
from paceline_server.store.tables.fleet import REAL_TARGETS, Target
from paceline_server.store.tables.jobs import Job, Run
from paceline_server.store.tables.rules import TriageBatch


def job_with_run(session: Session, job_id: str) -> tuple[Job, Run] | None:
    found = session.execute(
        select(Job, Run).join(Run, Run.id == Job.run_id).where(Job.id == job_id)
    ).one_or_none()
    return None if found is None else (found[0], found[1])


def alert(session: Session, alert_id: str) -> Alert | None:
    return session.get(Alert, alert_id)


def lock_alert(session: Session, alert_id: str) -> Alert | None:
    """An alert, locked until the transaction ends."""
    return session.scalars(
        select(Alert).where(Alert.id == alert_id).with_for_update()
    ).one_or_none()


def lock_living_alert(session: Session, cause_key: str) -> Alert | None:
    """The one living alert of a cause, locked."""
    query = (
        select(Alert)
        .where(Alert.cause_key == cause_key, Alert.state.in_(LIVE))
        .with_for_update()
    )
    return session.scalars(query).one_or_none()


def has_finding(session: Session, alert_id: str, job_id: str) -> bool:
    """Whether a job is evidence of an alert already."""
    query = select(func.count()).where(
        Finding.alert_id == alert_id, Finding.job_id == job_id
    )
    return bool(session.scalar(query))


def newest_numbers(session: Session, alert_id: str) -> dict[str, Any]:
    """The numbers of an alert's newest finding that has any."""
    query = (
        select(Finding)
        .where(Finding.alert_id == alert_id)
        .order_by(Finding.created_at.desc(), Finding.id.desc())
    )
    return next(
        (dict(row.numbers) for row in session.scalars(query) if row.numbers), {}
    )


def newest_of_cause(session: Session, cause_key: str) -> Alert | None:
    query = (
        select(Alert)
        .where(Alert.cause_key == cause_key)
        .order_by(Alert.id.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def lock_alerts(session: Session, alert_ids: Iterable[str]) -> dict[str, Alert]:
    """Those of these alerts there are, locked in one order, by id."""
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
    """The newest event of each alert and how many there are, by alert id: equal while nothing happens."""
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
    """Which comparisons are evidence of an alert already."""
    query = select(Finding.comparison_id).where(
        Finding.comparison_id.in_(list(comparison_ids))
    )
    return set(session.scalars(query))


def evidence_keys(
    session: Session, alert_id: str, role: str, run_id: str | None = None
) -> list[Comparison]:
    """Comparisons that are evidence of an alert in a role (of one run, if given), oldest first."""
    query = (
        select(Comparison)
        .join(Finding, Finding.comparison_id == Comparison.id)
        .where(Finding.alert_id == alert_id, Finding.role == role)
        .order_by(Finding.id)
    )
    if run_id is not None:
        query = query.where(Finding.run_id == run_id)
    return list(session.scalars(query))


def run_is_alive(session: Session, run_id: str) -> bool:
    query = select(func.count()).where(
        Run.id == run_id, Run.state.in_(("queued", "active"))
    )
    return bool(session.scalar(query))


@dataclass(frozen=True)
class AlertFilters:
    """What a list of alerts is narrowed by; None: by nothing. Those raised in shadow are listed by
    themselves."""

    state: AlertState | None = None
    suite: str | None = None
    target: str | None = None
    kind: AlertKind | None = None
    cause: CauseName | None = None
    rule: str | None = None
    text: str | None = None
    overdue: bool | None = None
    shadow: bool = False
    assignee_id: str | None = None
    unassigned: bool = False


def alerts(filters: AlertFilters, at: datetime) -> Select[Any]:
    """Alerts that match; `at` is now."""
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
    if filters.unassigned:
        query = query.where(Alert.assignee_id.is_(None))
    if filters.overdue is not None:
        overdue = and_(
            Alert.due_at.is_not(None), Alert.due_at < at, Alert.state.in_(LIVE)
        )
        query = query.where(overdue if filters.overdue else not_(overdue))
    if filters.text is not None:
        said = (
            Alert.title,
            Alert.words,
            Alert.benchmark,
            Alert.suite,
            Alert.base_commit,
            Alert.head_commit,
        )
        query = query.where(
            or_(*(column.icontains(filters.text, autoescape=True) for column in said))
        )
    return query


def target_and_assignee_names(
    session: Session, rows: Sequence[Alert]
) -> tuple[dict[str, str], dict[str, Account]]:
    """(target names, assignees) of alerts, by id."""
    targets = {row.target_id for row in rows}
    people = {row.assignee_id for row in rows if row.assignee_id is not None}
    found = session.scalars(select(Target).where(Target.id.in_(targets)))
    accounts = (
        session.scalars(select(Account).where(Account.id.in_(people))) if people else ()
    )
    return {target.id: target.name for target in found}, {
        account.id: account for account in accounts
    }


def events(session: Session, alert_id: str) -> list[AlertEvent]:
    query = (
        select(AlertEvent)
        .where(AlertEvent.alert_id == alert_id)
        .order_by(AlertEvent.at, AlertEvent.id)
    )
    return list(session.scalars(query))


def newest_action(session: Session, alert_id: str, of: Iterable[str]) -> str | None:
    """Which of these actions an alert's history has last."""
    query = (
        select(AlertEvent)
        .where(AlertEvent.alert_id == alert_id, AlertEvent.action.in_(list(of)))
        .order_by(AlertEvent.at.desc(), AlertEvent.id.desc())
        .limit(1)
    )
    event = session.scalars(query).one_or_none()
    return None if event is None else event.action


def account(session: Session, account_id: str) -> Account | None:
    return session.get(Account, account_id)


def target_name(session: Session, target_id: str) -> str:
    """What rules match by."""
    return session.get_one(Target, target_id).name


def spoken_name(session: Session, target_id: str) -> str:
    """What sentences call it."""
    return session.get_one(Target, target_id).spoken_name


def counts_by_state(session: Session) -> dict[str, int]:
    """How many alerts people may see are in each state; those in shadow, and those of simulated targets, are
    not among them."""
    query = select(Alert.state, func.count()).where(
        Alert.shadow.is_(False), Alert.target_id.in_(REAL_TARGETS)
    )
    rows = session.execute(query.group_by(Alert.state))
    return {row.state: row[1] for row in rows}


def opened_since(session: Session, since: datetime) -> dict[str, int]:
    """States of the alerts that opened since then, with counts: no shadow, no demonstration, none of a
    simulated target."""
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
