"""Imports the `tasks` of every feature, which register the handlers of its outbox topics.

Every process that carries out messages calls `load`.
"""

from __future__ import annotations

from paceline_server.alerts import tasks as alerts
from paceline_server.channels import tasks as channels
from paceline_server.detect import tasks as detect
from paceline_server.jobs import tasks as jobs

FEATURES = (jobs, detect, alerts, channels)


def load() -> int:
    """Register all handlers, which importing their modules does; returns the number of features."""
    return len(FEATURES)
