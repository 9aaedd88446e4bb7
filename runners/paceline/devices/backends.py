"""Opens routes to devices, and lists the devices of an adb server and on USB.

Having no adb server is normal, because devices on TCP and USB need none. A device on USB that a running server holds is
reached through it. When a server fails to answer, its last list of devices is kept. Every failure is an AdbError with advice, even a problem with the agent's own key.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from pathlib import Path
from typing import Protocol

from paceline.adb.direct import DirectConnection
from paceline.adb.handshake import KeyOffers
from paceline.adb.keys import AgentKey
from paceline.adb.port import (
    AbsentError,
    AdbError,
    Connection,
    Route,
    UnauthorizedError,
)
from paceline.adb.server import AdbServer
from paceline.adb.smart_socket import ListedDevice
from paceline.adb.usb import UsbBus, UsbConnection, UsbLinks
from paceline.devices.routes import is_address
from paceline.errors import UserError

log = logging.getLogger("paceline.devices")

LIST_TIMEOUT_S = 5.0
NOT_HOLDING = ("no permissions", "detached")
"""States of a device on USB that an adb server sees and does not hold."""


class DeviceBackends(Protocol):
    """The interface that discovery and devices use: `AdbBackends`, or a fake in tests."""

    def open(self, route: Route) -> Connection:
        """Return a new connection. Raises AdbError."""

    def list_devices(self) -> list[ListedDevice]:
        """Return the devices that the adb server knows; empty without a server."""

    def list_usb_routes(self) -> list[Route]:
        """Return the devices on USB that the adb server does not hold, as of the last `list_devices`."""

    def usb_problem(self) -> AdbError | None:
        """Return why the last search of USB failed, if it did and no adb server searches USB either."""

    def usb_note(self, serial: str) -> str:
        """Return a sentence if the adb server holds the device on USB; else ""."""

    def route_to(self, name: str) -> Route:
        """Return the route to the device that the adb server calls `name`."""

    def reconnect(self, route: Route) -> None:
        """Make the adb server close and reopen its connection at `route`. Raises AdbError."""


class AdbBackends:
    """Direct connections over TCP and USB, and an adb server where one listens. The agent's key is created on first
    use. `usb`: the bus to search; None leaves USB to the adb server."""

    def __init__(
        self, adb_server: str, key_dir: Path, usb: UsbBus | None = None
    ) -> None:
        self._address, self._key_dir = adb_server, key_dir
        self._server = AdbServer(adb_server)
        self._key: AgentKey | None = None
        self._offers = KeyOffers()
        self._usb = usb
        self._usb_links = UsbLinks(usb or UsbBus(), self._offers)
        self._usb_problem: AdbError | None = None
        self._usb_notes: dict[str, str] = {}
        self._has_server = False
        self._last: list[ListedDevice] = []
        self._lock = threading.Lock()
        self._dropped: set[str] = set()
        """Addresses that the adb server forgot on `reconnect` and has not reached since. It never tries them
        again by itself."""

    def close(self) -> None:
        """Close the handshakes that wait for a person."""
        self._offers.close()

    def open(self, route: Route) -> Connection:
        if route.kind == "server":
            return self._server.connection(route.name)
        if self._key is None:
            self._key = self._load_key()
        if route.kind == "usb":
            return UsbConnection(route, self._key, self._usb_links)
        return DirectConnection(route.address, self._key, self._offers)

    def _load_key(self) -> AgentKey:
        """Load the key or create it. Each connection tries again until that succeeds, so that a repaired key needs no
        restart of the agent."""
        try:
            return AgentKey.load_or_create(self._key_dir)
        except UserError as error:
            why, advice = error.text, error.advice
        except OSError as error:
            why = f"{self._key_dir}: {error.strerror or error}"
            advice = "Give the agent read and write access to that directory."
        raise UnauthorizedError(f"This agent's own key cannot be used: {why}", advice)

    def list_devices(self) -> list[ListedDevice]:
        try:
            self._last = self._server.devices(LIST_TIMEOUT_S)
            self._has_server = True
        except AbsentError:
            self._last = []
            self._has_server = False
        except AdbError as error:  # one slow answer does not mean lost devices
            log.warning("the adb server's last list of devices is kept: %s", error.text)
        return [*self._last, *self._connect_dropped()]

    def list_usb_routes(self) -> list[Route]:
        if self._usb is None:
            return []
        try:
            usb_devices = self._usb.devices()
        except AdbError as error:
            if self._usb_problem is None:
                log.info("%s %s", error.text, error.advice)
            self._usb_problem = error
            return []
        self._usb_problem = None
        held = {
            known.name
            for known in self._last
            if not known.state.startswith(NOT_HOLDING)
        }
        notes = {
            device.serial: f"The adb server at {self._address} holds it at USB port {device.port}, so it is reached"
            " through that server."
            for device in usb_devices
            if device.serial in held
        }
        for serial in notes.keys() - self._usb_notes.keys():
            log.info("device %s: %s", serial, notes[serial])
        self._usb_notes = notes
        return [device.route for device in usb_devices if device.serial not in held]

    def usb_problem(self) -> AdbError | None:
        return None if self._has_server else self._usb_problem

    def usb_note(self, serial: str) -> str:
        return self._usb_notes.get(serial, "")

    def _connect_dropped(self) -> list[ListedDevice]:
        """Tell the server to connect again to the dropped devices that it does not list, and return these. A device that
        it lists and does not reach counts as dropped, because the server may forget it a moment later."""
        listed = {known.name for known in self._last}
        with self._lock:
            self._dropped -= {
                known.name
                for known in self._last
                if known.state not in ("offline", "connecting")
            }
            missing = sorted(self._dropped - listed)
        for address in missing:
            with contextlib.suppress(
                AdbError
            ):  # the server's next list shows the result
                self._server.connect_to(address, LIST_TIMEOUT_S)
        return [ListedDevice(address, "offline", {}) for address in missing]

    def route_to(self, name: str) -> Route:
        return Route("server", self._address, name)

    def reconnect(self, route: Route) -> None:
        if is_address(route):  # Google's server would forget it on `reconnect`
            with self._lock:  # no list is read meanwhile
                self._dropped.add(route.name)
                self._server.disconnect_from(route.name)
            self._server.connect_to(route.name)
        else:
            self._server.reconnect(route.name)
