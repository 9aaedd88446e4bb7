"""Connects to a device through Google's adb server: USB and paired wireless debugging.

The backend for routes of kind `server`. A connection is a transport of the server (its transport id); each
service has its own socket to the server. The connection is lost when the server reopens the device with
another id. A TCP device that the server reconnects keeps its id: callers check boot id and serial.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from paceline.adb.base_connection import BaseConnection
from paceline.adb.channel import Bytes
from paceline.adb.port import (
    CONNECT_TIMEOUT_S,
    AbsentError,
    AdbError,
    Banner,
    LostError,
    RefusedError,
    Route,
    SlowError,
)
from paceline.adb.smart_socket import (
    DEFAULT_ADDRESS,
    AdbServerRequest,
    ListedDevice,
    ask,
    failure_error,
    parse_devices,
    state_error,
)
from paceline.adb.sync import SERVICE as SYNC
from paceline.adb.sync import Sync
from paceline.adb.transport import READ_BYTES, DeadlineSocket


class AdbServer:
    """The adb server at `address`. No request starts a server."""

    def __init__(self, address: str = DEFAULT_ADDRESS) -> None:
        self.address = address

    def version(self, timeout_s: float = CONNECT_TIMEOUT_S) -> int:
        """Return the version of its protocol: 41 since 2018. Raises AbsentError when nobody listens."""
        answer = ask(self.address, "host:version", timeout_s)
        try:
            return int(answer, 16)
        except ValueError as error:
            raise LostError(
                f"{self.address} is not an adb server: it answered the version {answer!r}"
            ) from error

    def devices(self, timeout_s: float = CONNECT_TIMEOUT_S) -> list[ListedDevice]:
        """Return all devices that it lists, in any state. Raises AbsentError when nobody listens."""
        return parse_devices(ask(self.address, "host:devices-l", timeout_s))

    def connect_to(self, address: str, timeout_s: float = CONNECT_TIMEOUT_S) -> str:
        """Make the server connect to a device by TCP; return its message, also of a failure."""
        return ask(self.address, f"host:connect:{address}", timeout_s)

    def disconnect_from(
        self, address: str, timeout_s: float = CONNECT_TIMEOUT_S
    ) -> None:
        """Make the server forget a device by TCP, if it knows it."""
        with contextlib.suppress(RefusedError, AbsentError):
            ask(self.address, f"host:disconnect:{address}", timeout_s)

    def reconnect(self, name: str, timeout_s: float = CONNECT_TIMEOUT_S) -> str:
        """Do what `adb -s NAME reconnect` does: the server closes its connection to the device and opens it again.
        A TCP device is forgotten instead."""
        return ask(self.address, f"host-serial:{name}:reconnect", timeout_s)

    def connection(self, name: str) -> ServerConnection:
        """Return a connection to the device it knows as `name`; not connected yet."""
        return ServerConnection(self.address, name)


class ServerChannel:
    """A service behind a smart socket. The server does the flow control."""

    def __init__(self, wire: DeadlineSocket) -> None:
        self._wire = wire

    def send(self, data: Bytes, deadline: float) -> None:
        """Send all of `data`. Raises SlowError, LostError."""
        self._wire.send(data, deadline)

    def receive(self, deadline: float) -> bytes | None:
        """See Channel."""
        try:
            return self._wire.receive(READ_BYTES, deadline)
        except SlowError:
            return None

    def close(self) -> None:
        """See Channel."""
        self._wire.close()


class ServerConnection(BaseConnection):
    """The device `name` of the adb server at `address`."""

    def __init__(self, address: str, name: str) -> None:
        super().__init__(Route("server", address, name))
        self._transport = b""

    def _connect(self, deadline: float) -> Banner:
        address, name = self._route.address, self._route.name
        known = {
            device.name: device
            for device in AdbServer(address).devices(
                max(deadline - time.monotonic(), 0.1)
            )
        }.get(name)
        if known is None:
            raise failure_error("device not found", name, address)
        if refusal := state_error(known.state, name, address):
            raise refusal
        number = known.props.get("transport_id", "")
        self._transport = (
            f"host:transport-id:{number}".encode() if number else _by_name(name)
        )
        features = ask(
            address,
            f"host-serial:{name}:features",
            max(deadline - time.monotonic(), 0.1),
        )
        props = {
            key: value
            for key, value in known.props.items()
            if key in ("product", "model", "device")
        }
        return Banner(frozenset(filter(None, features.split(","))), props)

    def _open(self, service: bytes, deadline: float, separate: bool) -> ServerChannel:
        del separate  # every service has a socket of its own
        address, name = self._route.address, self._route.name
        request = AdbServerRequest(address, deadline)
        try:
            try:
                request.ask(self._transport or _by_name(name), name)
            except AbsentError as error:
                raise LostError(
                    f"the adb server at {address} dropped {name}", error.advice
                ) from error
            # The server has answered, so from here on errors name the device.
            request.wire.whom = f"the device {name} at the adb server {address}"
            request.ask(service, name)
        except AdbError:
            request.wire.close()
            raise
        return ServerChannel(request.wire)

    def _push(
        self, source: Path | bytes, remote: str, mode: int, deadline: float
    ) -> int:
        with (
            BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file,
            self._open_sync(deadline) as sync,
        ):
            return sync.push(file, remote, mode)

    def _pull(self, remote: str, target: Path | BytesIO, deadline: float) -> None:
        with self._open_sync(deadline) as sync:
            if isinstance(target, BytesIO):
                target.writelines(sync.pull(remote))
            else:
                with target.open("wb") as file:
                    file.writelines(sync.pull(remote))

    @contextmanager
    def _open_sync(self, deadline: float) -> Iterator[Sync]:
        channel = self._open(SYNC, deadline, separate=False)
        try:
            yield Sync(channel, deadline)
        finally:
            channel.close()

    def _close(self) -> None:
        self._transport = b""


def _by_name(name: str) -> bytes:
    """Return the request for servers that have no transport ids yet."""
    return f"host:transport:{name}".encode()
