"""What time does to targets: maintenance that is over, orders nobody carried out, rows that are old.

Place: called by the sweeper, in transactions of its own. Invariant: idle, it only reads.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.fleet.events import SYSTEM, keep
from paceline_server.fleet.shapes import tell
from paceline_server.kernel import clock
from paceline_server.store.session import read_scope, session_scope

KEEP_EVENTS = timedelta(days=365)
"""A year: whether a device was trouble before is asked when it is trouble again."""
KEEP_CONNECTIONS = timedelta(days=30)
"""Connections come and go many times a day; after a month nobody asks for one of them."""
KEEP_READINGS = timedelta(days=90)
"""A quarter of temperatures and charge, at most 144 a day and device and what changed."""


def sweep() -> int:
    """End what time ran out on; returns how many."""
    with read_scope() as session:
        if not queries.anything_over(session, clock.now()):
            return 0
    with session_scope() as session:
        return _end_maintenance(session) + _expire_orders(session)


def _end_maintenance(session: Session) -> int:
    at = clock.now()
    over = queries.maintenance_over(session, at)
    for target in over:
        evidence = {"by": target.maintenance_by, "reason": target.maintenance_reason}
        target.maintenance_by = target.maintenance_reason = None
        target.maintenance_since = target.maintenance_until = None
        keep(
            session, target, "maintenance", "maintenance_ended", states=("on", "off"), evidence=evidence,
            actor=SYSTEM,
        )  # fmt: skip
        tell(session, target)
    return len(over)


def _expire_orders(session: Session) -> int:
    at = clock.now()
    overdue = queries.overdue_orders(session, at)
    for order in overdue:
        order.life, order.ended_at = "expired", at
        target = queries.lock_target(session, order.target_id)
        evidence = {"order_id": order.id, "requested_by": order.requested_by}
        keep(session, target, "order", "order_expired", reason=order.kind, evidence=evidence, actor=SYSTEM)
        tell(session, target)
    return len(overdue)


def forget(session: Session) -> None:
    """Remove events and readings that are old."""
    at = clock.now()
    queries.forget_events(session, at - KEEP_EVENTS, at - KEEP_CONNECTIONS)
    queries.forget_readings(session, at - KEEP_READINGS)
