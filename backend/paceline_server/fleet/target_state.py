"""Decides whether a target is reachable, held back or free to use.

The condition of a lease (`jobs/queries.py`) says the same in SQL; a test holds the two together.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_server.kernel import settings
from paceline_server.store.tables.fleet import Target

HoldKind = Literal["maintenance", "quarantined", "cooling"]


def is_online(last_seen_at: datetime | None, at: datetime) -> bool:
    """Return whether something last heard of at `last_seen_at` counts as reachable at `at`."""
    if last_seen_at is None:
        return False
    return (at - last_seen_at).total_seconds() <= settings.current().offline_after_s


def is_connected(target: Target) -> bool:
    """Return whether its agent reaches it; an agent always reaches its own host."""
    return target.kind != "device" or target.connection == "online"


def is_reachable(target: Target, at: datetime) -> bool:
    """Return whether its agent is online and, for a device, connected to it."""
    return is_online(target.last_seen_at, at) and is_connected(target)


def is_in_maintenance(target: Target, at: datetime) -> bool:
    """Return whether a person holds it back now."""
    ended = target.maintenance_until is not None and target.maintenance_until <= at
    return target.maintenance_by is not None and not ended


def hold_of(target: Target, at: datetime) -> tuple[HoldKind | None, str | None]:
    """Return (hold, reason). Maintenance goes before quarantine, quarantine before cooling."""
    if is_in_maintenance(target, at):
        return "maintenance", target.maintenance_reason
    if target.health == "quarantined":
        return "quarantined", target.health_reason
    if target.health == "recovering":
        return "cooling", target.health_reason
    return None, None


def is_free_to_use(target: Target, at: datetime) -> bool:
    """Return whether "every target" includes this one: it is reachable and has no hold.

    A pending health check or a refusal does not exclude it; its jobs then wait.
    """
    return is_reachable(target, at) and hold_of(target, at)[0] is None
