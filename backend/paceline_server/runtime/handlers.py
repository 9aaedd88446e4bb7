"""Imports the modules of every feature that register the handlers of its outbox topics.

Every process that carries out messages calls `load`, after `set_database`.
"""

from __future__ import annotations

from paceline_server.alerts import service as alerts
from paceline_server.channels import tasks as channels
from paceline_server.detect import tasks as detect
from paceline_server.jobs import tasks as jobs
from paceline_server.store import access
from paceline_server.store.session import read_scope

FEATURES = (jobs, detect, alerts, channels)


def load() -> int:
    """Register all handlers, which importing their modules does; returns the number of features. Raises
    UnknownKindError when there are alerts that no handler could carry on with."""
    # An installation starts as a whole or not at all: the alerts of every project count.
    with access.as_system(), read_scope() as session:
        alerts.require_known_kinds(session)
    return len(FEATURES)
