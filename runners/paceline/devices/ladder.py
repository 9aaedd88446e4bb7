"""The recovery ladder: what to try next for a device whose health check failed, and when to give up.

    reconnect ──▶ new_connection ──▶ adb_reconnect ──▶ reboot ──▶ give_up
     (twice)        (twice)          (of an adb         (at most 2 a day; it must answer,
                                      server)            and be reachable afterwards)

Pure. Each rung is tried at most LIMITS times per episode, lower rungs first; one that cannot help is skipped.
Giving up tries nothing: it asks the server for quarantine, with everything that was tried as evidence. Rungs
are carried out by `recovery.py`.
"""

from __future__ import annotations

import enum

import msgspec


class Rung(enum.StrEnum):
    """In the order they are climbed; the names go to the server as they are."""

    RECONNECT = "reconnect"
    """Asks again where it was spoken to, connecting only where that was lost."""
    NEW_CONNECTION = "new_connection"
    """Closes what stands and tries every route."""
    ADB_RECONNECT = "adb_reconnect"
    """`adb -s NAME reconnect`; of a device by TCP, disconnect and connect."""
    REBOOT = "reboot"
    GIVE_UP = "give_up"


LIMITS = {
    Rung.RECONNECT: 2,
    Rung.NEW_CONNECTION: 2,
    Rung.ADB_RECONNECT: 1,
    Rung.REBOOT: 1,
}
"""Tries per episode. Two, because a handshake that meets a restarting adbd fails once for no reason; a
restart that did not help once will not help a second time a minute later."""


class Ladder(msgspec.Struct, frozen=True):
    """What was tried in this episode, in order."""

    tried: tuple[Rung, ...] = ()

    def climbed(self, rung: Rung) -> Ladder:
        return Ladder((*self.tried, rung))


class RecoveryCapabilities(msgspec.Struct, frozen=True):
    """What is possible now. `by_server`: an adb server is a route; `speaks`: a restart can be asked for;
    `survives_restart`: it can be reached after one without a person."""

    by_server: bool
    speaks: bool
    reboots_left: int
    survives_restart: bool = True


def next_rung(ladder: Ladder, means: RecoveryCapabilities) -> Rung:
    """The lowest rung that has tries left and can help; give_up when there is none."""
    for rung, limit in LIMITS.items():
        if ladder.tried.count(rung) < limit and _possible(rung, means):
            return rung
    return Rung.GIVE_UP


def _possible(rung: Rung, means: RecoveryCapabilities) -> bool:
    if rung is Rung.ADB_RECONNECT:
        return means.by_server
    if rung is Rung.REBOOT:
        return means.speaks and means.reboots_left > 0 and means.survives_restart
    return True
