"""Applies a person's decision to an alert, or to many at once, and undoes it.

Every change adds an event to the alert's history and an entry to the audit log in the
same transaction. Of a batch, either all alerts take the decision or none. Undoing restores
the state the batch stored, once, within `UNDO_WITHIN`, and only if no alert has changed
since. An undo is an event of its own: history is never erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.lifecycle import (
    add_event,
    apply_event,
    publish_alert,
    restore,
)
from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.schemas import Action, BulkIn, TriageBatchOut
from paceline_server.alerts.states import (
    LIVE,
    VISIBLE,
    Event,
    IllegalTransitionError,
    possible_actions,
)
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import (
    ProblemError,
    conflict,
    invalid_request,
    not_found,
)
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.triage import TriageBatch


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
    """Return the error for reopening an alert whose cause has another living alert."""
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
    if alert.state in VISIBLE:
        publish_alert(session, alert)


def is_overdue(alert: Alert) -> bool:
    """Return whether the due date of a living alert has passed; `queries.alerts` has the same rule in SQL."""
    return (
        alert.due_at is not None and alert.due_at < clock.now() and alert.state in LIVE
    )


UNDO_WITHIN = timedelta(minutes=15)
"""Long enough to notice a mistake, short enough that nobody relies on the decision yet."""


def decide_batch(session: Session, decision: BulkIn, actor: str) -> TriageBatchOut:
    """Apply a decision to all of the alerts. Raises 409 `bulk_refused`, changing nothing, when any refuses."""
    alerts = queries.lock_alerts(session, decision.alert_ids)
    before = [
        _state_before(alerts[alert_id])
        for alert_id in decision.alert_ids
        if alert_id in alerts
    ]
    refused = {
        alert_id: f"There is no alert {alert_id!r}."
        for alert_id in decision.alert_ids
        if alert_id not in alerts
    }
    for alert_id, alert in alerts.items():
        try:
            _apply_decision(session, alert, decision, actor)
        except ProblemError as problem:
            refused[alert_id] = problem.detail
    if refused:
        text = f"{len(refused)} of {len(decision.alert_ids)} alerts refuse; nothing was changed."
        raise ProblemError(409, "bulk_refused", text, fields=refused)
    session.flush()
    newest = queries.newest_events(session, decision.alert_ids)
    batch = TriageBatch(
        id=ids.new_id("tri"),
        actor=actor,
        action=_action_name(decision),
        note=decision.note,
        before=[{**entry, **newest.get(entry["alert_id"], {})} for entry in before],
        created_at=clock.now(),
        undone_at=None,
        undone_by=None,
    )
    session.add(batch)
    detail = {"action": batch.action, "alerts": decision.alert_ids}
    audit.record(session, actor, "bulk", "triage_batch", batch.id, detail)
    session.flush()
    return _batch_out(batch)


def _apply_decision(
    session: Session, alert: Alert, decision: BulkIn, actor: str
) -> None:
    if decision.assign is not None:
        assign(session, alert, decision.assign.account_id, actor)
    if decision.due is not None:
        set_due(session, alert, decision.due.due_at, actor)
    if decision.action is not None:
        apply_action(
            session,
            alert,
            decision.action,
            actor,
            note=decision.note,
            baseline_commit=decision.baseline_commit,
        )
    elif decision.note is not None:
        add_note(session, alert, decision.note, actor)


def _state_before(alert: Alert) -> dict[str, Any]:
    return {
        "alert_id": alert.id,
        "state": alert.state,
        "assignee_id": alert.assignee_id,
        "due_at": None if alert.due_at is None else alert.due_at.isoformat(),
        "baseline_commit": alert.baseline_commit,
    }


def _action_name(decision: BulkIn) -> str:
    parts = [
        decision.action,
        decision.assign and "assign",
        decision.due and "due",
        decision.note and "note",
    ]
    return " + ".join(str(part) for part in parts if part)


def undo_batch(session: Session, batch_id: str, actor: str) -> TriageBatchOut:
    """Undo a bulk decision. Raises 404; 409 `undo_refused` when it is too late, was undone before or an alert
    has changed since."""
    batch = queries.lock_batch(session, batch_id)
    if batch is None:
        raise not_found("triage batch", batch_id)
    if batch.undone_at is not None:
        raise _refusal(f"It was undone already, by {batch.undone_by}.")
    if clock.now() > batch.created_at + UNDO_WITHIN:
        minutes = int(UNDO_WITHIN.total_seconds() // 60)
        raise _refusal(
            f"It is too late: a bulk decision can be undone for {minutes} minutes."
        )
    before = {entry["alert_id"]: entry for entry in batch.before}
    alerts = queries.lock_alerts(session, before)
    newest = queries.newest_events(session, before)
    changed = {
        entry: "has changed since"
        for entry in before
        if any(
            before[entry].get(name) != value
            for name, value in newest.get(entry, {}).items()
        )
    }
    if changed:
        raise _refusal(
            f"{len(changed)} of {len(before)} alerts have changed since.", changed
        )
    for alert_id, alert in alerts.items():
        _restore_alert(session, alert, before[alert_id], batch, actor)
    batch.undone_at, batch.undone_by = clock.now(), actor
    audit.record(
        session, actor, "undo", "triage_batch", batch.id, {"action": batch.action}
    )
    session.flush()
    return _batch_out(batch)


def _restore_alert(
    session: Session,
    alert: Alert,
    kept: Mapping[str, Any],
    batch: TriageBatch,
    actor: str,
) -> None:
    left = alert.state
    alert.assignee_id = kept["assignee_id"]
    alert.due_at = (
        None
        if kept["due_at"] is None
        else datetime.fromisoformat(kept["due_at"]).astimezone(UTC)
    )
    try:
        with session.begin_nested():
            restore(
                session, alert, kept["state"], actor, f"{batch.action} by {batch.actor}"
            )
    except IntegrityError:
        raise _refusal(
            newer_alert_conflict().detail, {alert.id: "has a newer alert"}
        ) from None
    move_baseline(session, alert, left, kept["baseline_commit"])


def _refusal(text: str, fields: dict[str, str] | None = None) -> ProblemError:
    return ProblemError(409, "undo_refused", text, fields=fields)


def list_batches(
    session: Session, *, limit: int, cursor: str | None
) -> Page[TriageBatchOut]:
    """Return bulk decisions, the newest first."""
    return page(
        session,
        queries.batches(),
        [TriageBatch.id],
        lambda row: [row.id],
        _batch_out,
        limit=limit,
        cursor=cursor,
    )


def _batch_out(batch: TriageBatch) -> TriageBatchOut:
    own = ("id", "actor", "action", "note", "created_at", "undone_at", "undone_by")
    touched = [str(entry["alert_id"]) for entry in batch.before]
    return TriageBatchOut(
        **{name: getattr(batch, name) for name in own},
        alerts=len(touched),
        alert_ids=touched,
        undo_until=batch.created_at + UNDO_WITHIN,
    )
