"""The backends as discovery and devices see them: open a route, list what an adb server knows.

Place in the journey: the one module of `devices` that names a backend; tests bring their own `Ways`.
Invariant: no adb server is the ordinary case, not an error: devices by TCP need none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey
from paceline.adb.port import AdbError, Connection, Route
from paceline.adb.server import AdbServer
from paceline.adb.smart_socket import Known

LIST_TIMEOUT_S = 5.0


class Ways(Protocol):
    """What discovery and a device need of the backends. `RealWays` is the real one; tests bring fakes."""

    def open(self, route: Route) -> Connection:
        """A connection that has not been used yet."""

    def listed(self) -> list[Known]:
        """What the adb server knows; empty without a server."""

    def by_name(self, name: str) -> Route:
        """The route to what the adb server calls `name`."""

    def reconnect_offline(self) -> None:
        """`adb reconnect offline`. Raises AdbError."""


class RealWays:
    """TCP by ourselves, and an adb server where one listens; the agent's key is made on first use."""

    def __init__(self, adb_server: str, key_dir: Path) -> None:
        self._address, self._server, self._key_dir = adb_server, AdbServer(adb_server), key_dir
        self._key: AgentKey | None = None

    def open(self, route: Route) -> Connection:
        if route.kind == "server":
            return self._server.connection(route.name)
        if self._key is None:
            self._key = AgentKey.load_or_create(self._key_dir)
        return DirectConnection(route.address, self._key)

    def listed(self) -> list[Known]:
        try:
            return self._server.devices(LIST_TIMEOUT_S)
        except AdbError:  # no server is the ordinary case: devices by TCP need none
            return []

    def by_name(self, name: str) -> Route:
        return Route("server", self._address, name)

    def reconnect_offline(self) -> None:
        self._server.reconnect_offline()
