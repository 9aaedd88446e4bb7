"""Changes the state of alerts and records their history.

Nothing else writes `Alert.state`: every change is legal (`states`) and leaves an event. A
change is published live only when people may know of the alert (I13).
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts.schemas import AlertState
from paceline_server.alerts.states import TOLD, Event, next_state
from paceline_server.alerts.topics import NOTIFY
from paceline_server.kernel import clock, ids
from paceline_server.store import live_events, outbox
from paceline_server.store.tables.decisions import Alert, AlertEvent

SYSTEM = "paceline"
"""Actor of the server's own decisions."""


def change_state(
    session: Session, alert: Alert, event: Event, actor: str, note: str | None = None
) -> None:
    """Apply `event` to a locked alert. Raises IllegalTransitionError and changes nothing."""
    before = alert.state
    alert.state = next_state(before, event)  # type: ignore[arg-type]  # the column holds `AlertState`s only
    add_event(session, alert, event.value, actor, note, before=before)  # type: ignore[arg-type]  # as above
    if before in TOLD or alert.state in TOLD:
        publish_alert(session, alert)


def add_event(
    session: Session,
    alert: Alert,
    action: str,
    actor: str,
    note: str | None = None,
    *,
    before: AlertState | None = None,
) -> None:
    """Add an event to an alert's history; `before` is the former state if the event changed it."""
    at = clock.now()
    alert.updated_at = at
    session.add(
        AlertEvent(
            id=ids.new_id("aev"),
            alert_id=alert.id,
            at=at,
            actor=actor,
            action=action,
            from_state=before,
            to_state=None if before is None and action != Event.raise_ else alert.state,
            note=note,
        )
    )
    session.flush()


def restore(
    session: Session, alert: Alert, state: AlertState, actor: str, note: str
) -> None:
    """Return a locked alert to its state before a decision that is undone. `states` has no rule for this: the
    alert was in that state, and nothing has happened since."""
    before = alert.state
    alert.state = state
    add_event(session, alert, "undo", actor, note, before=before)  # type: ignore[arg-type]  # as above
    if before in TOLD or state in TOLD:
        publish_alert(session, alert)


def leave_shadow(session: Session, alert: Alert) -> None:
    """Make a locked alert visible because its rule is active now, and notify people if it is open."""
    alert.shadow = False
    add_event(session, alert, "left_shadow", SYSTEM)
    if alert.state in ("open", "acknowledged"):
        publish_alert(session, alert)
        outbox.add(session, NOTIFY, alert.id)


def publish_alert(session: Session, alert: Alert) -> None:
    """Publish an alert to live streams, unless it is in shadow."""
    if alert.shadow:
        return
    data = {"id": alert.id, "state": alert.state, "title": alert.title}
    live_events.emit(session, "alert", None, None, data)
