"""Decides when the agent checks a device, when it recovers it, and when it gives up.

Pure: `(episode, event) → episode`; the server decides the health itself. Only a failed check starts recovery,
never a benchmark or silence. Only the last check of an episode is reported, so that one bad minute does not
count as three failures.

              CheckDue                   CheckPassed · DeviceUnfit (no rung can help: the server decides)
    idle ───────────────▶ checking ──────────────────────────────▶ idle
     ▲                     │     ▲
     │          CheckFailed│     │RungTried (check again)
     │                     ▼     │
     │                   recovering
     │                     │
     │                     │ RungTried(give_up)
     │  CheckDue           ▼
     └────────────────── given_up ── left only when a person, or the server, asks for a check

Recovery climbs a ladder: each rung is tried at most LIMITS times per episode, lower rungs first, and a rung that cannot
help is skipped. Giving up asks the server for quarantine, with everything that was tried as evidence.

    reconnect ──▶ new_connection ──▶ adb_reconnect ──▶ reboot ──▶ give_up
     (twice)        (twice)          (of an adb         (at most 2 a day; it must answer,
                                      server)            and be reachable afterwards)
"""

from __future__ import annotations

import enum
from typing import Literal

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
"""Tries per episode. There are two where a handshake may fail once while adbd restarts. A restart that did not help
will not help a minute later."""


class Ladder(msgspec.Struct, frozen=True):
    """The rungs tried in this episode, in order."""

    tried: tuple[Rung, ...] = ()

    def with_tried(self, rung: Rung) -> Ladder:
        return Ladder((*self.tried, rung))


class RecoveryCapabilities(msgspec.Struct, frozen=True):
    """The possible ways of recovery. `by_server`: a route leads through an adb server. `speaks`: the device accepts a
    restart. `survives_restart`: after a restart, the device can be reached without a person.
    """

    by_server: bool
    speaks: bool
    reboots_left: int
    survives_restart: bool = True


def next_rung(ladder: Ladder, capabilities: RecoveryCapabilities) -> Rung:
    """Return the lowest rung that has tries left and can help; give_up when there is none."""
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


State = Literal["idle", "checking", "recovering", "given_up"]


class HealthEpisode(msgspec.Struct, frozen=True):
    """The state of checking and recovering a device. `why` is the reason for the check, and later what failed."""

    state: State = "idle"
    why: str = ""
    ladder: Ladder = Ladder()


class CheckDue(msgspec.Struct, frozen=True):
    """A check is requested by the server or a person, or because the device came back."""

    why: str


class CheckPassed(msgspec.Struct, frozen=True):
    """The check found nothing wrong."""


class CheckFailed(msgspec.Struct, frozen=True):
    """The check failed for a reason that recovery may remove."""

    text: str


class DeviceUnfit(msgspec.Struct, frozen=True):
    """The check failed for a reason that recovery cannot remove: too hot, battery low, storage full."""

    text: str


class RungTried(msgspec.Struct, frozen=True):
    """A rung was tried. Only a check can tell whether it helped."""

    rung: Rung


Event = CheckDue | CheckPassed | CheckFailed | DeviceUnfit | RungTried


def next_episode(episode: HealthEpisode, event: Event) -> HealthEpisode:
    """Return the episode after `event`."""
    match event:
        case CheckDue():
            # An episode that is under way answers this request too.
            under_way = episode.state in {"checking", "recovering"}
            return episode if under_way else HealthEpisode("checking", event.why)
        case CheckPassed():
            return HealthEpisode()
        case DeviceUnfit():
            return HealthEpisode("idle", event.text)
        case CheckFailed():
            return HealthEpisode("recovering", event.text, episode.ladder)
        case RungTried():
            gives_up = event.rung is Rung.GIVE_UP
            return HealthEpisode(
                "given_up" if gives_up else "checking",
                episode.why,
                episode.ladder.with_tried(event.rung),
            )


def may_lease(episode: HealthEpisode, server_health: str | None) -> bool:
    """Return whether the lane may request jobs. `server_health` is None if the server keeps no health of the target."""
    return episode.state == "idle" and server_health in {None, "good"}
