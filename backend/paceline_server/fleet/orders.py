"""Orders: what a person asks an agent to do with a device, carried by its heartbeats.

    pending ──the agent says it is done──▶ done ◀──┐ it was heard of late: the evidence counts
       ├──── the agent says it will not ──▶ refused ◀┤
       └──── nobody carried it out in time ──▶ expired

Place: under `life` and `actions`. Invariants: an order is a row before it is anything else; of one kind at
most one waits per device, asking again is the same order; a device restarts at most `MAX_REBOOTS` times a
day, whoever asks: people here, the recovery ladder on its agent, and both are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.fleet.device_schemas import OrderKind, OrderRefusedIn
from paceline_server.fleet.events import keep
from paceline_server.kernel import clock, ids
from paceline_server.store.tables.fleet import Target, TargetOrder

EXPIRES_AFTER = timedelta(hours=1)
"""A person who asked an hour ago has gone on to something else; a device that restarts now would surprise."""

MAX_REBOOTS = 2
"""a day: more do not mend a device, they wear the patience of whoever measures on it. Issue 5."""
A_DAY = timedelta(days=1)


def request(
    session: Session, target: Target, kind: OrderKind, who: str
) -> tuple[TargetOrder, bool]:
    """(the order that waits, whether it is new)."""
    at = clock.now()
    for one in waiting(session, target.id, at):
        if one.kind == kind:
            return one, False
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


def waiting(session: Session, target_id: str, at: datetime) -> list[TargetOrder]:
    """Orders to be carried out, the oldest first."""
    return [
        order
        for order in queries.pending_orders(session, [target_id])
        if order.expires_at > at
    ]


def answered(
    session: Session,
    target: Target,
    done: Sequence[str],
    refused: Sequence[OrderRefusedIn],
    at: datetime,
) -> None:
    """End the orders an agent says it has carried out, and those it will not, with why. Those that ended
    before, or are of another target, stay; one that only expired was answered late."""
    if not done and not refused:
        return
    found = queries.unanswered_orders(
        session, target.id, {*done, *(one.id for one in refused)}
    )
    for order_id in done:
        if (order := found.pop(order_id, None)) is not None:
            order.life, order.ended_at = "done", at
            keep(
                session,
                target,
                "order",
                "order_done",
                reason=order.kind,
                evidence={"order_id": order.id},
            )
    for one in refused:
        if (order := found.pop(one.id, None)) is not None:
            order.life, order.ended_at, order.why = (
                "refused",
                at,
                one.why or "its agent does not say why",
            )
            evidence = {"order_id": order.id, "requested_by": order.requested_by}
            reason = f"{order.kind}: {order.why}"
            keep(
                session,
                target,
                "order",
                "order_refused",
                reason=reason,
                evidence=evidence,
            )


def reboots_left(
    session: Session, target_ids: Sequence[str], at: datetime
) -> dict[str, int]:
    """Per target: how many restarts may still be asked for within a day."""
    used = queries.reboots_since(session, target_ids, at - A_DAY)
    return {
        target_id: max(0, MAX_REBOOTS - used.get(target_id, 0))
        for target_id in target_ids
    }
