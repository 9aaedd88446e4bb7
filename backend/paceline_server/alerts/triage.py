"""What people do with alerts, and how alerts look to them.

Place: between the routes and `history`. Invariants: every write leaves who did what; an action that does
not apply is a 409 naming those that do; what an alert shows comes from stored evidence.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.accounts.schemas import AccountOut
from paceline_server.alerts import queries
from paceline_server.alerts.bisect import service as bisect
from paceline_server.alerts.explain import service as explain
from paceline_server.alerts.history import change, remember, tell
from paceline_server.alerts.schemas import (
    Action,
    AlertDetailOut,
    AlertEventOut,
    AlertOut,
    AlertState,
    RuleOut,
)
from paceline_server.alerts.states import TOLD, Event, IllegalTransitionError, actions
from paceline_server.kernel.errors import conflict, invalid_request, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store.page import page
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.decisions import Alert

NOBODY = "none"
"""Value of the assignee filter for alerts nobody has taken."""


def list_alerts(
    session: Session,
    *,
    state: AlertState | None,
    suite: str | None,
    target: str | None,
    assignee: str | None,
    limit: int,
    cursor: str | None,
) -> Page[AlertOut]:
    """Alerts, the newest first; `assignee` is an account's id, or `none`."""
    unassigned = assignee == NOBODY
    query = queries.alerts(state, suite, target, None if unassigned else assignee, unassigned=unassigned)
    found: Page[Alert] = page(
        session, query, [Alert.id], lambda row: [row.id], lambda row: row, limit=limit, cursor=cursor
    )
    targets, people = queries.names(session, found.items)
    return Page(items=[_alert_out(row, targets, people) for row in found.items], next=found.next)


def _alert_out(row: Alert, targets: dict[str, str], people: dict[str, Account]) -> AlertOut:
    who = people.get(row.assignee_id or "")
    given = ("target_name", "assignee")
    values = {name: getattr(row, name) for name in AlertOut.model_fields if name not in given}
    assignee = None if who is None else AccountOut.model_validate(who)
    return AlertOut.model_validate({**values, "target_name": targets[row.target_id], "assignee": assignee})


def alert_detail(session: Session, alert_id: str) -> AlertDetailOut:
    """One alert with its evidence and history. Raises 404."""
    row = session.get(Alert, alert_id)
    if row is None:
        raise not_found("alert", alert_id)
    session.flush()
    targets, people = queries.names(session, [row])
    told = explain.told(session, row, targets[row.target_id])
    return AlertDetailOut(
        **_alert_out(row, targets, people).model_dump(),
        rule=RuleOut.model_validate(row.rule),
        explanation=told.sentence,
        cause_text=told.cause_text,
        findings=told.findings,
        bisection=bisect.of_alert(session, row),
        history=[AlertEventOut.model_validate(event) for event in queries.events(session, alert_id)],
        actions=actions(row.state),  # type: ignore[arg-type]  # the column holds `AlertState`s only
    )


def _locked(session: Session, alert_id: str) -> Alert:
    alert = queries.lock_alert(session, alert_id)
    if alert is None:
        raise not_found("alert", alert_id)
    return alert


def act(session: Session, alert_id: str, action: Action, note: str | None, actor: str) -> AlertDetailOut:
    """Carry out a person's decision. Raises 404, 409 when it does not apply or the cause has a newer
    alert."""
    alert = _locked(session, alert_id)
    try:
        with session.begin_nested():
            change(session, alert, Event(action), actor, note)
    except IllegalTransitionError:
        possible: Sequence[str] = actions(alert.state)  # type: ignore[arg-type]  # as above
        advice = f"possible are: {', '.join(possible)}" if possible else "nothing can be done with it"
        raise conflict(f"{action} does not apply to an alert that is {alert.state}; {advice}.") from None
    except IntegrityError:
        raise conflict(
            "A newer alert about the same cause is already being looked at; work on that one."
        ) from None
    return alert_detail(session, alert_id)


def add_note(session: Session, alert_id: str, note: str, actor: str) -> AlertDetailOut:
    """Keep a remark in the alert's history. Raises 404."""
    remember(session, _locked(session, alert_id), "note", actor, note)
    return alert_detail(session, alert_id)


def assign(session: Session, alert_id: str, account_id: str | None, actor: str) -> AlertDetailOut:
    """Give the alert to a person, or to nobody. Raises 404, 400 for an unknown account."""
    alert = _locked(session, alert_id)
    person = None if account_id is None else queries.account(session, account_id)
    if account_id is not None and person is None:
        raise invalid_request(f"There is no account {account_id!r}.", {"account_id": "no such account"})
    if alert.assignee_id != account_id:
        alert.assignee_id = account_id
        remember(session, alert, "assign", actor, "nobody" if person is None else person.name)
        if alert.state in TOLD:
            tell(session, alert)
    return alert_detail(session, alert_id)
