"""Celery's way into `jobs`: the periodic look at what time did. Three lines, no decisions."""

from __future__ import annotations

from paceline_server.jobs import expiry


def sweep() -> int:
    """Take back leases that ran out and expire unleased jobs; returns how many jobs moved."""
    return expiry.sweep()
