"""Writes live events in the transaction of the change they describe; a hint wakes the streams after the commit.

Streams therefore show only what was committed. Events are small: `samples` carry thinned values.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import delete, null
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
    """Add a live event of the session's project. `kind` is one of `live.schemas.LiveKind`; `data` must be plain JSON."""
    _add(session, LiveEvent(kind=kind, run_id=run_id, job_id=job_id, data=data))


def emit_target(session: Session, target_id: str, data: dict[str, Any]) -> None:
    """Add a live event about a target for every project it is granted to. `data` must not name a project's job."""
    event = LiveEvent(kind="target", run_id=None, job_id=None, data=data)
    event.project_id, event.target_id = null(), target_id
    _add(session, event)


def _add(session: Session, event: LiveEvent) -> None:
    event.at = clock.now()
    session.add(event)
    hint(session, CHANNEL)


def prune(session: Session, before: datetime) -> None:
    """Delete events from before an instant; a stream that asks for them is told to start over."""
    session.execute(delete(LiveEvent).where(LiveEvent.at < before))
