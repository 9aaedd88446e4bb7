"""Orders: what a person asks an agent to do with a device, carried by its heartbeats.

    pending ──the agent says it is done──▶ done
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
from paceline_server.fleet.device_schemas import OrderKind
from paceline_server.fleet.events import keep
from paceline_server.kernel import clock, ids
from paceline_server.store.tables.fleet import Target, TargetOrder

EXPIRES_AFTER = timedelta(hours=1)
"""A person who asked an hour ago has gone on to something else; a device that restarts now would surprise."""

MAX_REBOOTS = 2
"""a day: more do not mend a device, they wear the patience of whoever measures on it. Issue 5."""
A_DAY = timedelta(days=1)


def request(session: Session, target: Target, kind: OrderKind, who: str) -> tuple[TargetOrder, bool]:
    """(the order that waits, whether it is new)."""
    at = clock.now()
    for one in waiting(session, target.id, at):
        if one.kind == kind:
            return one, False
    row = TargetOrder(
        id=ids.new_id("tod"), target_id=target.id, kind=kind, life="pending", requested_by=who,
        requested_at=at, expires_at=at + EXPIRES_AFTER, ended_at=None,
    )  # fmt: skip
    session.add(row)
    session.flush()
    return row, True


def waiting(session: Session, target_id: str, at: datetime) -> list[TargetOrder]:
    """Orders to be carried out, the oldest first."""
    return [one for one in queries.pending_orders(session, [target_id]) if one.expires_at > at]


def carried_out(session: Session, target: Target, order_ids: Sequence[str], at: datetime) -> None:
    """End the orders an agent says it has carried out; those that ended before, or are of another target,
    stay."""
    for one in queries.pending_orders(session, [target.id]):
        if one.id in order_ids:
            one.life, one.ended_at = "done", at
            keep(session, target, "order", "order_done", reason=one.kind, evidence={"order_id": one.id})


def reboots_left(session: Session, target_ids: Sequence[str], at: datetime) -> dict[str, int]:
    """Per target: how many restarts may still be asked for within a day."""
    used = queries.reboots_since(session, target_ids, at - A_DAY)
    return {one: max(0, MAX_REBOOTS - used.get(one, 0)) for one in target_ids}
