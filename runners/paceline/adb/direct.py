"""A device over TCP without any adb binary: adb-shell's messages on our own socket.

Place in the journey: the backend for routes of kind `tcp` (`adb tcpip 5555`, emulators, simulated devices).
adb-shell 0.4.4 gives the messages, their checksums and the order of the handshake; the socket
(transport.py), the reading of what it drops (handshake.py) and the flow of a service (here) are ours, because
its own flow drops a WRTE that comes while it waits for an OKAY and waits for ever after a refused OPEN. For
that, three methods it documents as hidden are called; the version is pinned and the conformance suite holds
them. Invariants: one service at a time on a connection; no adb-shell exception leaves this module.
"""

from __future__ import annotations

import time
from collections import deque

from adb_shell import constants, exceptions
from adb_shell.adb_device import AdbDevice
from adb_shell.adb_message import AdbMessage
from adb_shell.hidden_helpers import _AdbTransactionInfo

from paceline.adb.backend import Backend
from paceline.adb.channel import Channel
from paceline.adb.checksums import checksum_of
from paceline.adb.handshake import banner_of, why_not
from paceline.adb.keys import AgentKey
from paceline.adb.port import AdbError, Banner, LostError, RefusedError, Route
from paceline.adb.shell import LONGEST_SERVICE
from paceline.adb.transport import GOODBYE_S, Transport, remaining

NEVER_S = 1e9
"""adb-shell's own limits are switched off: they are of the wall clock and begin anew at each packet."""
MESSAGE_GRACE_S = 15.0
"""For the rest of a message that began before the deadline: stopping within one loses step for good."""
HOST_BANNER = b"features=shell_v2,cmd"
"""What we say we are; adb-shell would send the host's name."""
BROKEN = (
    exceptions.InvalidCommandError,
    exceptions.InvalidChecksumError,
    exceptions.InvalidResponseError,
    exceptions.AdbTimeoutError,
    exceptions.AdbConnectionError,
    ValueError,
)
"""What adb-shell raises for bytes that are no messages."""


class Message(AdbMessage):  # type: ignore[misc]  # adb-shell ships no types
    """adb-shell's, whose checksum costs more time than sending what is summed."""

    @property
    def checksum(self) -> int:
        return checksum_of(self.data)


class Link:
    """One connection to one device, hands shaken."""

    def __init__(self, address: str, key: AgentKey, deadline: float) -> None:
        self.address = address
        self.transport = Transport(address)
        self.device = AdbDevice(self.transport, banner=HOST_BANNER)
        self.transport.deadline = deadline
        asked = False

        def ask(_: object) -> None:
            nonlocal asked
            asked = True

        try:
            self.device.connect([key], NEVER_S, NEVER_S, NEVER_S, ask)
            self.banner = banner_of(bytes(self.transport.heard), address)
        except (AdbError, exceptions.DeviceAuthError, *BROKEN) as error:
            self.close()
            raise why_not(error, bytes(self.transport.heard), asked, address, key.fingerprint) from error
        self.longest_message = max(1, min(self.device._maxdata, constants.MAX_ADB_DATA))

    def close(self) -> None:
        self.device.close()


class DirectChannel:
    """A service on a link; flow control is one WRTE, one OKAY (AOSP adb/protocol.txt)."""

    def __init__(self, link: Link, service: bytes, deadline: float, *, ends_link: bool) -> None:
        self._link, self._ends_link = link, ends_link
        self._io = link.device._io_manager
        self._arrived: deque[bytes] = deque()
        self._ended = False
        link.device._local_id += 1
        self._info = _AdbTransactionInfo(link.device._local_id, None, NEVER_S, NEVER_S)
        self._say(constants.OPEN, deadline, service + b"\0")
        said, remote_id, _ = self._hear(deadline)
        if said == constants.CLSE:
            self._ended = True
            self.close()
            raise RefusedError(f"the device at {link.address} refuses the service {_short(service)}")
        self._info.remote_id = remote_id

    def send(self, data: bytes, deadline: float) -> None:
        """See Channel."""
        size = self._link.longest_message
        for at in range(0, len(data), size):
            if self._ended:
                raise LostError(f"the device at {self._link.address} closed the service")
            self._say(constants.WRTE, deadline, data[at : at + size])
            while self._next(deadline) == constants.WRTE:
                pass  # what the device says meanwhile is kept; OKAY or CLSE ends the wait

    def receive(self, deadline: float) -> bytes | None:
        """See Channel."""
        while not self._arrived:
            if self._ended:
                return b""
            if not self._link.transport.readable(deadline - time.monotonic()):
                return None
            self._next(time.monotonic() + max(MESSAGE_GRACE_S, remaining(deadline)))
        return self._arrived.popleft()

    def close(self) -> None:
        """See Channel. The device's own CLSE comes later and is for nobody: its number is not used again."""
        if self._ends_link:
            self._link.close()
        elif not self._ended:
            self._ended = True
            try:
                self._say(constants.CLSE, time.monotonic() + GOODBYE_S)
            except AdbError:
                self._link.close()

    def _next(self, deadline: float) -> bytes:
        """Takes one message of this service; keeps what it carries."""
        said, _, data = self._hear(deadline)
        if said == constants.WRTE:
            self._say(constants.OKAY, deadline)
            self._arrived.append(data)
        elif said == constants.CLSE:
            self._ended = True
            self._say(constants.CLSE, deadline)
        return said

    def _say(self, command: bytes, deadline: float, data: bytes = b"") -> None:
        self._link.transport.deadline = deadline
        self._io.send(Message(command, self._info.local_id, self._info.remote_id or 0, data), self._info)

    def _hear(self, deadline: float) -> tuple[bytes, int, bytes]:
        """(command, number of the device's end, payload)"""
        self._link.transport.deadline = deadline
        expected = [constants.OKAY, constants.WRTE, constants.CLSE]
        try:
            command, remote_id, _, data = self._io.read(expected, self._info, allow_zeros=True)
        except BROKEN as error:
            raise LostError(f"the device at {self._link.address} is out of step: {error}") from error
        return bytes(command), int(remote_id), bytes(data)


class DirectConnection(Backend):
    """The device at `address`, "host:port"."""

    def __init__(self, address: str, key: AgentKey) -> None:
        super().__init__(Route("tcp", address))
        self._key = key
        self._link: Link | None = None

    @property
    def longest_service(self) -> int:
        return self._link.longest_message if self._link else LONGEST_SERVICE

    def _connect(self, deadline: float) -> Banner:
        self._link = Link(self._route.address, self._key, deadline)
        return self._link.banner

    def _open(self, service: bytes, deadline: float, apart: bool) -> Channel:
        link = self._link
        if apart or link is None:
            link = Link(self._route.address, self._key, deadline)
        try:
            return DirectChannel(link, service, deadline, ends_link=apart)
        except AdbError:
            if apart:
                link.close()
            raise

    def _close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None


def _short(service: bytes) -> str:
    return service.partition(b":")[0].decode("ascii", "replace") + ":"
