"""Keeps the orders that people give for a device and that its agent carries out: a check or a restart.

    pending ──the agent did it────────▶ done
       ├──────the agent refused it────▶ refused
       └──────nobody did it in time───▶ expired ──the agent answers late──▶ done or refused

At most one order of a kind waits per device; a second request returns the first one. A device is restarted at
most `MAX_REBOOTS` times a day, by people and the agent's recovery ladder together.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.fleet.device_schemas import OrderKind, OrderRefusedIn
from paceline_server.fleet.target_events import record_event
from paceline_server.kernel import clock, ids
from paceline_server.store.tables.fleet import Target, TargetOrder

EXPIRES_AFTER = timedelta(hours=1)
"""An order expires after an hour, because nobody expects the device to restart any more."""

MAX_REBOOTS = 2
"""Restarts allowed within `REBOOT_WINDOW`: more do not repair a device and delay its jobs."""
REBOOT_WINDOW = timedelta(days=1)


def request_order(
    session: Session, target: Target, kind: OrderKind, who: str
) -> tuple[TargetOrder, bool]:
    """Create an order unless one of this kind waits already. Returns (the waiting order, whether it is new)."""
    at = clock.now()
    for order in queries.pending_orders(session, [target.id], at):
        if order.kind == kind:
            return order, False
    row = TargetOrder(
        id=ids.new_id("tod"),
        target_id=target.id,
        kind=kind,
        life="pending",
        requested_by=who,
        requested_at=at,
        expires_at=at + EXPIRES_AFTER,
        ended_at=None,
    )
    session.add(row)
    session.flush()
    return row, True


def end_answered_orders(
    session: Session,
    target: Target,
    done: Sequence[str],
    refused: Sequence[OrderRefusedIn],
    at: datetime,
) -> None:
    """End the orders that the agent says it carried out or refused.

    Ids of other targets and of orders that have ended are ignored; an expired order may still be answered.
    """
    if not done and not refused:
        return
    orders = queries.unanswered_orders(
        session, target.id, {*done, *(refusal.id for refusal in refused)}
    )
    for order_id in done:
        if (order := orders.pop(order_id, None)) is not None:
            order.life, order.ended_at = "done", at
            evidence = {"order_id": order.id}
            record_event(
                session,
                target,
                "order",
                "order_done",
                reason=order.kind,
                evidence=evidence,
            )
    for refusal in refused:
        if (order := orders.pop(refusal.id, None)) is not None:
            order.life, order.ended_at = "refused", at
            order.why = refusal.why or "its agent gives no reason"
            evidence = {"order_id": order.id, "requested_by": order.requested_by}
            record_event(
                session,
                target,
                "order",
                "order_refused",
                reason=f"{order.kind}: {order.why}",
                evidence=evidence,
            )


def reboots_left(
    session: Session, target_ids: Sequence[str], at: datetime
) -> dict[str, int]:
    """Return how many restarts each target may still have within a day."""
    used = queries.reboots_since(session, target_ids, at - REBOOT_WINDOW)
    return {
        target_id: max(0, MAX_REBOOTS - used.get(target_id, 0))
        for target_id in target_ids
    }
