"""Gives adb-shell a device on USB: its `UsbTransport`, with deadlines and with its defects corrected.

Importing this module needs the package libusb1 and the library libusb; `usb.py` says what is missing. A transfer that
waits in libusb cannot be ended from another thread, so a wait consists of slices, between which `close` takes effect.
`docs/adb-shell-reports.md` holds the reports to adb-shell's authors.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any

import usb1
from adb_shell import exceptions
from adb_shell.transport.usb_transport import (
    CLASS,
    PROTOCOL,
    SUBCLASS,
    UsbTransport,
    interface_matcher,
)

from paceline.adb.port import AbsentError, AdbError, LostError, OfflineError, SlowError

SLICE_S = 0.25
"""Longest time that `close` waits for a read."""
FLUSH_S = 0.01
"""Time in which a device sends again what an earlier program left unread; it sends nothing new before the handshake."""
MOST_FLUSHES = 64
READ_BYTES = 256 << 10
UDEV_RULE = (
    'echo \'SUBSYSTEM=="usb", ENV{ID_USB_INTERFACES}=="*:ff4201:*", MODE="0660", GROUP="plugdev",'
    ' TAG+="uaccess"\' | sudo tee /etc/udev/rules.d/51-android.rules && sudo udevadm control --reload'
    " && sudo udevadm trigger --subsystem-match=usb"
)
"""Gives the person at this computer, and the group plugdev, every device with an ADB interface."""


class UsbDeviceTransport(UsbTransport):  # type: ignore[misc]  # adb-shell has no types
    """A device with an ADB interface. Used for one connection."""

    def __init__(self, device: Any, setting: Any, whom: str) -> None:
        super().__init__(device, setting, usb_info=whom)
        self._transport: Any = None
        self.whom = whom
        self._ahead = b""
        self._is_abandoned = False
        self._packet_bytes = max(
            (endpoint.getMaxPacketSize() for endpoint in setting.iterEndpoints()),
            default=0,
        )
        self._reading, self._writing = threading.Lock(), threading.Lock()

    def connect(self, transport_timeout_s: float | None = None) -> None:
        """Claim the interface. Raises Absent-, OfflineError.

        Defect: adb-shell lets libusb's errors through, raises TypeError where libusb knows no kernel driver, keeps the
        device open when its interface is claimed by another program, and does not read what an earlier program left.
        """
        del transport_timeout_s  # nothing here waits for the device
        for endpoint in self._setting.iterEndpoints():
            if endpoint.getAddress() & usb1.ENDPOINT_DIR_MASK:
                self._read_endpoint = endpoint.getAddress()
            else:
                self._write_endpoint = endpoint.getAddress()
        if self._read_endpoint is None or self._write_endpoint is None:
            raise OfflineError(f"{self.whom} has an ADB interface without endpoints")
        self._interface_number = self._setting.getNumber()
        try:
            self._transport = self._claim(self._device.open())
        except usb1.USBError as error:
            raise open_error(self.whom, error) from error
        for _ in range(MOST_FLUSHES):
            if self._is_abandoned or not self._read_slice(self._packet_bytes, FLUSH_S):
                break
        if self._is_abandoned:
            self.close()

    def abandon(self) -> None:
        """End the connection for good, also one that is being made by another thread."""
        self._is_abandoned = True
        self.close()

    def close(self) -> None:
        """Release the interface. Safe to call twice, from any thread.

        Defect: adb-shell closes the handle under a transfer of another thread, which libusb forbids, and does not close
        it when the device was unplugged.
        """
        if self._transport is None:
            return
        with self._reading, self._writing:
            handle, self._transport = self._transport, None
            if handle is None:
                return
            with contextlib.suppress(usb1.USBError):  # it was unplugged
                handle.releaseInterface(self._interface_number)
            with contextlib.suppress(usb1.USBError):
                handle.close()

    def readable(self, timeout_s: float) -> bool:
        """Return whether data arrives within `timeout_s`. Raises LostError."""
        if not self._ahead:
            self._ahead = self._read(self._packet_bytes, timeout_s)
        return bool(self._ahead)

    def bulk_read(self, numbytes: int, transport_timeout_s: float) -> bytes:
        """Return the next 1 to `numbytes` bytes. Raises SlowError, LostError.

        Defect: adb-shell asks libusb for fewer bytes than a packet of the bus has, which is an overflow when the
        device sends more.
        """
        data = self._ahead or self._read(numbytes, transport_timeout_s)
        if not data:
            raise SlowError(f"{self.whom} does not answer")
        self._ahead = data[numbytes:]
        return data[:numbytes]

    def bulk_write(self, data: bytes, transport_timeout_s: float) -> int:
        """Send all of `data`. Raises SlowError, LostError.

        Defect: adb-shell does not end a transfer that fills its last packet by an empty one, as Google's client does
        (AOSP adb/client/usb_linux.cpp, `zero_mask`); the device waits for more.
        """
        with self._writing:
            self._write(data, transport_timeout_s)
            if len(data) % self._packet_bytes == 0:
                self._write(b"", transport_timeout_s)
        return len(data)

    def _claim(self, handle: Any) -> Any:
        number = self._interface_number
        try:
            with contextlib.suppress(usb1.USBErrorNotFound, usb1.USBErrorNotSupported):
                if sys.platform != "win32" and handle.kernelDriverActive(number):
                    handle.detachKernelDriver(number)
            handle.claimInterface(number)
        except usb1.USBError:
            handle.close()
            raise
        return handle

    def _write(self, data: bytes, timeout_s: float) -> None:
        try:
            super().bulk_write(data, max(timeout_s, 0.001))
        except exceptions.UsbWriteFailedError as error:
            cause = error.args[1]
            if isinstance(cause, usb1.USBErrorTimeout):
                raise SlowError(f"{self.whom} accepts no more data") from error
            raise self._lost_error(cause) from error

    def _read(self, most: int, timeout_s: float) -> bytes:
        """Return the next bytes, up to `most` and the rest of the bus's last packet; b"" when none came in time.
        Empty transfers, which end a full one, are passed over."""
        deadline = time.monotonic() + timeout_s
        packets = -(-min(most, READ_BYTES) // self._packet_bytes)
        while True:
            left_s = deadline - time.monotonic()
            if data := self._read_slice(packets * self._packet_bytes, left_s):
                return data
            if time.monotonic() >= deadline:
                return b""

    def _read_slice(self, size: int, left_s: float) -> bytes:
        """Wait for one transfer, for at most SLICE_S.

        Defect: adb-shell drops what came before a time limit, and takes a limit of 0 for none.
        """
        with self._reading:
            try:
                return bytes(super().bulk_read(size, min(max(left_s, 0.001), SLICE_S)))
            except exceptions.UsbReadFailedError as error:
                if isinstance(error.usb_error, usb1.USBErrorTimeout):
                    return bytes(getattr(error.usb_error, "received", b""))
                raise self._lost_error(error.usb_error) from error

    def _lost_error(self, cause: Exception | None) -> LostError:
        if cause is None:
            return LostError(f"the connection to {self.whom} was closed")
        return LostError(
            f"the connection to {self.whom} broke: {_reason(cause)}",
            "Check the cable and the port.",
        )


find_adb_setting = interface_matcher(CLASS, SUBCLASS, PROTOCOL)
"""Returns a libusb device's ADB interface, or None."""


def list_bus(context: Any) -> list[Any]:
    """Return all devices of the bus, as libusb describes them. Raises OfflineError."""
    try:
        return list(context.getDeviceIterator(skip_on_error=True))
    except usb1.USBError as error:
        raise OfflineError(
            f"USB cannot be searched: {_reason(error)}",
            "Check that /dev/bus/usb is there; a container needs it as a volume.",
        ) from error


def serial_of(device: Any) -> str:
    """Return a libusb device's serial number; "" when this user may not read it, or it was unplugged."""
    try:
        return str(device.getSerialNumber() or "")
    except usb1.USBError:
        return ""


def open_error(whom: str, error: Exception) -> AdbError:
    """Return the error for a device that cannot be opened."""
    if isinstance(error, usb1.USBErrorAccess):
        return OfflineError(f"this user may not open {whom}", f"Run: {UDEV_RULE}")
    if isinstance(error, usb1.USBErrorBusy):
        return OfflineError(
            f"another program holds {whom}, probably an adb server",
            "The agent reaches the device through that server if adb_server in agent.toml names it. Otherwise stop"
            " it: adb kill-server.",
        )
    if isinstance(error, usb1.USBErrorNoDevice | usb1.USBErrorNotFound):
        return AbsentError(f"{whom} was unplugged", "Plug it in again.")
    return OfflineError(
        f"{whom} cannot be opened: {_reason(error)}", "Plug it in again."
    )


def _reason(error: Exception) -> str:
    return str(error).removeprefix("LIBUSB_ERROR_") or type(error).__name__
