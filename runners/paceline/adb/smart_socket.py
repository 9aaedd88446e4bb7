"""Sends requests to an adb server through its smart sockets: one per connection (AOSP SERVICES.TXT).

Every failure that the server answers becomes an error with advice. The server belongs to whoever started it,
so it is never started or stopped here.
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
LINE = re.compile(rf"(?P<name>\S.*?)\s+(?P<state>{STATES})(?P<more>(?:\s+\S+)*?)\s*")
OTHER_STATE = re.compile(r"(?P<name>\S+)\s+(?P<state>\S+)(?P<more>(?:\s+\S+)*)\s*")
"""A line in a state that adb has since learned, or says in another way."""
PROPERTY = re.compile(r"([\w-]+):(\S*)")
NOT_UNDERSTOOD = "not understood"
"""The state of a line that says no state."""
NOT_STARTED = ("recovery", "sideload", "rescue", "bootloader", "host")


class ListedDevice(msgspec.Struct, frozen=True):
    """A device as the adb server lists it. `name` is its serial on USB, otherwise an address or mDNS name."""

    name: str
    state: str
    props: Mapping[str, str]
    """product, model, device, transport_id; empty unless the state is `device`."""


def parse_devices(text: str) -> list[ListedDevice]:
    """Parse the answer to `host:devices-l`. Every line that holds anything becomes a device, so that none disappears:
    what stands between the state and the properties differs between servers (`3-1` and `usb:3-1` name one port), and
    is left out. A line without a state is one in parentheses, `NOT_UNDERSTOOD`."""
    devices = []
    for line in filter(None, map(str.strip, text.splitlines())):
        match = LINE.fullmatch(line) or OTHER_STATE.fullmatch(line)
        if match is None:
            devices.append(ListedDevice(f"({line})", NOT_UNDERSTOOD, {}))
            continue
        pairs = dict(PROPERTY.findall(match["more"]))
        devices.append(ListedDevice(match["name"], match["state"].strip(), pairs))
    return devices


def state_error(state: str, name: str, server: str) -> AdbError | None:
    """Return why a device in `state` cannot be used; None when it can."""
    device = f"{name} at the adb server {server}"
    if state == "device":
        return None
    if state in ("unauthorized", "authorizing"):
        return UnauthorizedError(
            f"{device}: the device does not trust that adb server",
            "Unlock it and accept its prompt; tick 'always allow'. If there is no prompt, revoke the USB"
            " debugging authorizations in its developer options and plug it in again.",
        )
    if state.startswith("no permissions"):
        return OfflineError(
            f"{device}: this user may not open the USB device",
            "Install the udev rules for Android (package android-sdk-platform-tools-common), join the group"
            " plugdev, and plug it in again.",
        )
    if state == NOT_UNDERSTOOD:
        return OfflineError(
            f"the list of the adb server {server} has a line that is not understood: {name}",
            "`adb devices -l` shows the list; another version of adb may print it differently.",
        )
    if state in NOT_STARTED:
        return OfflineError(
            f"{device}: the device is in {state}", "Restart it into Android."
        )
    return OfflineError(
        f"{device}: the device is {state}",
        "Plug it in again, or run `adb reconnect offline`. Over Wi-Fi, check whether it is asleep.",
    )


def failure_error(reason: str, name: str, server: str) -> AdbError:
    """Return the error for a FAIL about device `name` with the text `reason` (AOSP adb/transport.cpp)."""
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
    """One connection to an adb server: a request, its OKAY, then bytes."""

    def __init__(self, server: str, deadline: float) -> None:
        self.server, self._deadline = server, deadline
        self.wire = DeadlineSocket(
            open_socket(server, deadline, _NO_SERVER), f"the adb server at {server}"
        )

    def ask(self, request: bytes, name: str = "") -> None:
        """Send a request about device `name` and wait for OKAY. Raises LostError, SlowError, and the
        `failure_error` of a FAIL."""
        self.wire.send(b"%04x%s" % (len(request), request), self._deadline)
        answer = self._read_exactly(4)
        if answer == b"OKAY":
            return
        if answer != b"FAIL":
            raise self._protocol_error(answer)
        raise failure_error(self.text(), name, self.server)

    def text(self) -> str:
        """Read the answer after OKAY: its length in four hex digits, then its bytes."""
        digits = self._read_exactly(LENGTH_DIGITS)
        try:
            length = int(digits, 16)
        except ValueError as error:
            raise self._protocol_error(digits) from error
        return self._read_exactly(length).decode("utf-8", "replace")

    def _protocol_error(self, answer: bytes) -> LostError:
        return LostError(f"{self.server} is not an adb server: it sent {answer!r}")

    def _read_exactly(self, length: int) -> bytes:
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
    """Send one request to the server and return its answer. Raises AbsentError without a server, SlowError,
    LostError, and the `failure_error` of a FAIL."""
    with AdbServerRequest(server, time.monotonic() + timeout_s) as connection:
        connection.ask(request.encode(), request)
        return connection.text()


_NO_SERVER = (
    "Install Google's platform tools and run `adb start-server` as the user of this agent, or leave"
    " adb_server out of agent.toml: devices with a network address need none."
)
