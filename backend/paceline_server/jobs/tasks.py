"""Handles the background work of jobs: the sweeper's periodic call and the outbox topic that cancels a run."""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.jobs import expiry, schedules, service
from paceline_server.store.outbox import handle_topic


@handle_topic(service.CANCEL_TOPIC)
def cancel(session: Session, key: str) -> None:
    """Cancel the run whose id is `key`."""
    service.cancel(session, key)


def sweep() -> int:
    """End expired leases and jobs, create scheduled runs; returns how many rows moved."""
    return expiry.sweep() + schedules.run_due()
