"""Serves alerts to people, and applies their decisions (`decisions`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Concatenate, ParamSpec

from sqlalchemy.orm import Session

from paceline_server.accounts.schemas import AccountOut
from paceline_server.alerts import decisions, queries
from paceline_server.alerts.bisect import service as bisect
from paceline_server.alerts.explain import service as explain
from paceline_server.alerts.queries import AlertFilters
from paceline_server.alerts.schemas import (
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

Arguments = ParamSpec("Arguments")

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
    """Alerts, the newest first; `assignee` is an account's id or `NOBODY`."""
    unassigned = assignee == NOBODY
    filters = replace(
        filters, assignee_id=None if unassigned else assignee, unassigned=unassigned
    )
    alerts: Page[Alert] = page(
        session,
        queries.alerts(filters, clock.now()),
        [Alert.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    targets, people = queries.target_and_assignee_names(session, alerts.items)
    return Page(
        items=[_alert_out(row, targets, people) for row in alerts.items],
        next=alerts.next,
    )


def _alert_out(
    row: Alert, targets: dict[str, str], people: dict[str, Account]
) -> AlertOut:
    assignee = people.get(row.assignee_id or "")
    derived = {
        "overdue": decisions.is_overdue(row),
        "rule_name": row.rule["name"],
        "target_name": targets[row.target_id],
        "assignee": None if assignee is None else AccountOut.model_validate(assignee),
    }
    stored = {
        name: getattr(row, name)
        for name in AlertOut.model_fields
        if name not in derived
    }
    return AlertOut.model_validate(stored | derived)


def alert_detail(
    session: Session, alert_id: str, *, windows: bool = False
) -> AlertDetailOut:
    """One alert with its evidence and history; `windows` adds every point of each finding. Raises 404."""
    row = session.get(Alert, alert_id)
    if row is None:
        raise not_found("alert", alert_id)
    session.flush()
    targets, people = queries.target_and_assignee_names(session, [row])
    explanation = explain.explain_briefly(
        session, row, queries.spoken_name(session, row.target_id), windows=windows
    )
    return AlertDetailOut(
        **_alert_out(row, targets, people).model_dump(),
        rule=RuleOut.model_validate(row.rule),
        explanation=explanation.sentence,
        cause_text=explanation.cause_text,
        findings=explanation.findings,
        bisection=bisect.bisection_of_alert(session, row),
        history=[
            AlertEventOut.model_validate(event)
            for event in queries.events(session, alert_id)
        ],
        actions=possible_actions(row.state),  # type: ignore[arg-type]  # the column holds `AlertState`s only
    )


def decide(
    session: Session,
    alert_id: str,
    decision: Callable[Concatenate[Session, Alert, Arguments], None],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> AlertDetailOut:
    """Apply one of `decisions` to an alert, locked; the alert afterwards. Raises 404 and what it raises."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None:
        raise not_found("alert", alert_id)
    decision(session, alert, *args, **kwargs)
    return alert_detail(session, alert_id)
