"""Discovers devices: asks every route who answers; two routes to one serial are one device.

    agent.toml routes ─┐
    simulated ─────────┼─▶ routes ─▶ known to a device? ─▶ nothing to do
    adb server's list ─┘                │ no
                                        ├─▶ its name implies a serial ─▶ that device, or a new one
                                        └─▶ ask who answers ─▶ that device, or a new one, or: why not

Runs in a thread of its own; `look` is one pass. The serial that answers decides: a serial implied by a name is
corrected by it. A route where nobody has answered yet is shown with the reason. A device that answered once
is kept while the agent lives. A route that belongs to a device is left to that device's lane.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from pathlib import Path

from paceline.adb.port import CONNECT_TIMEOUT_S, AdbError, Route
from paceline.config import DeviceSettings
from paceline.devices import connection_state as axis
from paceline.devices.attached_device import AttachedDevice, state_name
from paceline.devices.backends import DeviceBackends
from paceline.devices.identity import identify
from paceline.devices.routes import presumed_serial

log = logging.getLogger("paceline.devices")


class Discovery:
    """`found` is called once per new device, `changed` when a known one got or lost a route, `refuted` of one
    that was presumed of a name and does not exist."""

    def __init__(
        self,
        config: DeviceSettings,
        backends: DeviceBackends,
        state_root: Path,
        on_found: Callable[[AttachedDevice], None] = lambda _: None,
        on_changed: Callable[[AttachedDevice], None] = lambda _: None,
        *,
        refuted: Callable[[AttachedDevice], None] = lambda _: None,
        connect_s: float = CONNECT_TIMEOUT_S,
    ) -> None:
        self._config, self._ways, self._root = config, backends, state_root
        self._found, self._changed, self._gone, self._connect_s = (
            on_found,
            on_changed,
            refuted,
            connect_s,
        )
        self.devices: dict[str, AttachedDevice] = {}
        self.unknown: dict[Route, axis.ConnectionStatus] = {}
        self._listed: set[Route] = set()
        self._refuted: set[Route] = set()
        """Routes where another device answered than their name implies."""

    def look(self) -> None:
        """One pass over all routes."""
        listed = {self._ways.by_name(known.name) for known in self._ways.listed()}
        self._forget(self._listed - listed)
        self._listed = listed
        simulated = {Route("tcp", address) for address in self._config.simulated}
        configured = {Route("tcp", address) for address in self._config.routes}
        routes = listed | simulated | configured
        self.unknown = {
            route: link for route, link in self.unknown.items() if route in routes
        }
        for route in sorted(routes, key=str):
            if not any(route in device.routes for device in self.devices.values()):
                self._place(route, simulated=route in simulated)

    def _forget(self, gone: set[Route]) -> None:
        for device in self.devices.values():
            for route in gone & set(device.routes):
                device.drop_route(route)
                self._changed(device)

    def _place(self, route: Route, *, simulated: bool) -> None:
        serial = None if self._was_refuted(route) else presumed_serial(route)
        if serial is None:
            serial = self._asked(route)
        if serial is None:
            return
        self.unknown.pop(route, None)
        for device in [
            device
            for device in self.devices.values()
            if device.displaced_routes.pop(route, None) is not None
        ]:
            if not device.is_known and not device.routes:
                del self.devices[device.serial]
                self._gone(device)
        known = self.devices.get(serial)
        if known is not None:
            known.add_route(route)
            self._changed(known)
            return
        state = self._root / state_name(serial)
        device = AttachedDevice(
            serial, state, self._ways.open, [route], simulated=simulated
        )
        self.devices[serial] = device
        log.info("device %s: found at %s", serial, route)
        self._found(device)

    def _was_refuted(self, route: Route) -> bool:
        if any(route in device.displaced_routes for device in self.devices.values()):
            self._refuted.add(route)
        return route in self._refuted

    def _asked(self, route: Route) -> str | None:
        try:
            connection = self._ways.open(route)
            try:
                connection.connect(self._connect_s)
                return identify(connection).serial
            finally:
                with contextlib.suppress(AdbError):
                    connection.close()
        except AdbError as error:
            before = self.unknown.get(route, axis.NOT_LOOKED_FOR)
            link = self.unknown[route] = axis.next_status(
                before, axis.event_of(error), time.monotonic()
            )
            if before.reason != link.reason:
                log.warning(
                    "no device yet at %s: %s %s", route, link.reason, link.advice or ""
                )
            return None
