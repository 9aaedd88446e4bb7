"""Imports every feature's `tasks`, which register what carries out their outbox topics.

Place: loaded by whatever process carries messages out. Invariant: a topic somebody adds has a handler here.
"""

from __future__ import annotations

from paceline_server.alerts import tasks as alerts
from paceline_server.detect import tasks as detect
from paceline_server.jobs import tasks as jobs

FEATURES = (jobs, detect, alerts)


def load() -> int:
    """Make sure all handlers are registered (importing their modules does it); returns of how many
    features."""
    return len(FEATURES)
