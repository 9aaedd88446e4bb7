"""Holds all SQL of live events and of open transactions."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from paceline_server.live.schemas import LiveEventOut
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.store.tables.projects import TargetGrant

PAGE = 500
"""Events per read; it bounds the memory for a reader that is far behind."""


@dataclass(frozen=True)
class StreamedEvent:
    """An event in the form in which streams send it."""

    id: int
    kind: str
    run_id: str | None
    json: str
    projects: frozenset[str]
    """The projects that see the event: its own, or those to which its target is granted."""


def newest_id(session: Session) -> int:
    return session.scalar(select(func.max(LiveEvent.id))) or 0


def span(session: Session) -> tuple[int, int]:
    """Return the (oldest, newest) id; zeros if there is no event."""
    oldest, newest = session.execute(
        select(func.min(LiveEvent.id), func.max(LiveEvent.id))
    ).one()
    return oldest or 0, newest or 0


def events(
    session: Session, after: int, until: int | None = None, run_id: str | None = None
) -> list[StreamedEvent]:
    """Return up to `PAGE` events with after < id ≤ until, in order."""
    query = (
        select(LiveEvent).where(LiveEvent.id > after).order_by(LiveEvent.id).limit(PAGE)
    )
    if until is not None:
        query = query.where(LiveEvent.id <= until)
    if run_id is not None:
        query = query.where(LiveEvent.run_id == run_id)
    rows = list(session.scalars(query))
    granted = _grants(session, {row.target_id for row in rows if row.target_id})
    return [
        StreamedEvent(
            row.id,
            row.kind,
            row.run_id,
            LiveEventOut.model_validate(row).model_dump_json(),
            granted.get(row.target_id or "", frozenset())
            if row.project_id is None
            else frozenset({row.project_id}),
        )
        for row in rows
    ]


def _grants(session: Session, target_ids: set[str]) -> dict[str, frozenset[str]]:
    """Return the projects that each target is granted to."""
    projects: dict[str, frozenset[str]] = {}
    if target_ids:
        query = select(TargetGrant).where(TargetGrant.target_id.in_(list(target_ids)))
        for grant in session.scalars(query):
            before = projects.get(grant.target_id, frozenset())
            projects[grant.target_id] = before | {grant.project_id}
    return projects


def write_horizon(session: Session) -> tuple[int, int]:
    """Return the ids of PostgreSQL's (oldest open, next) transaction."""
    row = session.execute(
        text(
            "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS oldest, "
            "pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS next"
        )
    ).one()
    return row.oldest, row.next
