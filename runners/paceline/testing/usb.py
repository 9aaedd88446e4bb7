"""Simulated USB: what libusb1 gives for phones on a bus, backed by simulated daemons.

`SimulatedUsb` takes the place of a libusb context (`UsbBus(context)`). A device's two endpoints carry the packets of a
daemon as adbd's driver does: header and payload are transfers of their own, and one that fills its last packet of the
bus is ended by an empty one, in both directions. A daemon on USB does not notice when a program releases it; the next
greeting ends what ran for it.
"""
# ruff: noqa: N802 -- the names are libusb1's

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Iterator

import usb1

from paceline.adb.port import AbsentError, LostError, SlowError
from paceline.adb.transport import DeadlineSocket, open_socket
from paceline.testing.adbd.packets import HEADER_BYTES, Header

PACKET_BYTES = 512
"""One packet of the bus at high speed."""
READ_ENDPOINT, WRITE_ENDPOINT = 0x81, 0x01
CONNECT_S = 10.0


class SimulatedUsb:
    """The devices on the bus, as libusb's context lists them. Tests add and remove some at any time."""

    def __init__(self, *devices: SimulatedUsbDevice) -> None:
        self.devices = list(devices)

    def getDeviceIterator(self, skip_on_error: bool = False) -> Iterator[object]:
        del skip_on_error
        return (device for device in [*self.devices] if not device.is_unplugged)


class SimulatedUsbDevice:
    """A phone on a port, whose daemon listens at `address`. It is its own interface setting."""

    def __init__(
        self, address: str, serial: str, bus: int = 1, ports: tuple[int, ...] = (2,)
    ) -> None:
        self.serial, self._address = serial, address
        self._bus, self._ports = bus, ports
        self.violations: list[str] = []
        """Actions of a program that libusb or adbd's driver forbids."""
        self.is_unplugged = self.is_denied = self.is_held = False
        """`is_denied`: this user may not open it. `is_held`: another program has claimed it."""
        self.claims = 0
        """How often it was claimed."""
        self.open_handles = 0
        self.owner: SimulatedHandle | None = None
        self.daemon: _Daemon | None = None

    @property
    def port(self) -> str:
        return f"{self._bus}-{'.'.join(map(str, self._ports))}"

    @property
    def is_claimed(self) -> bool:
        return self.owner is not None

    def unplug(self) -> None:
        """Pull the cable."""
        self.is_unplugged = True
        self.end_daemon()

    def plug_in(self) -> None:
        self.is_unplugged = False

    def end_daemon(self) -> None:
        daemon, self.daemon = self.daemon, None
        if daemon is not None:
            daemon.wire.close()

    # --- libusb's device ---

    def getBusNumber(self) -> int:
        return self._bus

    def getPortNumberList(self) -> list[int]:
        return list(self._ports)

    def getSerialNumber(self) -> str:
        self._check_access()
        return self.serial

    def iterSettings(self) -> Iterator[object]:
        yield self

    def open(self) -> SimulatedHandle:
        self._check_access()
        return SimulatedHandle(self)

    def _check_access(self) -> None:
        if self.is_unplugged:
            raise usb1.USBErrorNoDevice
        if self.is_denied:
            raise usb1.USBErrorAccess

    # --- libusb's setting ---

    def getClass(self) -> int:
        return int(usb1.CLASS_VENDOR_SPEC)

    def getSubClass(self) -> int:
        return 0x42

    def getProtocol(self) -> int:
        return 0x01

    def getNumber(self) -> int:
        return 1

    def iterEndpoints(self) -> Iterator[SimulatedEndpoint]:
        yield SimulatedEndpoint(WRITE_ENDPOINT)
        yield SimulatedEndpoint(READ_ENDPOINT)


class SimulatedEndpoint:
    def __init__(self, address: int) -> None:
        self._address = address

    def getAddress(self) -> int:
        return self._address

    def getMaxPacketSize(self) -> int:
        return PACKET_BYTES


class _Daemon:
    """The connection of a device's driver to its daemon."""

    def __init__(self, address: str) -> None:
        deadline = time.monotonic() + CONNECT_S
        self.wire = DeadlineSocket(open_socket(address, deadline, ""), "the daemon")
        self.arrived = b""
        self.transfers: deque[bytes] = deque()
        """Data to send to the host; each is one transfer."""
        self.expects = HEADER_BYTES
        """Bytes of the host's next message."""
        self.is_header = True
        self.received = b""
        """The host's message so far."""

    def fill(self, deadline: float) -> None:
        """Read the daemon's next packet. Raises SlowError, LostError."""
        while True:
            if len(self.arrived) >= HEADER_BYTES:
                length = Header.unpack(self.arrived[:HEADER_BYTES]).length
                if len(self.arrived) >= HEADER_BYTES + length:
                    break
            data = self.wire.receive(256 << 10, deadline)
            if not data:
                raise LostError("the daemon ended")
            self.arrived += data
        self.transfers.append(self.arrived[:HEADER_BYTES])
        if length:
            self.transfers.append(self.arrived[HEADER_BYTES : HEADER_BYTES + length])
            if length % PACKET_BYTES == 0:
                self.transfers.append(b"")
        self.arrived = self.arrived[HEADER_BYTES + length :]

    def take(self, data: bytes, deadline: float) -> str:
        """Take one of the host's transfers; returns what it did wrong."""
        self.received += data
        if len(data) % PACKET_BYTES == 0 and data:
            return ""  # an empty transfer must follow before the driver has it
        message, self.received = self.received, b""
        if len(message) != self.expects:
            return f"a transfer of {len(message)} bytes where {self.expects} belong"
        if self.is_header:
            length = Header.unpack(message).length
            self.is_header, self.expects = length == 0, length or HEADER_BYTES
        else:
            self.is_header, self.expects = True, HEADER_BYTES
        self.wire.send(message, deadline)
        return ""


class SimulatedHandle:
    """An open device."""

    def __init__(self, device: SimulatedUsbDevice) -> None:
        self._device = device
        device.open_handles += 1
        self._is_closed = False
        self._transfers_in_flight = 0
        self._counting = threading.Lock()

    def kernelDriverActive(self, interface: int) -> bool:
        del interface
        raise usb1.USBErrorNotFound

    def claimInterface(self, interface: int) -> None:
        del interface
        if self._device.is_held or self._device.owner is not None:
            raise usb1.USBErrorBusy
        if self._device.daemon is None:
            try:
                self._device.daemon = _Daemon(self._device._address)
            except AbsentError:
                raise usb1.USBErrorNoDevice from None
        self._device.owner = self
        self._device.claims += 1

    def releaseInterface(self, interface: int) -> None:
        del interface
        if self._device.owner is self:
            self._device.owner = None
        if self._device.is_unplugged:
            raise usb1.USBErrorNoDevice

    def bulkRead(self, endpoint: int, length: int, timeout: int = 0) -> bytearray:
        if endpoint != READ_ENDPOINT:
            self._device.violations.append(f"a read of endpoint {endpoint:#x}")
        with self._transfer() as daemon:
            if not daemon.transfers:
                try:
                    daemon.fill(time.monotonic() + timeout / 1000)
                except SlowError:
                    error = usb1.USBErrorTimeout()
                    error.received = b""
                    raise error from None
            transfer = daemon.transfers.popleft()
            if len(transfer) > length:
                if length % PACKET_BYTES:
                    raise usb1.USBErrorOverflow
                daemon.transfers.appendleft(transfer[length:])
                transfer = transfer[:length]
            elif (
                daemon.transfers and not daemon.transfers[0] and len(transfer) < length
            ):
                daemon.transfers.popleft()  # the empty packet that ended this transfer
            return bytearray(transfer)

    def bulkWrite(self, endpoint: int, data: bytes, timeout: int = 0) -> int:
        if endpoint != WRITE_ENDPOINT:
            self._device.violations.append(f"a write to endpoint {endpoint:#x}")
        with self._transfer() as daemon:
            try:
                mistake = daemon.take(bytes(data), time.monotonic() + timeout / 1000)
            except SlowError:
                raise usb1.USBErrorTimeout from None
            if mistake:
                self._device.violations.append(mistake)
            return len(data)

    def close(self) -> None:
        with self._counting:
            if self._transfers_in_flight:
                self._device.violations.append("a close under a transfer")
        if self._device.owner is self:
            self._device.owner = None
        if not self._is_closed:
            self._device.open_handles -= 1
        self._is_closed = True

    @contextlib.contextmanager
    def _transfer(self) -> Iterator[_Daemon]:
        """Surround one transfer of the interface that this handle has claimed."""
        if self._is_closed:
            self._device.violations.append("a transfer after the close")
        if self._device.owner is not self:
            raise usb1.USBErrorIO
        with self._counting:
            self._transfers_in_flight += 1
        daemon = self._device.daemon
        try:
            if daemon is None:
                raise usb1.USBErrorNoDevice
            yield daemon
        except LostError:  # unplugged, or restarting
            if self._device.daemon is daemon:
                self._device.end_daemon()
            raise usb1.USBErrorNoDevice from None
        finally:
            with self._counting:
                self._transfers_in_flight -= 1
