"""The connection status of one device: whether the agent can talk to it, and if not, why and what to do.

Pure: `(status, event, at_s) → status`. Every state but `online` has a reason and, where a person can help,
advice. After a requested restart, silence means `booting`, not `absent`.

                 DeviceAnswered(booted)                         KeyRejected · TlsRequired
    absent ◀─┬──────────────────────▶ online ◀──────────────────────────▶ unauthorized
       ▲     │ NoAnswer                 ▲ │ DeviceSilent                    (from every state)
       │     │ (from every state)       │ │ (from every state but booting)
       │     │  DeviceAnswered(booted)  │ ▼
       │     ├──────────────────────▶ offline ─ DeviceAnswered(not booted) ─▶ booting
       │     │                                                              ▲  │ DeviceAnswered(booted) ▶ online
       │     └── NoAnswer, DeviceSilent within BOOT_LIMIT_S: stays booting ─┼──┤
       └──────── NoAnswer after BOOT_LIMIT_S ───────────────────────────────┼──┘
                                      RestartRequested (from every state) ──┘
    WrongDevice (another serial at the only route): absent, from every state; NoRoute leaves it so.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from paceline.adb.port import (
    AbsentError,
    AdbError,
    TlsRequiredError,
    UnauthorizedError,
)
from paceline.devices.errors import WrongDeviceError

State = Literal["absent", "offline", "unauthorized", "booting", "online"]

BOOT_LIMIT_S = 300.0
"""Longest time after a restart before silence means absence. Phones of ten years boot in 20 to 120 s; the first
start after an update takes a few minutes."""

CABLE = "Plug it in, wake it, and check that USB debugging is on; `adb devices` should list it."
SPEAK = "Plug it in again; if that does not help, switch USB debugging off and on."


class ConnectionStatus(msgspec.Struct, frozen=True):
    """The connection status of one device. `since_s`: monotonic, when this state began."""

    state: State
    reason: str | None = None
    advice: str | None = None
    since_s: float = 0.0
    by_us: bool = False
    """With `booting`: this agent requested the restart, so silence is expected."""
    by_wrong_device: bool = False
    """With `absent`: another device has its route. The reason stays although the route is dropped."""


class DeviceAnswered(msgspec.Struct, frozen=True):
    """The device identified itself; `booted`: sys.boot_completed is 1."""

    booted: bool


class NoAnswer(msgspec.Struct, frozen=True):
    """Nobody answers at any route."""

    text: str
    advice: str = CABLE


class NoRoute(msgspec.Struct, frozen=True):
    """The device has no route left."""


class DeviceSilent(msgspec.Struct, frozen=True):
    """The device is known at a route but does not answer, or stopped answering."""

    text: str
    advice: str = SPEAK


class KeyRejected(msgspec.Struct, frozen=True):
    """The device does not accept this agent's key (yet)."""

    text: str
    advice: str


class TlsRequired(msgspec.Struct, frozen=True):
    """The device uses wireless debugging: only a paired adb server can connect."""

    text: str
    advice: str


class WrongDevice(msgspec.Struct, frozen=True):
    """Another device answers where this one was."""

    serial: str
    route: str


class RestartRequested(msgspec.Struct, frozen=True):
    """A person or this agent requested a restart."""

    by: str


Event = (
    DeviceAnswered
    | NoAnswer
    | NoRoute
    | DeviceSilent
    | KeyRejected
    | TlsRequired
    | WrongDevice
    | RestartRequested
)

NOT_LOOKED_FOR = ConnectionStatus("absent", "It has not been looked for yet.")


def next_status(link: ConnectionStatus, event: Event, at_s: float) -> ConnectionStatus:
    """Return the status after `event`. A state that does not change keeps the time it began."""
    after = _after(link, event, at_s)
    same = (after.state, after.by_us) == (link.state, link.by_us)
    return msgspec.structs.replace(after, since_s=link.since_s) if same else after


def _after(link: ConnectionStatus, event: Event, at_s: float) -> ConnectionStatus:
    match event:
        case DeviceAnswered():
            return _on_answer(link, at_s, booted=event.booted)
        case NoRoute():
            away = NoAnswer("No route leads to it any more.")
            return link if link.by_wrong_device else _on_silence(link, away, at_s)
        case NoAnswer() | DeviceSilent():
            return _on_silence(link, event, at_s)
        case KeyRejected() | TlsRequired():
            return ConnectionStatus("unauthorized", event.text, event.advice, at_s)
        case RestartRequested():
            return ConnectionStatus(
                "booting",
                f"It is restarting, requested by {event.by}.",
                "Wait.",
                at_s,
                by_us=True,
            )
        case WrongDevice():
            text = f"Another device ({event.serial}) answers at {event.route}."
            advice = "Give this device a route of its own, or plug it in."
            return ConnectionStatus("absent", text, advice, at_s, by_wrong_device=True)


def _on_answer(
    link: ConnectionStatus, at_s: float, *, booted: bool
) -> ConnectionStatus:
    if booted:
        return ConnectionStatus("online", since_s=at_s)
    by_us = link.state == "booting" and link.by_us
    text = "It is starting: Android has not finished booting."
    return ConnectionStatus(
        "booting", text, "Wait; it is used once it has booted.", at_s, by_us
    )


def _on_silence(
    link: ConnectionStatus, event: NoAnswer | DeviceSilent, at_s: float
) -> ConnectionStatus:
    text = event.text
    if link.state == "booting" and link.by_us:
        if at_s - link.since_s < BOOT_LIMIT_S:
            return link
        text = f"It has not come back {BOOT_LIMIT_S:.0f} s after a restart. {text}"
    return ConnectionStatus(
        "absent" if isinstance(event, NoAnswer) else "offline", text, event.advice, at_s
    )


def event_of(error: AdbError) -> Event:
    """Return the event that a failed attempt to reach a device means for its connection."""
    text, advice = error.text, error.advice
    match error:
        case AbsentError():
            return NoAnswer(text, advice or CABLE)
        case UnauthorizedError():
            return KeyRejected(text, advice)
        case TlsRequiredError():
            return TlsRequired(text, advice)
        case WrongDeviceError():
            return WrongDevice(error.actual, error.route)
        case _:  # offline, lost, refused, slow: attached, but not answering properly
            return DeviceSilent(text, advice or SPEAK)
