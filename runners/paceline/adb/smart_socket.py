"""Asks an adb server, through its smart sockets: one request or one service per connection (AOSP SERVICES.TXT).

Every answer of the server that is a failure has one error with advice. No server is started or stopped here:
it belongs to whoever started it, and has a key of its own (~/.android/adbkey).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from paceline.adb.port import (
    CONNECT_TIMEOUT_S,
    AbsentError,
    AdbError,
    LostError,
    OfflineError,
    RefusedError,
    UnauthorizedError,
)
from paceline.adb.transport import DeadlineSocket, open_socket

DEFAULT_ADDRESS = "127.0.0.1:5037"
LENGTH_DIGITS = 4
STATES = (
    "device|offline|unauthorized|authorizing|connecting|recovery|sideload|rescue|bootloader|host|detached"
    "|unknown|no permissions.*?"
)
"""As adb prints them (AOSP adb/adb.cpp, to_string(ConnectionState))."""
LINE = re.compile(
    rf"(?P<name>\S.*?)\s+(?P<state>{STATES})(?P<props>(?:\s+[\w-]+:\S*)*)\s*"
)
ASLEEP = ("recovery", "sideload", "rescue", "bootloader", "host")


class ListedDevice(msgspec.Struct, frozen=True):
    """A device as the adb server lists it. `name` is its serial on USB, an address or an mDNS name else."""

    name: str
    state: str
    props: Mapping[str, str]
    """product, model, device, transport_id; empty unless the state is `device`."""


def parse_devices(text: str) -> list[ListedDevice]:
    """`host:devices-l`; lines that are no device are left out."""
    devices = []
    for line in text.splitlines():
        if match := LINE.fullmatch(line):
            pairs = dict(pair.split(":", 1) for pair in match["props"].split())
            devices.append(ListedDevice(match["name"], match["state"].strip(), pairs))
    return devices


def state_error(state: str, name: str, server: str) -> AdbError | None:
    """Why a device in that state cannot be used; None when it can."""
    device = f"{name} at the adb server {server}"
    if state == "device":
        return None
    if state in ("unauthorized", "authorizing"):
        return UnauthorizedError(
            f"{device}: the device does not trust that adb server",
            "Unlock it and accept its prompt; tick 'always allow'. No prompt? Revoke the USB debugging"
            " authorizations in its developer options and plug it in again.",
        )
    if state.startswith("no permissions"):
        return OfflineError(
            f"{device}: the host may not open the USB device",
            "Install the udev rules for Android (package android-sdk-platform-tools-common), join the group"
            " plugdev, plug it in again.",
        )
    if state in ASLEEP:
        return OfflineError(
            f"{device}: the device is in {state}", "Restart it into Android."
        )
    return OfflineError(
        f"{device}: the device is {state}",
        "Unplug and plug it, or run `adb reconnect offline`; over Wi-Fi look whether it sleeps.",
    )


def failure_error(reason: str, name: str, server: str) -> AdbError:
    """The error for a FAIL with that text, said about a device (AOSP adb/transport.cpp)."""
    text = reason.lower()
    if "unauthorized" in text or "authorizing" in text:
        return state_error("unauthorized", name, server) or AdbError(reason)
    if "not found" in text or "no device" in text or "unknown device" in text:
        return AbsentError(
            f"the adb server at {server} does not know {name}",
            "Is it plugged in, or paired and connected? `adb devices -l` shows what that server sees.",
        )
    if "offline" in text or "connecting" in text:
        return state_error("offline", name, server) or AdbError(reason)
    if "permission" in text:
        return state_error("no permissions", name, server) or AdbError(reason)
    return RefusedError(f"{name} at the adb server {server} refuses: {reason}")


class AdbServerRequest:
    """One connection to an adb server: requests, their OKAY, then bytes."""

    def __init__(self, server: str, deadline: float) -> None:
        self.server, self._deadline = server, deadline
        self.wire = DeadlineSocket(
            open_socket(server, deadline, _NO_SERVER), f"the adb server at {server}"
        )

    def ask(self, request: bytes, name: str = "") -> None:
        """Sends it; returns at OKAY. Raises LostError, SlowError, and why_failed() for a FAIL, said about
        the device `name`."""
        self.wire.send(b"%04x%s" % (len(request), request), self._deadline)
        answer = self._exactly(4)
        if answer == b"OKAY":
            return
        if answer != b"FAIL":
            raise LostError(
                f"what listens at {self.server} is no adb server: it said {answer!r}"
            )
        raise failure_error(self.text(), name, self.server)

    def text(self) -> str:
        """The answer that follows: four hex digits and as many bytes."""
        digits = self._exactly(LENGTH_DIGITS)
        try:
            length = int(digits, 16)
        except ValueError as error:
            raise LostError(
                f"what listens at {self.server} is no adb server: it said {digits!r}"
            ) from error
        return self._exactly(length).decode("utf-8", "replace")

    def _exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            more = self.wire.receive(length - len(data), self._deadline)
            if not more:
                raise LostError(f"the adb server at {self.server} ended the connection")
            data += more
        return data

    def __enter__(self) -> AdbServerRequest:
        return self

    def __exit__(self, *_: Any) -> None:
        self.wire.close()


def ask(server: str, request: str, timeout_s: float = CONNECT_TIMEOUT_S) -> str:
    """One question about the server itself or a device of it, and its answer. Raises AbsentError: no server;
    SlowError, LostError, and what why_failed() says."""
    with AdbServerRequest(server, time.monotonic() + timeout_s) as question:
        question.ask(request.encode(), request)
        return question.text()


_NO_SERVER = (
    "Install Google's platform tools and run `adb start-server` as the user of this agent, or leave"
    " adb_server out of agent.toml: devices with a network address need none."
)
