"""Celery's way into `jobs`: the periodic look at what time did, and its outbox topic. No decisions."""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.jobs import expiry, schedules, service
from paceline_server.store.outbox import handles


@handles(service.CANCEL)
def cancel(session: Session, key: str) -> None:
    """Nobody waits for a run any more. `key` is its id."""
    service.cancel(session, key)


def sweep() -> int:
    """Take back leases that ran out, expire unleased jobs, ask for scheduled runs; returns how much moved."""
    return expiry.sweep() + schedules.run_due()
