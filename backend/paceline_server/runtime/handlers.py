"""Imports the modules that register the handlers of outbox topics.

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
    """Check that every stored alert has a known kind; returns the number of features with handlers. Raises
    UnknownKindError.

    The handlers are registered when this module is imported.
    """
    # Alerts of every project count, because an installation starts as a whole or not at all.
    with access.as_system(), read_scope() as session:
        alerts.require_known_kinds(session)
    return len(FEATURES)
