"""Lists devices on USB and connects to them without an adb server, by adb-shell and libusb.

The backend for routes of kind `usb`. One program can claim a device, and that once: all connections of an agent to one
port share a link, on which adb-shell's packets go to their services by number. A device that an adb server holds is
reached through that server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from paceline.adb.adb_shell_fixes import PatchedDevice
from paceline.adb.direct import AdbShellConnection, DeviceLease
from paceline.adb.handshake import KeyOffers
from paceline.adb.keys import AgentKey
from paceline.adb.port import AbsentError, Banner, OfflineError, Route

NO_PACKAGE = "Run: pip install 'paceline[usb]'"
NO_LIBRARY = "Run: sudo apt-get install libusb-1.0-0 (on macOS: brew install libusb)"


class UsbDevice(msgspec.Struct, frozen=True):
    """A device with an ADB interface. `serial` is "" when this user may not read it."""

    port: str
    serial: str
    whom: str
    """The device in messages."""
    open_transport: Callable[[], Any]
    """Creates the transport of one connection."""

    @property
    def route(self) -> Route:
        return Route("usb", self.port, self.serial)


class UsbBus:
    """The USB of this host. `context` is libusb's; only tests give one."""

    def __init__(self, context: Any = None) -> None:
        self._context = context

    def devices(self) -> list[UsbDevice]:
        """Return the devices with an ADB interface, by port. Raises OfflineError without libusb."""
        driver = _load_driver()
        context = self._context or driver.UsbTransport.USB1_CTX
        usb_devices = []
        for device in driver.list_bus(context):
            setting = driver.find_adb_setting(device)
            if setting is not None:
                hubs = ".".join(str(number) for number in device.getPortNumberList())
                port = f"{device.getBusNumber()}-{hubs}"
                serial = driver.serial_of(device)
                whom = f"the device {serial or 'without a readable serial number'} at USB port {port}"
                make = partial(driver.UsbDeviceTransport, device, setting, whom)
                usb_devices.append(UsbDevice(port, serial, whom, make))
        return sorted(usb_devices, key=lambda usb_device: usb_device.port)

    def device_at(self, port: str) -> UsbDevice:
        """Return the device at a port. Raises AbsentError, OfflineError."""
        for device in self.devices():
            if device.port == port:
                return device
        raise AbsentError(
            f"no device with USB debugging is at USB port {port}",
            "Plug it in, wake it, and check that USB debugging is on.",
        )


class UsbLinks:
    """The links to the devices on USB of one agent, each shared by its connections. Safe to use from any thread."""

    def __init__(self, bus: UsbBus, offers: KeyOffers) -> None:
        self.bus = bus
        self._offers = offers
        self._lock = threading.Lock()
        self._links: dict[str, _Link] = {}
        self._connecting: dict[str, threading.Lock] = {}

    def lease(self, port: str, key: AgentKey, deadline: float) -> DeviceLease:
        """Return the link to the device at `port`; connects when there is none. Raises Absent-, Offline-,
        Unauthorized-, TlsRequiredError."""
        with self._lock:
            connecting = self._connecting.setdefault(port, threading.Lock())
        if not connecting.acquire(timeout=max(deadline - time.monotonic(), 0.0)):
            raise OfflineError(
                f"another connection to the device at USB port {port} is being made",
                "Wait until it has answered.",
            )
        try:
            link = self._take_live(port)
            if link is None:
                usb_device = self.bus.device_at(port)
                device, banner = self._offers.connect(
                    f"usb:{port}",
                    usb_device.open_transport,
                    usb_device.whom,
                    key,
                    deadline,
                )
                link = _Link(device, banner)
                with self._lock:
                    self._links[port] = link
            return DeviceLease(
                link.device, link.banner, partial(self._release, port, link)
            )
        finally:
            connecting.release()

    def _take_live(self, port: str) -> _Link | None:
        """Return the link at `port`, counted once more; None when there is none, or it has ended."""
        with self._lock:
            link = self._links.get(port)
            if link is None or link.device.has_ended:
                return None
            link.users += 1
            return link

    def _release(self, port: str, link: _Link) -> None:
        """Close the link with its last user."""
        with self._lock:
            link.users -= 1
            is_last = link.users == 0
            if is_last and self._links.get(port) is link:
                del self._links[port]
        if is_last:
            link.device.close()


class _Link(msgspec.Struct, eq=False):
    device: PatchedDevice
    banner: Banner
    users: int = 1


class UsbConnection(AdbShellConnection):
    """The device on USB at `route`. Streams share the link with it."""

    def __init__(self, route: Route, key: AgentKey, links: UsbLinks) -> None:
        super().__init__(route)
        self._key, self._links = key, links

    def _lease_device(self, deadline: float) -> DeviceLease:
        return self._links.lease(self._route.address, self._key, deadline)


def _load_driver() -> Any:
    """Import what needs libusb. Raises OfflineError that says what is missing."""
    try:
        from paceline.adb import usb_transport  # noqa: PLC0415 -- needs libusb
    except ImportError as error:
        raise OfflineError(
            "USB cannot be searched: the package libusb1 is not installed",
            NO_PACKAGE,
        ) from error
    except OSError as error:
        raise OfflineError(
            f"USB cannot be searched: libusb is not installed ({error})", NO_LIBRARY
        ) from error
    except Exception as error:  # libusb1's errors cannot be imported here
        raise OfflineError(
            f"USB cannot be searched: libusb does not start ({error})",
            "Check that /dev/bus/usb is there; a container needs it as a volume.",
        ) from error
    return usb_transport
