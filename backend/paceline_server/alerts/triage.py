"""Serves alerts to people and carries out what they do with them.

Every write records who did what; an action that does not apply is a 409 that names
those that do. What an alert shows comes from stored evidence.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.accounts.schemas import AccountOut
from paceline_server.alerts import decisions, queries
from paceline_server.alerts.bisect import service as bisect
from paceline_server.alerts.explain import service as explain
from paceline_server.alerts.queries import AlertFilters
from paceline_server.alerts.schemas import (
    AlertActionIn,
    AlertDetailOut,
    AlertEventOut,
    AlertOut,
    RuleOut,
)
from paceline_server.alerts.states import possible_actions
from paceline_server.kernel import clock
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.wire import Page
from paceline_server.store.page import page
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.decisions import Alert

NOBODY = "none"
"""Value of the assignee filter for alerts nobody has taken."""


def list_alerts(
    session: Session,
    filters: AlertFilters,
    *,
    assignee: str | None,
    limit: int,
    cursor: str | None,
) -> Page[AlertOut]:
    """Alerts, the newest first; `assignee` is an account's id, or `none`."""
    unassigned = assignee == NOBODY
    filters = replace(
        filters, assignee_id=None if unassigned else assignee, unassigned=unassigned
    )
    found: Page[Alert] = page(
        session,
        queries.alerts(filters, clock.now()),
        [Alert.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    targets, people = queries.target_and_assignee_names(session, found.items)
    return Page(
        items=[_alert_out(row, targets, people) for row in found.items], next=found.next
    )


def _alert_out(
    row: Alert, targets: dict[str, str], people: dict[str, Account]
) -> AlertOut:
    who = people.get(row.assignee_id or "")
    given = ("target_name", "assignee", "overdue", "rule_name")
    values = {
        name: getattr(row, name) for name in AlertOut.model_fields if name not in given
    }
    assignee = None if who is None else AccountOut.model_validate(who)
    made = {"overdue": decisions.is_overdue(row), "rule_name": row.rule["name"]}
    return AlertOut.model_validate(
        {**values, **made, "target_name": targets[row.target_id], "assignee": assignee}
    )


def alert_detail(
    session: Session, alert_id: str, *, windows: bool = False
) -> AlertDetailOut:
    """One alert with its evidence and history; `windows`: with every point history looked at. Raises 404."""
    row = session.get(Alert, alert_id)
    if row is None:
        raise not_found("alert", alert_id)
    session.flush()
    targets, people = queries.target_and_assignee_names(session, [row])
    told = explain.explain_briefly(
        session, row, queries.spoken_name(session, row.target_id), windows=windows
    )
    return AlertDetailOut(
        **_alert_out(row, targets, people).model_dump(),
        rule=RuleOut.model_validate(row.rule),
        explanation=told.sentence,
        cause_text=told.cause_text,
        findings=told.findings,
        bisection=bisect.bisection_of_alert(session, row),
        history=[
            AlertEventOut.model_validate(event)
            for event in queries.events(session, alert_id)
        ],
        actions=possible_actions(row.state),  # type: ignore[arg-type]  # the column holds `AlertState`s only
    )


def get_locked_alert(session: Session, alert_id: str) -> Alert:
    """An alert, locked until the transaction ends. Raises 404."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None:
        raise not_found("alert", alert_id)
    return alert


def apply_action(
    session: Session, alert_id: str, said: AlertActionIn, actor: str
) -> AlertDetailOut:
    """Carry out a person's decision. Raises 404, 409 and 400 as `decisions.apply_action`."""
    alert = get_locked_alert(session, alert_id)
    decisions.apply_action(
        session,
        alert,
        said.action,
        actor,
        note=said.note,
        baseline_commit=said.baseline_commit,
    )
    return alert_detail(session, alert_id)


def add_note(session: Session, alert_id: str, note: str, actor: str) -> AlertDetailOut:
    """Keep a remark in the alert's history. Raises 404."""
    decisions.add_note(session, get_locked_alert(session, alert_id), note, actor)
    return alert_detail(session, alert_id)


def assign(
    session: Session, alert_id: str, account_id: str | None, actor: str
) -> AlertDetailOut:
    """Give the alert to a person, or to nobody. Raises 404, 400 for an unknown account."""
    decisions.assign(session, get_locked_alert(session, alert_id), account_id, actor)
    return alert_detail(session, alert_id)


def set_due(
    session: Session, alert_id: str, due_at: datetime | None, actor: str
) -> AlertDetailOut:
    """Say until when it should be dealt with (null: no date). Raises 404, 400 for a date in the past."""
    decisions.set_due(session, get_locked_alert(session, alert_id), due_at, actor)
    return alert_detail(session, alert_id)


def link_issue(
    session: Session, alert_id: str, url: str | None, actor: str
) -> AlertDetailOut:
    """Link the issue in which it is worked on (null: none). Raises 404."""
    decisions.link_issue(session, get_locked_alert(session, alert_id), url, actor)
    return alert_detail(session, alert_id)
