"""Imports every feature's `tasks`, which register what carries out their outbox topics.

Place: called by whatever process carries messages out. Invariant: a topic somebody adds has a handler here.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

FEATURES = ("jobs", "detect", "alerts")


def load() -> None:
    """Register all handlers."""
    for feature in FEATURES:
        if find_spec(f"paceline_server.{feature}.tasks") is not None:
            import_module(f"paceline_server.{feature}.tasks")
