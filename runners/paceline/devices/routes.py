"""Orders routes to a device and reads what an adb server's name for it implies.

Pure. A route is never an identity: a serial implied by a name serves only to show a device that does not let
us in yet. Routes by an adb server come before TCP, because a cable is steadier and the server holds the
pairing.
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
