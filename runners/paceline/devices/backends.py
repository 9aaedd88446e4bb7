"""The ADB backends as devices and discovery see them: open a route, list what an adb server knows.

No adb server is the ordinary case, not an error, because devices on TCP need none. A server that fails to
answer once has not lost its devices. Everything that goes wrong here is an AdbError with advice, also a
problem with the agent's own key.
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
from paceline.devices.routes import is_address
from paceline.errors import UserError

log = logging.getLogger("paceline.devices")

LIST_TIMEOUT_S = 5.0


class DeviceBackends(Protocol):
    """What discovery and devices need of the backends; `AdbBackends` in production, a fake in tests."""

    def open(self, route: Route) -> Connection:
        """A connection that has not been used yet. Raises AdbError."""

    def listed(self) -> list[ListedDevice]:
        """What the adb server knows; empty without a server."""

    def by_name(self, name: str) -> Route:
        """The route to what the adb server calls `name`."""

    def reconnect(self, route: Route) -> None:
        """Has the adb server close and reopen its connection at `route`. Raises AdbError."""


class AdbBackends:
    """Direct TCP connections, and an adb server where one listens; the agent's key is made on first use."""

    def __init__(self, adb_server: str, key_dir: Path) -> None:
        self._address, self._server, self._key_dir = (
            adb_server,
            AdbServer(adb_server),
            key_dir,
        )
        self._key: AgentKey | None = None
        self._offers = KeyOffers()
        self._last: list[ListedDevice] = []
        self._lock = threading.Lock()
        self._dropped: set[str] = set()
        """Addresses that the adb server closed on `reconnect` and has not reopened since. It forgot them and
        would never try again by itself."""

    def close(self) -> None:
        """Ends the handshakes that are held open for a person."""
        self._offers.close()

    def open(self, route: Route) -> Connection:
        if route.kind == "server":
            return self._server.connection(route.name)
        if self._key is None:
            self._key = self._loaded()
        return DirectConnection(route.address, self._key, self._offers)

    def _loaded(self) -> AgentKey:
        """Tried again with each connection, so that a repaired key needs no restart of the agent."""
        try:
            return AgentKey.load_or_create(self._key_dir)
        except UserError as error:
            why, advice = error.text, error.advice
        except OSError as error:
            why = f"{self._key_dir}: {error.strerror or error}"
            advice = "Make that directory readable and writable for the agent."
        raise UnauthorizedError(f"This agent's own key cannot be used: {why}", advice)

    def listed(self) -> list[ListedDevice]:
        try:
            self._last = self._server.devices(LIST_TIMEOUT_S)
        except AbsentError:  # no server is the ordinary case: devices by TCP need none
            self._last = []
        except AdbError as error:  # one slow answer pulls no cable
            log.warning(
                "the adb server's list is taken to be what it was: %s", error.text
            )
        return [
            *self._last,
            *self._asked_for_again({known.name for known in self._last}),
        ]

    def _asked_for_again(self, listed: set[str]) -> list[ListedDevice]:
        """The dropped devices that the server does not list; it is told to connect to them once more."""
        with self._lock:
            self._dropped -= listed
            missing = sorted(self._dropped)
        for address in missing:
            with contextlib.suppress(
                AdbError
            ):  # whether it could is seen in its next list
                self._server.connect_to(address, LIST_TIMEOUT_S)
        return [ListedDevice(address, "offline", {}) for address in missing]

    def by_name(self, name: str) -> Route:
        return Route("server", self._address, name)

    def reconnect(self, route: Route) -> None:
        if is_address(
            route
        ):  # told to reconnect one, Google's server forgets it instead
            with self._lock:  # no list is read meanwhile
                self._dropped.add(route.name)
                self._server.disconnect_from(route.name)
            self._server.connect_to(route.name)
        else:
            self._server.reconnect(route.name)
