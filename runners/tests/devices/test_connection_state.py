"""Tests of the connection status: every state has a reason, and silence after a restart is not absence."""

from __future__ import annotations

import itertools

import pytest
from paceline.adb.port import (
    AbsentError,
    AdbError,
    LostError,
    OfflineError,
    RefusedError,
    SlowError,
    TlsRequiredError,
    UnauthorizedError,
)
from paceline.devices.connection_state import (
    BOOT_LIMIT_S,
    ConnectionStatus,
    DeviceAnswered,
    DeviceSilent,
    Event,
    KeyRejected,
    NoAnswer,
    NoRoute,
    RestartRequested,
    State,
    TlsRequired,
    WrongDevice,
    event_of,
    next_status,
)
from paceline.devices.errors import WrongDeviceError

STATES: tuple[State, ...] = ("absent", "offline", "unauthorized", "booting", "online")
EVENTS: dict[str, tuple[Event, State]] = {
    "answers": (DeviceAnswered(booted=True), "online"),
    "boots": (DeviceAnswered(booted=False), "booting"),
    "nobody": (NoAnswer("Nobody."), "absent"),
    "silent": (DeviceSilent("Silence."), "offline"),
    "prompt": (KeyRejected("Prompt.", "Accept it."), "unauthorized"),
    "tls": (TlsRequired("TLS.", "Pair it."), "unauthorized"),
    "no_route": (NoRoute(), "absent"),
    "stranger": (WrongDevice("OTHER", "10.0.0.1:5555"), "absent"),
    "restarted": (RestartRequested("a person"), "booting"),
}


@pytest.mark.parametrize(("before", "name"), list(itertools.product(STATES, EVENTS)))
def test_from_every_state_an_event_leads_to_its_one_state(
    before: State, name: str
) -> None:
    event, after = EVENTS[name]
    link = next_status(ConnectionStatus(before, "why"), event, 5.0)
    assert link.state == after
    assert (link.reason is None) == (after == "online")


@pytest.mark.parametrize("event", [NoAnswer("Nobody."), DeviceSilent("Silence.")])
def test_silence_after_a_restart_that_was_asked_for_is_waited_for(event: Event) -> None:
    link = next_status(ConnectionStatus("online"), RestartRequested("a person"), 100.0)
    assert next_status(link, event, 100.0 + BOOT_LIMIT_S - 1) == link
    late = next_status(link, event, 100.0 + BOOT_LIMIT_S)
    assert (
        late.state == EVENTS["nobody" if isinstance(event, NoAnswer) else "silent"][1]
    )
    assert "after a restart" in (late.reason or "")


def test_a_device_that_answers_while_it_starts_goes_on_being_waited_for() -> None:
    link = next_status(
        next_status(ConnectionStatus("online"), RestartRequested("a person"), 100.0),
        DeviceAnswered(booted=False),
        120.0,
    )
    assert link.by_us
    assert next_status(link, NoAnswer("Nobody."), 130.0).state == "booting"


def test_a_device_that_starts_by_itself_and_vanishes_is_absent() -> None:
    link = next_status(ConnectionStatus("online"), DeviceAnswered(booted=False), 100.0)
    assert next_status(link, NoAnswer("Nobody."), 101.0).state == "absent"


def test_a_state_keeps_the_time_it_began() -> None:
    link = next_status(
        ConnectionStatus("online", since_s=1.0), DeviceSilent("Silence."), 2.0
    )
    assert next_status(link, DeviceSilent("Still."), 9.0).since_s == 2.0
    assert next_status(link, DeviceSilent("Still."), 9.0).reason == "Still."
    assert next_status(link, DeviceAnswered(booted=True), 9.0).since_s == 9.0


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (AbsentError, "absent"),
        (OfflineError, "offline"),
        (LostError, "offline"),
        (SlowError, "offline"),
        (RefusedError, "offline"),
        (UnauthorizedError, "unauthorized"),
        (TlsRequiredError, "unauthorized"),
        (AdbError, "offline"),
    ],
)
def test_every_error_of_the_port_is_a_state_with_its_words(
    kind: type[AdbError], state: State
) -> None:
    link = next_status(
        ConnectionStatus("online"), event_of(kind("What happened.", "What to do.")), 1.0
    )
    assert (link.state, link.reason, link.advice) == (
        state,
        "What happened.",
        "What to do.",
    )


def test_a_restart_asked_for_while_it_starts_is_waited_for_from_then_on() -> None:
    link = next_status(
        next_status(ConnectionStatus("online"), DeviceAnswered(booted=False), 100.0),
        RestartRequested("a person"),
        390.0,
    )
    assert (
        next_status(link, NoAnswer("Nobody."), 390.0 + BOOT_LIMIT_S - 1).state
        == "booting"
    )


def test_another_device_at_the_route_stays_the_reason_when_the_route_is_taken_away() -> (
    None
):
    error = WrongDeviceError("MINE", "OTHER", "10.0.0.1:5555")
    link = next_status(ConnectionStatus("online"), event_of(error), 1.0)
    assert "Another device (OTHER) answers at 10.0.0.1:5555" in (link.reason or "")
    assert next_status(link, NoRoute(), 2.0) == link
    assert (
        next_status(next_status(link, NoAnswer("Nobody."), 2.0), NoRoute(), 3.0).reason
        != link.reason
    )
