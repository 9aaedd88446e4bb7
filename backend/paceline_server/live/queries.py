"""All SQL of live: events in the order of their ids, and the oldest transaction still open."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from paceline_server.live.schemas import LiveEventOut
from paceline_server.store.tables.messages import LiveEvent

PAGE = 500
"""Events read at a time: bounds memory however far behind a reader is."""


@dataclass(frozen=True)
class StreamedEvent:
    """An event as it is sent to streams."""

    id: int
    kind: str
    run_id: str | None
    json: str


def newest_id(session: Session) -> int:
    return session.scalar(select(func.max(LiveEvent.id))) or 0


def span(session: Session) -> tuple[int, int]:
    """(oldest, newest) id; zeros when there is no event."""
    oldest, newest = session.execute(
        select(func.min(LiveEvent.id), func.max(LiveEvent.id))
    ).one()
    return oldest or 0, newest or 0


def events(
    session: Session, after: int, until: int | None = None, run_id: str | None = None
) -> list[StreamedEvent]:
    """Up to `PAGE` events with after < id ≤ until, in order."""
    query = (
        select(LiveEvent).where(LiveEvent.id > after).order_by(LiveEvent.id).limit(PAGE)
    )
    if until is not None:
        query = query.where(LiveEvent.id <= until)
    if run_id is not None:
        query = query.where(LiveEvent.run_id == run_id)
    return [
        StreamedEvent(
            row.id,
            row.kind,
            row.run_id,
            LiveEventOut.model_validate(row).model_dump_json(),
        )
        for row in session.scalars(query)
    ]


def write_horizon(session: Session) -> tuple[int, int]:
    """PostgreSQL: (oldest transaction still open, first one not yet begun), as of now."""
    row = session.execute(
        text(
            "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest, "
            "pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next"
        )
    ).one()
    return row.oldest, row.next
