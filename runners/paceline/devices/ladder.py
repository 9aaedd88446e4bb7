"""The recovery ladder: what to try next for a device whose health check failed, and when to give up.

    reconnect ──▶ new_connection ──▶ adb_reconnect ──▶ reboot ──▶ give_up
     (twice)        (twice)          (of an adb         (at most 2 a day; it must answer,
                                      server)            and be reachable afterwards)

Pure. Each rung is tried at most LIMITS times per episode, lower rungs first; a rung that cannot help is
skipped. Giving up asks the server for quarantine, with everything that was tried as evidence. `recovery.py`
carries rungs out.
"""

from __future__ import annotations

import enum

import msgspec


class Rung(enum.StrEnum):
    """The rungs in the order they are tried; the server gets these names."""

    RECONNECT = "reconnect"
    """Identifies the device on its connection, which is opened again if it was lost."""
    NEW_CONNECTION = "new_connection"
    """Closes the connection and tries every route."""
    ADB_RECONNECT = "adb_reconnect"
    """`adb -s NAME reconnect`; for a device by TCP, disconnect and connect."""
    REBOOT = "reboot"
    GIVE_UP = "give_up"


LIMITS = {
    Rung.RECONNECT: 2,
    Rung.NEW_CONNECTION: 2,
    Rung.ADB_RECONNECT: 1,
    Rung.REBOOT: 1,
}
"""Tries per episode. Two, because a handshake fails once while adbd restarts. A restart that did not help will
not help a minute later."""


class Ladder(msgspec.Struct, frozen=True):
    """The rungs tried in this episode, in order."""

    tried: tuple[Rung, ...] = ()

    def with_tried(self, rung: Rung) -> Ladder:
        return Ladder((*self.tried, rung))


class RecoveryCapabilities(msgspec.Struct, frozen=True):
    """The possible ways of recovery. `by_server`: a route leads through an adb server; `speaks`: a restart can
    be requested; `survives_restart`: the device can be reached after a restart without a person.
    """

    by_server: bool
    speaks: bool
    reboots_left: int
    survives_restart: bool = True


def next_rung(ladder: Ladder, capabilities: RecoveryCapabilities) -> Rung:
    """The lowest rung that has tries left and can help; give_up when there is none."""
    for rung, limit in LIMITS.items():
        if ladder.tried.count(rung) < limit and _is_possible(rung, capabilities):
            return rung
    return Rung.GIVE_UP


def _is_possible(rung: Rung, capabilities: RecoveryCapabilities) -> bool:
    if rung is Rung.ADB_RECONNECT:
        return capabilities.by_server
    if rung is Rung.REBOOT:
        can_return = capabilities.survives_restart and capabilities.reboots_left > 0
        return capabilities.speaks and can_return
    return True
