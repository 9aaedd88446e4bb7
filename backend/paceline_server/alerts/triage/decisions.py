"""Applies a person's decision to one locked alert: act, assign, set a date, link an issue, note.

Every change adds an event to the alert's history and an entry to the audit log in the
same transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.lifecycle import add_event, apply_event, publish_alert
from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.schemas import Action
from paceline_server.alerts.states import (
    LIVE,
    TOLD,
    Event,
    IllegalTransitionError,
    possible_actions,
)
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError, conflict, invalid_request
from paceline_server.store import audit
from paceline_server.store.tables.decisions import Alert


def apply_action(
    session: Session,
    alert: Alert,
    action: Action,
    actor: str,
    *,
    note: str | None = None,
    baseline_commit: str | None = None,
) -> None:
    """Carry out a person's action. Raises 409, naming the possible actions, when it does not apply, or when
    the cause has a newer alert; 400 for a baseline commit that does not belong to this action."""
    if baseline_commit is not None and (
        action != "expected" or not kind_of(alert.kind).follows_series
    ):
        text = "Only the action `expected` takes a baseline, and only for an alert about a series' history."
        raise invalid_request(
            text, {"baseline_commit": "leave it out for this action and alert"}
        )
    before = alert.state
    try:
        with session.begin_nested():
            apply_event(session, alert, Event(action), note, actor=actor)
    except IllegalTransitionError:
        possible: Sequence[str] = possible_actions(alert.state)  # type: ignore[arg-type]  # the column holds these
        advice = (
            f"possible are: {', '.join(possible)}"
            if possible
            else "nothing can be done with it"
        )
        raise conflict(
            f"{action} does not apply to an alert that is {alert.state}; {advice}."
        ) from None
    except IntegrityError:
        raise newer_alert_conflict() from None
    move_baseline(session, alert, before, baseline_commit)
    detail = {
        "from": before,
        "to": alert.state,
        "note": note,
        "baseline_commit": alert.baseline_commit,
    }
    audit.record(session, actor, action, "alert", alert.id, detail)


def newer_alert_conflict() -> ProblemError:
    """The error for reopening an alert whose cause has another living alert."""
    return conflict(
        "A newer alert about the same cause is already being looked at; work on that one."
    )


def move_baseline(
    session: Session, alert: Alert, before: str, commit: str | None
) -> None:
    """Set the baseline of a series whose alert became expected; restore it if the alert is no longer expected.

    The baseline begins at `commit`, or else at the alert's changes. Raises 400 if `commit` cannot be a baseline.
    """
    if "expected" not in {before, alert.state} or before == alert.state:
        return
    kind = kind_of(alert.kind)
    if alert.state == "expected":
        kind.accept(session, alert, commit)
    else:
        kind.withdraw(session, alert)


def add_note(session: Session, alert: Alert, note: str, actor: str) -> None:
    """Keep a remark in the alert's history."""
    add_event(session, alert, "note", actor, note)
    audit.record(session, actor, "note", "alert", alert.id, {"note": note})


def assign(session: Session, alert: Alert, account_id: str | None, actor: str) -> None:
    """Assign the alert to a person, or to nobody. Raises 400 for an unknown account."""
    person = None if account_id is None else queries.account(session, account_id)
    if account_id is not None and person is None:
        raise invalid_request(
            f"There is no account {account_id!r}.", {"account_id": "no such account"}
        )
    if alert.assignee_id == account_id:
        return
    alert.assignee_id = account_id
    _record_change(
        session, alert, "assign", "nobody" if person is None else person.name, actor
    )


def set_due(
    session: Session, alert: Alert, due_at: datetime | None, actor: str
) -> None:
    """Set or remove the date by which the alert should be resolved. Raises 400 for a date in the past."""
    if due_at is not None and due_at <= clock.now():
        raise invalid_request(
            "The due date has passed already.", {"due_at": "in the future"}
        )
    if alert.due_at == due_at:
        return
    alert.due_at = due_at
    _record_change(
        session,
        alert,
        "due",
        "no date" if due_at is None else due_at.isoformat(),
        actor,
    )


def link_issue(session: Session, alert: Alert, url: str | None, actor: str) -> None:
    """Link the issue that tracks the alert, or remove the link."""
    if alert.issue_url == url:
        return
    alert.issue_url = url
    _record_change(session, alert, "issue", url or "no issue", actor)


def _record_change(
    session: Session, alert: Alert, action: str, to: str, actor: str
) -> None:
    add_event(session, alert, action, actor, to)
    audit.record(session, actor, action, "alert", alert.id, {"to": to})
    if alert.state in TOLD:
        publish_alert(session, alert)


def is_overdue(alert: Alert) -> bool:
    """Whether the due date of a living alert has passed; `queries.alerts` has the same rule in SQL."""
    return (
        alert.due_at is not None and alert.due_at < clock.now() and alert.state in LIVE
    )
