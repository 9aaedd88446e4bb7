"""Ends maintenance and orders whose time is over, and deletes old events and readings.

The sweeper calls it. It only reads while there is nothing to do, so that an idle server never takes the write lock.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.fleet.target_events import SYSTEM, record_event
from paceline_server.fleet.target_state import is_in_maintenance
from paceline_server.fleet.target_views import publish_target
from paceline_server.kernel import clock
from paceline_server.store.session import read_scope, session_scope

KEEP_EVENTS = timedelta(days=365)
"""Events are kept for a year, so that a device that fails again can be compared with its past."""
KEEP_CONNECTIONS = timedelta(days=30)
"""Events of connections are kept for a month, because there are many a day."""
KEEP_READINGS = timedelta(days=90)
"""Readings are kept for 90 days: 144 a day for each device, and those that changed."""


def sweep() -> int:
    """End maintenance and orders that have run out; returns how many."""
    with read_scope() as session:
        if not queries.has_expired(session, clock.now()):
            return 0
    with session_scope() as session:
        ended = _end_maintenance(session)
    with session_scope() as session:
        return ended + _expire_orders(session)


def _end_maintenance(session: Session) -> int:
    at = clock.now()
    ended = [
        target
        for target in queries.lock_targets(
            session, queries.targets_of_ended_maintenance(session, at)
        )
        if target.maintenance_by is not None and not is_in_maintenance(target, at)
    ]
    for target in ended:
        evidence = {"by": target.maintenance_by, "reason": target.maintenance_reason}
        target.maintenance_by = target.maintenance_reason = None
        target.maintenance_since = target.maintenance_until = None
        record_event(
            session,
            target,
            "maintenance",
            "maintenance_ended",
            states=("on", "off"),
            evidence=evidence,
            actor=SYSTEM,
        )
        publish_target(session, target)
    return len(ended)


def _expire_orders(session: Session) -> int:
    at = clock.now()
    targets = queries.lock_targets(
        session, queries.targets_of_overdue_orders(session, at)
    )
    by_id = {target.id: target for target in targets}
    overdue = queries.overdue_orders(session, list(by_id), at)
    for order in overdue:
        order.life, order.ended_at = "expired", at
        target = by_id[order.target_id]
        evidence = {"order_id": order.id, "requested_by": order.requested_by}
        record_event(
            session,
            target,
            "order",
            "order_expired",
            reason=order.kind,
            evidence=evidence,
            actor=SYSTEM,
        )
        publish_target(session, target)
    return len(overdue)


def delete_old_rows() -> None:
    """Delete old events and readings in two short transactions, because on SQLite each blocks every other writer."""
    at = clock.now()
    with session_scope() as session:
        queries.delete_events(session, at - KEEP_EVENTS, at - KEEP_CONNECTIONS)
    with session_scope() as session:
        queries.delete_readings(session, at - KEEP_READINGS)
