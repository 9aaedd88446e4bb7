"""Celery's way into `jobs`: the periodic look at what time did. Three lines, no decisions."""

from __future__ import annotations

from paceline_server.jobs import expiry, schedules


def sweep() -> int:
    """Take back leases that ran out, expire unleased jobs, ask for scheduled runs; returns how much moved."""
    return expiry.sweep() + schedules.tick()
