"""Discovers devices: identifies who answers at every route. Two routes to one serial are one device.

    agent.toml routes ─┐
    simulated ─────────┼─▶ routes ─▶ known to a device? ─▶ nothing to do
    adb server's list ─┤                │ no
    USB ───────────────┘                ├─▶ its name implies a serial ─▶ that device, or a new one
                                        └─▶ ask who answers ─▶ that device, or a new one, or: why not

Two devices may have one serial number (twins): the one found first is used, and the other's route is kept apart as long
as it answers there. Boot ids distinguish twins from one device with two routes.

The serial that answers decides; it corrects a serial implied by a name. A device that has answered once is kept
while the agent runs. The route of a device is left to that device's lane.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from paceline.adb.port import CONNECT_TIMEOUT_S, AdbError, Route
from paceline.adb.smart_socket import ListedDevice
from paceline.config import DeviceSettings
from paceline.devices import connection_state as axis
from paceline.devices.attached_device import AttachedDevice, state_name
from paceline.devices.backends import DeviceBackends
from paceline.devices.errors import TWIN_ADVICE
from paceline.devices.identity import Identity, identify
from paceline.devices.routes import presumed_serial

log = logging.getLogger("paceline.devices")


class Discovery:
    """Knows the devices of one agent; `look` is one pass over all routes.

    `on_added` is called once per new device, `on_changed` when a device gets or loses a route, and
    `on_removed` for a device that a name implied and that does not exist.
    """

    def __init__(
        self,
        config: DeviceSettings,
        backends: DeviceBackends,
        state_root: Path,
        on_added: Callable[[AttachedDevice], None] = lambda _: None,
        on_changed: Callable[[AttachedDevice], None] = lambda _: None,
        *,
        on_removed: Callable[[AttachedDevice], None] = lambda _: None,
        connect_s: float = CONNECT_TIMEOUT_S,
    ) -> None:
        self._config, self._backends, self._root = config, backends, state_root
        self._on_added, self._on_changed = on_added, on_changed
        self._on_removed = on_removed
        self.connect_s = connect_s
        self.devices: dict[str, AttachedDevice] = {}
        self.unknown: dict[Route, axis.ConnectionStatus] = {}
        self._listed: set[Route] = set()
        self._refuted: set[Route] = set()
        """Routes where another device answered than the name implies."""
        self._twins: dict[Route, Identity] = {}
        """Routes of devices with the serial number of another one."""

    def look(self) -> None:
        """Make one pass over all routes."""
        known_to_server = self._backends.list_devices()
        listed = {self._backends.route_to(known.name) for known in known_to_server}
        listed |= set(self._backends.list_usb_routes())
        self._drop_routes(self._listed - listed)
        self._listed = listed
        simulated = {Route("tcp", address) for address in self._config.simulated}
        configured = {Route("tcp", address) for address in self._config.routes}
        routes = listed | simulated | configured
        self.unknown = {
            route: link for route, link in self.unknown.items() if route in routes
        }
        for route in sorted(routes, key=str):
            if not any(route in device.routes for device in self.devices.values()):
                self._assign_route(route, simulated=route in simulated)
        self._note_twins(_shared_names(known_to_server), routes)

    def _drop_routes(self, gone: set[Route]) -> None:
        for device in self.devices.values():
            for route in gone & set(device.routes):
                device.drop_route(route)
                self._on_changed(device)

    def _assign_route(self, route: Route, *, simulated: bool) -> None:
        serial = None if self._is_refuted(route) else presumed_serial(route)
        if serial is None:
            serial = self._find_serial(route)
        if serial is None:
            self._twins.pop(route, None)
            return
        self.unknown.pop(route, None)
        for device in [
            device
            for device in self.devices.values()
            if device.displaced_routes.pop(route, None) is not None
        ]:
            if not device.is_known and not device.routes:
                del self.devices[device.serial]
                self._on_removed(device)
        known = self.devices.get(serial)
        if known is not None:
            if not self._leads_to_twin(known, route):
                known.add_route(route)
                self._on_changed(known)
            return
        state = self._root / state_name(serial)
        device = AttachedDevice(
            serial, state, self._backends.open, [route], simulated=simulated
        )
        self.devices[serial] = device
        log.info("device %s: found at %s", serial, route)
        self._on_added(device)

    def _is_refuted(self, route: Route) -> bool:
        if any(route in device.displaced_routes for device in self.devices.values()):
            self._refuted.add(route)
        return route in self._refuted

    def _leads_to_twin(self, known: AttachedDevice, route: Route) -> bool:
        """Return whether another device with the serial number of `known` answers at `route`, and remember such a twin.

        Boot ids decide: `route` is identified before and after the route of `known`, so that a restart in between does
        not count as a twin. Of a known twin only its own route is identified, because `known` may be measured."""
        twin, used = self._twins.get(route), known.route
        before = self._identity_at(route)
        if twin is not None and used is not None and before in (None, twin):
            return True
        self._twins.pop(route, None)
        if before is None or used is None or before.boot_id in ("", known.boot_id):
            return False
        other, after = self._identity_at(used), self._identity_at(route)
        if other is None or after is None or other.boot_id in ("", before.boot_id):
            return False
        if not (known.serial == other.serial == before.serial):
            return False
        if after.boot_id != before.boot_id:
            return False
        self._twins[route] = after
        return True

    def _note_twins(self, names: set[str], routes: set[Route]) -> None:
        """Record at both devices that they share a serial number; `names`: those that the adb server lists twice."""
        self._twins = {
            route: identity
            for route, identity in self._twins.items()
            if route in routes
        }
        for route, identity in self._twins.items():
            self.unknown[route] = axis.ConnectionStatus(
                "absent",
                f"The device there has the serial number {identity.serial}, as the one that is used has: two devices"
                " answer at once.",
                TWIN_ADVICE,
            )
        places = {
            identity.serial: f"at {route}" for route, identity in self._twins.items()
        }
        for device in self.devices.values():
            where = places.get(device.serial)
            if where is None and any(
                route.kind == "server" and route.name in names
                for route in device.routes
            ):
                where = "in the adb server's list"
            text = (
                None
                if where is None
                else f"Another device has its serial number, {device.serial}: {where}. Their results would be one history."
            )
            if text is not None and text != device.twin:
                log.warning("device %s: %s %s", device.serial, text, TWIN_ADVICE)
            device.twin = text

    def _identity_at(self, route: Route) -> Identity | None:
        """Return the identity of the device at `route`, if one answers."""
        try:
            return self._identify_at(route)
        except AdbError:
            return None

    def _identify_at(self, route: Route) -> Identity:
        """Return the identity of the device at `route`. Raises AdbError."""
        connection = self._backends.open(route)
        try:
            connection.connect(self.connect_s)
            return identify(connection)
        finally:
            with contextlib.suppress(AdbError):
                connection.close()

    def _find_serial(self, route: Route) -> str | None:
        """Return the serial that answers at `route`. If none does, record why in `unknown` and return None."""
        try:
            return self._identify_at(route).serial
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


def _shared_names(known: Iterable[ListedDevice]) -> set[str]:
    """Return the names that an adb server lists for several devices that answer."""
    times = Counter(device.name for device in known if device.state == "device")
    return {name for name, count in times.items() if count > 1}
