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
"""

from __future__ import annotations

from typing import Literal

import msgspec

from paceline.devices.ladder import Ladder, Rung

State = Literal["idle", "checking", "recovering", "given_up"]


class HealthEpisode(msgspec.Struct, frozen=True):
    """The state of checking and recovering a device. `why`: the reason for the check; later, what failed."""

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
    """The episode after `event`."""
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
            over = event.rung is Rung.GIVE_UP
            return HealthEpisode(
                "given_up" if over else "checking",
                episode.why,
                episode.ladder.with_tried(event.rung),
            )


def may_lease(episode: HealthEpisode, server_health: str | None) -> bool:
    """Whether the lane may request jobs. `server_health` None: the server keeps no health of it."""
    return episode.state == "idle" and server_health in {None, "good"}
