"""The events of a target's life: kept by whoever changes it, read back as pages.

Place: under `life`, `orders`, `actions` and `upkeep`. Invariant: rows are only added (and forgotten when they
are old); each stands in the transaction of what it tells of. Decides nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.fleet import queries, words
from paceline_server.fleet.device_schemas import Axis, TargetEventOut
from paceline_server.kernel import clock, ids
from paceline_server.kernel.wire import Page
from paceline_server.store.page import page
from paceline_server.store.tables.fleet import Target, TargetEvent

AGENT, SYSTEM = "agent", "system"
"""Actors of events that no person caused."""


def keep(
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
    """Keep one step of a target's life. `states`: before and after; `ref`: what its reporter calls it."""
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


def listed(
    session: Session,
    target_id: str,
    axis: Axis | None,
    *,
    limit: int,
    cursor: str | None,
) -> Page[TargetEventOut]:
    """Events of a target, those that happened last first: what an agent tells late stands where it was."""
    return page(
        session,
        queries.events(target_id, axis),
        [TargetEvent.at, TargetEvent.id],
        lambda row: [row.at, row.id],
        _out,
        limit=limit,
        cursor=cursor,
    )


def _out(row: TargetEvent) -> TargetEventOut:
    own = {
        name: getattr(row, name)
        for name in TargetEventOut.model_fields
        if name != "words"
    }
    return TargetEventOut.model_validate({**own, "words": words.event(row)})
