"""Applies one decision to many alerts, and undoes it.

Either all alerts take the decision or none. Undoing restores the state the batch stored,
once, within `UNDO_WITHIN`, and only if no alert has changed since. An undo is an event of
its own: history is never erased.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.lifecycle import restore
from paceline_server.alerts.schemas import BulkIn, TriageBatchOut
from paceline_server.alerts.triage import decisions
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.tables.decisions import Alert
from paceline_server.store.tables.triage import TriageBatch

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
        decisions.assign(session, alert, decision.assign.account_id, actor)
    if decision.due is not None:
        decisions.set_due(session, alert, decision.due.due_at, actor)
    if decision.action is not None:
        decisions.apply_action(
            session,
            alert,
            decision.action,
            actor,
            note=decision.note,
            baseline_commit=decision.baseline_commit,
        )
    elif decision.note is not None:
        decisions.add_note(session, alert, decision.note, actor)


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
            decisions.newer_alert_conflict().detail, {alert.id: "has a newer alert"}
        ) from None
    decisions.move_baseline(session, alert, left, kept["baseline_commit"])


def _refusal(text: str, fields: dict[str, str] | None = None) -> ProblemError:
    return ProblemError(409, "undo_refused", text, fields=fields)


def list_batches(
    session: Session, *, limit: int, cursor: str | None
) -> Page[TriageBatchOut]:
    """Bulk decisions, the newest first."""
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
