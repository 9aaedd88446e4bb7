"""All SQL of alerts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from paceline_server.alerts.states import LIVE
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.decisions import Alert, AlertEvent, Comparison, Finding
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run


def job_with_run(session: Session, job_id: str) -> tuple[Job, Run] | None:
    found = session.execute(
        select(Job, Run).join(Run, Run.id == Job.run_id).where(Job.id == job_id)
    ).one_or_none()
    return None if found is None else (found[0], found[1])


def alert(session: Session, alert_id: str) -> Alert | None:
    return session.get(Alert, alert_id)


def lock_alert(session: Session, alert_id: str) -> Alert | None:
    """An alert, locked until the transaction ends."""
    return session.scalars(select(Alert).where(Alert.id == alert_id).with_for_update()).one_or_none()


def lock_live(session: Session, cause_key: str) -> Alert | None:
    """The one living alert of a cause, locked."""
    query = select(Alert).where(Alert.cause_key == cause_key, Alert.state.in_(LIVE)).with_for_update()
    return session.scalars(query).one_or_none()


def newest_of_cause(session: Session, cause_key: str) -> Alert | None:
    query = select(Alert).where(Alert.cause_key == cause_key).order_by(Alert.id.desc()).limit(1)
    return session.scalars(query).one_or_none()


def known_comparisons(session: Session, comparison_ids: Iterable[str]) -> set[str]:
    """Which comparisons are evidence of an alert already."""
    query = select(Finding.comparison_id).where(Finding.comparison_id.in_(list(comparison_ids)))
    return set(session.scalars(query))


def evidence_keys(session: Session, alert_id: str, role: str, run_id: str | None = None) -> list[Comparison]:
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
    query = select(func.count()).where(Run.id == run_id, Run.state.in_(("queued", "active")))
    return bool(session.scalar(query))


def alerts(
    state: str | None, suite: str | None, target: str | None, assignee_id: str | None, *, unassigned: bool
) -> Select[Any]:
    query: Select[Any] = select(Alert)
    if state is not None:
        query = query.where(Alert.state == state)
    if suite is not None:
        query = query.where(Alert.suite == suite)
    if target is not None:
        query = query.where(Alert.target_id == target)
    if assignee_id is not None:
        query = query.where(Alert.assignee_id == assignee_id)
    return query.where(Alert.assignee_id.is_(None)) if unassigned else query


def names(session: Session, rows: Sequence[Alert]) -> tuple[dict[str, str], dict[str, Account]]:
    """(target names, assignees) of alerts, by id."""
    targets = {row.target_id for row in rows}
    people = {row.assignee_id for row in rows if row.assignee_id is not None}
    found = session.scalars(select(Target).where(Target.id.in_(targets)))
    accounts = session.scalars(select(Account).where(Account.id.in_(people))) if people else ()
    return {target.id: target.name for target in found}, {account.id: account for account in accounts}


def events(session: Session, alert_id: str) -> list[AlertEvent]:
    query = select(AlertEvent).where(AlertEvent.alert_id == alert_id).order_by(AlertEvent.at, AlertEvent.id)
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
    return session.get_one(Target, target_id).name


def counts_by_state(session: Session) -> dict[str, int]:
    rows = session.execute(select(Alert.state, func.count()).group_by(Alert.state))
    return {row.state: row[1] for row in rows}
