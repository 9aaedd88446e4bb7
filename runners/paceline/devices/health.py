"""The agent's part in a device's health: when to check, when to recover, when to give up.

Pure: `(episode, event) → episode`; the server decides the health itself (§4). Only a failed check starts
recovery, never a benchmark and never silence, which is the connection's matter. Only the end of an episode is
reported as the check; failures in between are evidence of the rungs, so that one bad minute does not count as
three failures. A device that is hot or empty has not failed: the server waits for it.

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
"""

from __future__ import annotations

from typing import Literal

import msgspec

from paceline.devices.ladder import Ladder, Rung

State = Literal["idle", "checking", "recovering", "given_up"]


class HealthEpisode(msgspec.Struct, frozen=True):
    """Where the agent is in checking and recovering a device. `why`: the reason of the check; later, what
    failed."""

    state: State = "idle"
    why: str = ""
    ladder: Ladder = Ladder()


class CheckDue(msgspec.Struct, frozen=True):
    """A check is wanted: by the server, a person's order, or because the device came back."""

    why: str


class CheckPassed(msgspec.Struct, frozen=True):
    """The check found nothing wrong."""


class CheckFailed(msgspec.Struct, frozen=True):
    """The check failed for a reason that a rung of the ladder may mend."""

    text: str


class DeviceUnfit(msgspec.Struct, frozen=True):
    """The check failed for a reason that no rung can mend: too hot, battery low, storage full."""

    text: str


class RungTried(msgspec.Struct, frozen=True):
    """A rung was tried; whether it helped only a check can tell."""

    rung: Rung


Event = CheckDue | CheckPassed | CheckFailed | DeviceUnfit | RungTried


def next_episode(duty: HealthEpisode, event: Event) -> HealthEpisode:
    """The episode after `event`."""
    match event:
        case CheckDue():
            under_way = duty.state in {
                "checking",
                "recovering",
            }  # that episode answers this one, too
            return duty if under_way else HealthEpisode("checking", event.why)
        case CheckPassed():
            return HealthEpisode()
        case DeviceUnfit():
            return HealthEpisode("idle", event.text)
        case CheckFailed():
            return HealthEpisode("recovering", event.text, duty.ladder)
        case RungTried():
            over = event.rung is Rung.GIVE_UP
            return HealthEpisode(
                "given_up" if over else "checking",
                duty.why,
                duty.ladder.climbed(event.rung),
            )


def may_lease(duty: HealthEpisode, server_health: str | None) -> bool:
    """Whether the lane may request jobs. `server_health` None: a server that keeps no health."""
    return duty.state == "idle" and server_health in {None, "good"}
