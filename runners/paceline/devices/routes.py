"""Ways to a device, as data: how routes are ordered, and what a name of an adb server gives away.

Place in the journey: between agent.toml or an adb server's list and `attached.py`. Invariants: pure; a route
is never an identity; what a name presumes of a serial is only good for showing a device that does not let us
in yet; by an adb server comes before TCP, because a cable is steadier and a server holds the pairing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from paceline.adb.port import Route

_MDNS = re.compile(r"adb-(?P<serial>[^.]+)-[A-Za-z0-9]{6}\._adb-tls-connect\._tcp\.?")


def order_routes(routes: Iterable[Route]) -> tuple[Route, ...]:
    """Best first, each once."""
    return tuple(
        sorted(dict.fromkeys(routes), key=lambda route: route.kind != "server")
    )


def is_cable(route: Route) -> bool:
    """Of an adb server: USB, or an emulator it finds by itself; both are there again after a restart."""
    return (
        route.kind == "server"
        and ":" not in route.name
        and not _MDNS.fullmatch(route.name)
    )


def is_address(route: Route) -> bool:
    """Of an adb server: a device over TCP, which keeps its transport when the server reconnects it."""
    return route.kind == "server" and ":" in route.name


def presumed_serial(route: Route) -> str | None:
    """The serial an adb server's name is likely to be: of a USB device (adbd names its USB interface after
    ro.serialno) or of one it was paired with; None of addresses and emulators."""
    if route.kind == "tcp":
        return None
    if paired := _MDNS.fullmatch(route.name):
        return paired["serial"]
    if ":" in route.name or re.fullmatch(r"emulator-\d+|\(.*\)|[?]+|no", route.name):
        return None
    return route.name
