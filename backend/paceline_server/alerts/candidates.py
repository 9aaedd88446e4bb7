"""Stores suspected alerts and schedules their confirmation, whatever they are about.

People hear of nothing here: a confirmation after the cool-down decides (I13).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.history import SYSTEM, add_event
from paceline_server.alerts.states import Event
from paceline_server.alerts.topics import CONFIRM
from paceline_server.kernel import settings
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Alert


def raise_alert(session: Session, alert: Alert, note: str) -> Alert | None:
    """Store a new suspected alert and schedule its confirmation; None when another transaction raised its cause
    first."""
    stored = store_alert(session, alert, note)
    if stored is not None:
        ask_for_confirmation(session, stored)
    return stored


def store_alert(session: Session, alert: Alert, note: str) -> Alert | None:
    """Store a new suspected alert; None when another transaction raised its cause first."""
    try:
        with session.begin_nested():
            session.add(alert)
            session.flush()
    except IntegrityError:
        return None
    add_event(session, alert, Event.raise_.value, SYSTEM, note)
    return alert


def ask_for_confirmation(session: Session, alert: Alert) -> None:
    """Schedule the confirmation of an alert for the end of the cool-down."""
    outbox.add(
        session, CONFIRM, alert.id, due_in_s=settings.current().confirm_cooldown_s
    )


def is_being_confirmed(session: Session, alert: Alert) -> bool:
    """Whether the confirmation run of an alert is queued or active."""
    run_id = alert.confirmation_run_id
    return run_id is not None and queries.run_is_alive(session, run_id)


def values_by_param(points: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The values of each param at these points, in the order of the points."""
    values: dict[str, list[Any]] = defaultdict(list)
    for point in points:
        for name, value in point.items():
            if value not in values[name]:
                values[name].append(value)
    return dict(values)
