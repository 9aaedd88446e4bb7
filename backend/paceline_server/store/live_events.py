"""Live events: rows written in the transaction of the change they tell of; a hint wakes the streams after
commit.

Place: written by jobs, ingest, alerts and fleet, read by `live`. Invariant: what a stream shows is what
committed. Small by construction: `samples` carry thinned values, never whole chunks.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from paceline_server.kernel import clock
from paceline_server.store.session import hint
from paceline_server.store.tables.messages import LiveEvent

CHANNEL = "live"


def emit(
    session: Session,
    kind: str,
    run_id: str | None,
    job_id: str | None,
    data: dict[str, Any],
) -> None:
    """Tell streams of a change. `kind` is one of `live.schemas.LiveKind`; `data` must be plain JSON."""
    session.add(
        LiveEvent(kind=kind, at=clock.now(), run_id=run_id, job_id=job_id, data=data)
    )
    hint(session, CHANNEL)


def prune(session: Session, before: datetime) -> None:
    """Forget events older than that; a stream that asks for them is told to start over."""
    session.execute(delete(LiveEvent).where(LiveEvent.at < before))
