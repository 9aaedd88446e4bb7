"""The agent's part of a device's health: when to check, when to climb the ladder, when to give up.

Place in the journey: between what the server decides (health is a row there, §4) and what the lane does next.
Invariants: pure, `(duty, event) → duty`; only a check's own failure starts an episode of recovery, never a
benchmark's and never silence (that is the connection axis); an episode ends healed or given up, and only its
end is reported as the check: failures in between are evidence of the rungs, so that one bad minute is not
three failures; gates that are shut (hot, empty) are no failure: the server waits for them.

              Due                        Passed · Unfit (nothing a rung can mend: the server decides)
    idle ───────────────▶ checking ──────────────────────────────▶ idle
     ▲                     │     ▲
     │               Failed│     │Climbed (look again)
     │                     ▼     │
     │                   recovering
     │                     │
     │                     │ Climbed(give_up)
     │  Due                ▼
     └────────────────── given_up ── Passed never comes by itself: a person, or the server, makes a check due
"""

from __future__ import annotations

from typing import Literal

import msgspec

from paceline.devices.ladder import Ladder, Rung

State = Literal["idle", "checking", "recovering", "given_up"]


class HealthEpisode(msgspec.Struct, frozen=True):
    """What the lane owes this device. `why`: of checking, who made it due; later, what failed."""

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
    """The check failed for one it cannot mend: too hot, battery low, storage full."""

    text: str


class RungTried(msgspec.Struct, frozen=True):
    """A rung was tried; whether it helped only a check can tell."""

    rung: Rung


Event = CheckDue | CheckPassed | CheckFailed | DeviceUnfit | RungTried


def next_episode(duty: HealthEpisode, event: Event) -> HealthEpisode:
    """The duty after `event`."""
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
    """Whether the lane asks for jobs. `server_health` None: a server that keeps no health."""
    return duty.state == "idle" and server_health in {None, "good"}
