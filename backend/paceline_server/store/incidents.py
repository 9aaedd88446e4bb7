"""Reports incidents to the operator of Paceline: as rows, as errors in the log and as a number in `/metrics`.

An incident is written in the transaction that notices it, and never changed. Operators alert on
`paceline_incidents_total`.
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
"""An item was uploaded twice with different contents (I7)."""
OUTBOX_STUCK = "outbox_stuck"
"""An outbox message keeps failing; it is retried."""
SCHEDULE_REFUSED = "schedule_refused"
"""A schedule's request is no longer valid, because its suite or target changed."""
TARGET_CLAIMED = "target_claimed"
"""An agent announces a target that is bound to another one; a person moves it or dismisses the claim."""
CODES = (ITEM_CONFLICT, OUTBOX_STUCK, SCHEDULE_REFUSED, TARGET_CLAIMED)


def report(session: Session, code: str, detail: dict[str, Any]) -> None:
    """Store and log an incident; `detail` is plain JSON without secrets."""
    session.add(
        Incident(id=ids.new_id("inc"), at=clock.now(), code=code, detail=detail)
    )
    log.error("incident", code=code, **detail)


def counts(session: Session) -> dict[str, int]:
    """Return the number of incidents by code; known codes are always included."""
    rows = session.execute(select(Incident.code, func.count()).group_by(Incident.code))
    return {**dict.fromkeys(CODES, 0), **{row.code: row[1] for row in rows}}
