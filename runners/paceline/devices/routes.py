"""Orders the routes to a device, and derives facts from the name that an adb server gives it.

A route is never an identity: the serial in a name is used only to list a device that does not trust this agent yet.
Routes by an adb server come first, because the server holds the pairing, then USB, because a cable is more reliable
than a network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from paceline.adb.port import Route

BEST_FIRST = ("server", "usb", "tcp")
_MDNS = re.compile(r"adb-(?P<serial>[^.]+)-[A-Za-z0-9]{6}\._adb-tls-connect\._tcp\.?")


def order_routes(routes: Iterable[Route]) -> tuple[Route, ...]:
    """Return the routes without duplicates, best first."""
    return tuple(
        sorted(dict.fromkeys(routes), key=lambda route: BEST_FIRST.index(route.kind))
    )


def route_survives_restart(route: Route) -> bool:
    """Return whether the route works again after the device restarts, as it does for USB devices and emulators, which
    are found without a person."""
    return route.kind == "usb" or (
        route.kind == "server"
        and ":" not in route.name
        and not _MDNS.fullmatch(route.name)
    )


def is_address(route: Route) -> bool:
    """Return whether an adb server reaches the device by TCP. Such a device keeps its transport id when the server
    reconnects."""
    return route.kind == "server" and ":" in route.name


def presumed_serial(route: Route) -> str | None:
    """Return the serial that the name of a device implies: for USB (adbd names its USB interface after ro.serialno) and
    for paired devices. None for addresses and emulators."""
    if route.kind == "tcp":
        return None
    if route.kind == "usb":
        return route.name or None
    if paired := _MDNS.fullmatch(route.name):
        return paired["serial"]
    if re.search(r"[:\s]", route.name) or re.fullmatch(
        r"emulator-\d+|\(.*\)|[?]+|no", route.name
    ):
        return None
    return route.name
