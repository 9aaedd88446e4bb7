"""What time does to targets: maintenance that is over, orders nobody carried out, rows that are old.

Place: called by the sweeper, in transactions of its own. Invariant: idle, it only reads.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import queries, words
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
        ended = _end_maintenance(session)
    with session_scope() as session:
        return ended + _expire_orders(session)


def _end_maintenance(session: Session) -> int:
    at = clock.now()
    over = [
        target
        for target in queries.lock_targets(
            session, queries.maintenance_over(session, at)
        )
        if target.maintenance_by is not None and not words.in_maintenance(target, at)
    ]
    for target in over:
        evidence = {"by": target.maintenance_by, "reason": target.maintenance_reason}
        target.maintenance_by = target.maintenance_reason = None
        target.maintenance_since = target.maintenance_until = None
        keep(
            session,
            target,
            "maintenance",
            "maintenance_ended",
            states=("on", "off"),
            evidence=evidence,
            actor=SYSTEM,
        )
        tell(session, target)
    return len(over)


def _expire_orders(session: Session) -> int:
    at = clock.now()
    targets = queries.lock_targets(
        session, queries.targets_of_overdue_orders(session, at)
    )
    by_id = {target.id: target for target in targets}
    overdue = [
        one
        for one in queries.pending_orders(session, list(by_id))
        if one.expires_at <= at
    ]
    for order in overdue:
        order.life, order.ended_at = "expired", at
        target = by_id[order.target_id]
        evidence = {"order_id": order.id, "requested_by": order.requested_by}
        keep(
            session,
            target,
            "order",
            "order_expired",
            reason=order.kind,
            evidence=evidence,
            actor=SYSTEM,
        )
        tell(session, target)
    return len(overdue)


def forget() -> None:
    """Remove events and readings that are old, each in a transaction of its own: on SQLite they hold up
    every writer meanwhile."""
    at = clock.now()
    with session_scope() as session:
        queries.forget_events(session, at - KEEP_EVENTS, at - KEEP_CONNECTIONS)
    with session_scope() as session:
        queries.forget_readings(session, at - KEEP_READINGS)
