"""Incidents: what who operates Paceline should know. A row, an error in the log, a number in `/metrics`.

Place: written by whoever notices (the outbox, ingest) in the transaction that keeps it. Invariant: rows are
only added. Tells nobody by itself: operators alert on `paceline_incidents_total`.
"""

from __future__ import annotations

from typing import Any

import structlog
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from paceline_server.kernel import clock, ids
from paceline_server.store.tables.messages import Incident

log = structlog.get_logger("paceline.incidents")

ITEM_CONFLICT = "item_conflict"
"""Two contents claimed one identity; neither was preferred (I7)."""
OUTBOX_STUCK = "outbox_stuck"
"""Something that must follow from a change keeps failing; it is tried on."""
SCHEDULE_REFUSED = "schedule_refused"
"""What a schedule asks for is not allowed any more: its suite or its target changed."""
CODES = (ITEM_CONFLICT, OUTBOX_STUCK, SCHEDULE_REFUSED)


def report(session: Session, code: str, detail: dict[str, Any]) -> None:
    """Keep an incident; `detail` is plain JSON without secrets."""
    session.add(
        Incident(id=ids.new_id("inc"), at=clock.now(), code=code, detail=detail)
    )
    log.error("incident", code=code, **detail)


def counts(session: Session) -> dict[str, int]:
    """How many there ever were, by code; known codes are always there."""
    rows = session.execute(select(Incident.code, func.count()).group_by(Incident.code))
    return {**dict.fromkeys(CODES, 0), **{row.code: row[1] for row in rows}}
