"""Connects to a device over TCP without any adb binary.

The backend for routes of kind `tcp` (`adb tcpip 5555`, emulators, simulated devices): `packets.py` on a
socket of ours, `handshake.py`, and here the flow control of one service: one WRTE, one OKAY (AOSP
adb/protocol.txt). One service at a time on a connection.
"""

from __future__ import annotations

import time
from collections import deque

from paceline.adb import packets
from paceline.adb.base_connection import BaseConnection
from paceline.adb.channel import Bytes, Channel
from paceline.adb.handshake import Handshake, KeyOffers
from paceline.adb.keys import AgentKey
from paceline.adb.packets import Packet, PacketConnection
from paceline.adb.port import (
    AdbError,
    Banner,
    LostError,
    OfflineError,
    RefusedError,
    Route,
    UnauthorizedError,
)
from paceline.adb.shell import LONGEST_SERVICE
from paceline.adb.transport import (
    GOODBYE_S,
    NOBODY,
    DeadlineSocket,
    open_socket,
    remaining,
)

MESSAGE_GRACE_S = 15.0
"""For the rest of a message that began before the deadline: stopping within one loses step for good."""


class DeviceLink:
    """One connection to one device, hands shaken. Raises Absent-, Offline-, Unauthorized-,
    TlsRequiredError."""

    def __init__(
        self, address: str, key: AgentKey, deadline: float, offers: KeyOffers
    ) -> None:
        self.address = address
        waiting = offers.taken(address)
        if waiting is None or not self._took_up(waiting, deadline, offers):
            whom = f"the device at {address}"
            wire = DeadlineSocket(open_socket(address, deadline, NOBODY), whom)
            self._shake(
                Handshake(PacketConnection(wire, whom), key, address), deadline, offers
            )
        self._last_id = 0

    def _took_up(self, waiting: Handshake, deadline: float, offers: KeyOffers) -> bool:
        """Goes on with a handshake that waited for a person; False when its connection has ended."""
        try:
            self._shake(waiting, deadline, offers)
        except (OfflineError, UnauthorizedError):
            if waiting.waits_for_person:
                raise
            return False
        return True

    def _shake(self, handshake: Handshake, deadline: float, offers: KeyOffers) -> None:
        try:
            greeting = handshake.finish(deadline, lambda: offers.wait_s(self.address))
        except UnauthorizedError:
            if handshake.waits_for_person:
                offers.kept(self.address, handshake)
            raise
        offers.trusted(self.address)
        self.packets, self.banner = handshake.connection, greeting.banner
        self.longest_message = greeting.longest_message

    def next_id(self) -> int:
        """A number no service of this connection had before."""
        self._last_id += 1
        return self._last_id

    def close(self) -> None:
        self.packets.close()


class DirectChannel:
    """A service on a link."""

    def __init__(
        self, link: DeviceLink, service: bytes, deadline: float, *, ends_link: bool
    ) -> None:
        self._link, self._ends_link = link, ends_link
        self._arrived: deque[bytearray] = deque()
        self._ended = False
        self._id, self._remote_id = link.next_id(), 0
        self._say(packets.OPEN, deadline, service + b"\0")
        packet = self._hear(deadline)
        if packet.command == packets.CLSE:
            self._ended = True
            self.close()
            raise RefusedError(
                f"the device at {link.address} refuses the service {_short(service)}"
            )
        self._remote_id = packet.arg0

    def send(self, data: Bytes, deadline: float) -> None:
        """See Channel."""
        view, size = memoryview(data), self._link.longest_message
        for at in range(0, len(view), size):
            if self._ended:
                raise LostError(
                    f"the device at {self._link.address} closed the service"
                )
            self._say(packets.WRTE, deadline, view[at : at + size])
            while self._next(deadline) == packets.WRTE:
                pass  # what the device says meanwhile is kept; OKAY or CLSE ends the wait

    def receive(self, deadline: float) -> bytearray | None:
        """See Channel."""
        while not self._arrived:
            if self._ended:
                return bytearray()
            if not self._link.packets.readable(deadline - time.monotonic()):
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
                self._say(packets.CLSE, time.monotonic() + GOODBYE_S)
            except AdbError:
                self._link.close()

    def _next(self, deadline: float) -> int:
        """Takes one message of this service; keeps what it carries."""
        packet = self._hear(deadline)
        if packet.command == packets.WRTE:
            self._say(packets.OKAY, deadline)
            self._arrived.append(packet.payload)
        elif packet.command == packets.CLSE:
            self._ended = True
            self._say(packets.CLSE, deadline)
        return packet.command

    def _say(self, command: int, deadline: float, data: Bytes = b"") -> None:
        self._link.packets.send(command, self._id, self._remote_id, data, deadline)

    def _hear(self, deadline: float) -> Packet:
        """The next packet of this service. What a service that was closed before still said is dropped."""
        while True:
            packet = self._link.packets.receive(deadline)
            if packet.command not in (packets.OKAY, packets.WRTE, packets.CLSE):
                raise LostError(
                    f"the device at {self._link.address} is out of step: it said {packet.name}"
                )
            is_from_our_end = packet.arg0 in (0, self._remote_id) or not self._remote_id
            if packet.arg1 == self._id and is_from_our_end:
                return packet


class DirectConnection(BaseConnection):
    """The device at `address`, "host:port". `offers`: what this agent has asked of people, shared by all its
    connections; without them this one keeps its own."""

    def __init__(
        self, address: str, key: AgentKey, offers: KeyOffers | None = None
    ) -> None:
        super().__init__(Route("tcp", address))
        self._key = key
        self._shared = offers
        self._offers = offers or KeyOffers()
        self._link: DeviceLink | None = None

    @property
    def longest_service(self) -> int:
        return self._link.longest_message if self._link else LONGEST_SERVICE

    def close(self) -> None:
        """See port.Connection."""
        super().close()
        if self._shared is None:
            self._offers.close()

    def _connect(self, deadline: float) -> Banner:
        self._link = DeviceLink(self._route.address, self._key, deadline, self._offers)
        return self._link.banner

    def _open(self, service: bytes, deadline: float, apart: bool) -> Channel:
        link = self._link
        if apart or link is None:
            link = DeviceLink(self._route.address, self._key, deadline, self._offers)
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
