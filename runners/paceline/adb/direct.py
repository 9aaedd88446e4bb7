"""Connects to a device without any adb binary, by adb-shell.

`DirectConnection` is the backend for routes of kind `tcp` (`adb tcpip 5555`, emulators, simulated devices);
`UsbConnection` in `usb.py` is the one for USB. adb-shell connects, opens services and transfers files;
`adb_shell_fixes.py` corrects it, `handshake.py` holds its connects. Here its errors become those of `port.py`. Over TCP
every stream has a connection of its own.
"""

from __future__ import annotations

import contextlib
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
from adb_shell import exceptions

from paceline.adb.adb_shell_fixes import PatchedDevice, ServiceClosedError
from paceline.adb.base_connection import BaseConnection
from paceline.adb.channel import Channel
from paceline.adb.handshake import NO_PACKETS, KeyOffers
from paceline.adb.keys import AgentKey
from paceline.adb.port import AdbError, Banner, LostError, Route, SlowError
from paceline.adb.shell import LONGEST_SERVICE
from paceline.adb.socket_transport import SocketTransport
from paceline.adb.transfer import REGULAR_FILE, encode_path, refusal_error
from paceline.adb.transport import GOODBYE_S

REFUSAL_PREFIX = "Command failed: "
"""What adb-shell puts before the device's reason for refusing a pull."""


class DeviceLease(msgspec.Struct, frozen=True):
    """A connected device, its banner, and how to give it back."""

    device: PatchedDevice
    banner: Banner
    release: Callable[[], None]


class AdbShellChannel:
    """An open service of a device. `lease`: given back with the channel."""

    def __init__(
        self,
        device: PatchedDevice,
        service: bytes,
        deadline: float,
        lease: DeviceLease | None,
    ) -> None:
        self._device, self._lease = device, lease
        self._transaction: Any = device.open_service(service, deadline)

    def receive(self, deadline: float) -> bytes | None:
        """See Channel."""
        try:
            return self._device.read_service(self._transaction, deadline)
        except SlowError:
            return None

    def close(self) -> None:
        """See Channel."""
        with contextlib.suppress(AdbError):  # the connection has ended already
            deadline = time.monotonic() + GOODBYE_S
            self._device.close_service(self._transaction, deadline)
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.release()


class AdbShellConnection(BaseConnection):
    """A `port.Connection` by adb-shell; subclasses say how a device is reached."""

    def __init__(self, route: Route) -> None:
        super().__init__(route)
        self._lease: DeviceLease | None = None

    @abstractmethod
    def _lease_device(self, deadline: float) -> DeviceLease:
        """Connect. Raises Absent-, Offline-, Unauthorized-, TlsRequiredError."""

    @property
    def longest_service(self) -> int:
        return self._lease.device.longest_message if self._lease else LONGEST_SERVICE

    def _connect(self, deadline: float) -> Banner:
        self._lease = self._lease_device(deadline)
        return self._lease.banner

    def _open(self, service: bytes, deadline: float, separate: bool) -> Channel:
        if not separate and self._lease is not None:
            return AdbShellChannel(self._lease.device, service, deadline, None)
        lease = self._lease_device(deadline)
        try:
            return AdbShellChannel(lease.device, service, deadline, lease)
        except AdbError:
            lease.release()
            raise

    def _push(
        self, source: Path | bytes, remote: str, mode: int, deadline: float
    ) -> int:
        encode_path(remote)
        local = BytesIO(source) if isinstance(source, bytes) else str(source)
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        with self._use_for_transfer(remote, deadline) as (device, timeout_s):
            device.push(local, remote, REGULAR_FILE | mode, read_timeout_s=timeout_s)
        return size

    def _pull(self, remote: str, target: Path | BytesIO, deadline: float) -> None:
        local = target if isinstance(target, BytesIO) else str(target)
        with self._use_for_transfer(remote, deadline) as (device, timeout_s):
            device.pull(encode_path(remote), local, read_timeout_s=timeout_s)

    @contextmanager
    def _use_for_transfer(
        self, remote: str, deadline: float
    ) -> Iterator[tuple[PatchedDevice, float]]:
        """Give the device and the seconds left; adb-shell's errors become those of the port."""
        if self._lease is None:
            raise LostError(f"the device at {self._route} is not connected")
        try:
            yield self._lease.device, max(deadline - time.monotonic(), 0.0)
        except exceptions.PushFailedError as error:
            raise refusal_error(remote, _text(error.args[0])) from error
        except exceptions.AdbCommandFailureException as error:
            reason = str(error).removeprefix(REFUSAL_PREFIX)
            raise refusal_error(remote, reason) from error
        except SlowError as error:
            raise SlowError(
                f"{remote} was not transferred in time", "Allow more time."
            ) from error
        except ServiceClosedError as error:
            raise LostError(
                f"the device ended the service while {remote} was transferred"
            ) from error
        except UnicodeError as error:
            raise AdbError(
                f"{remote!r} is not a path that adb-shell can push to",
                "Choose a name in valid Unicode.",
            ) from error
        except (KeyError, *NO_PACKETS) as error:
            raise LostError(
                f"the device's answer about {remote} is out of step: {error}"
            ) from error

    def _close(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.release()


class DirectConnection(AdbShellConnection):
    """The device at `address`, "host:port". `offers` is shared by all connections of an agent; without it the
    connection keeps its own."""

    def __init__(
        self, address: str, key: AgentKey, offers: KeyOffers | None = None
    ) -> None:
        super().__init__(Route("tcp", address))
        self._key = key
        self._shared = offers
        self._offers = offers or KeyOffers()

    def close(self) -> None:
        """See port.Connection."""
        super().close()
        if self._shared is None:
            self._offers.close()

    def _lease_device(self, deadline: float) -> DeviceLease:
        address = self._route.address
        device, banner = self._offers.connect(
            address,
            partial(SocketTransport, address),
            f"the device at {address}",
            self._key,
            deadline,
        )
        return DeviceLease(device, banner, device.close)


def _text(reason: bytes | bytearray) -> str:
    return bytes(reason).decode("utf-8", "replace")
