"""Records the events of a target and lists them as pages.

An event is written in the transaction of the change it describes and never changed except to count a repeated
health check (`heartbeats.py`); `expiry.py` deletes old ones.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.fleet.device_schemas import Axis, TargetEventOut
from paceline_server.fleet.target_messages import describe_event
from paceline_server.kernel import clock, ids
from paceline_server.kernel.wire import Page
from paceline_server.store.page import page
from paceline_server.store.tables.fleet import Target, TargetEvent

AGENT, SYSTEM = "agent", "system"
"""Actors of events that no person caused."""


def record_event(
    session: Session,
    target: Target,
    axis: Axis,
    event: str,
    *,
    states: tuple[str | None, str | None] = (None, None),
    reason: str | None = None,
    evidence: dict[str, Any] | None = None,
    actor: str = AGENT,
    ref: str | None = None,
    at: datetime | None = None,
) -> None:
    """Record one event of a target. `states`: before and after; `ref`: the id its reporter gave it."""
    session.add(
        TargetEvent(
            id=ids.new_id("tev"),
            target_id=target.id,
            at=at or clock.now(),
            axis=axis,
            event=event,
            from_state=states[0],
            to_state=states[1],
            reason=reason,
            evidence=evidence or {},
            actor=actor,
            ref=ref,
        )
    )
    session.flush()


def list_events(
    session: Session,
    target_id: str,
    axis: Axis | None,
    *,
    limit: int,
    cursor: str | None,
) -> Page[TargetEventOut]:
    """Return events of a target in order of when they happened (not when they were reported), the newest first."""
    return page(
        session,
        queries.events(target_id, axis),
        [TargetEvent.at, TargetEvent.id],
        lambda row: [row.at, row.id],
        _event_out,
        limit=limit,
        cursor=cursor,
    )


def _event_out(row: TargetEvent) -> TargetEventOut:
    return TargetEventOut.of_row(row, words=describe_event(row))
