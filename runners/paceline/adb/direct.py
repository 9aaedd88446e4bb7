"""Connects to a device over TCP without any adb binary.

The backend for routes of kind `tcp` (`adb tcpip 5555`, emulators, simulated devices). It runs one service at a
time on a connection; every WRTE waits for its OKAY (AOSP adb/protocol.txt). `packets.py` and `handshake.py`
hold the layers below.
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
"""Time for the rest of a message that began before the deadline. A message read in part would put the
connection out of step."""


class DeviceLink:
    """One connection to one device after its handshake. Raises Absent-, Offline-, Unauthorized-,
    TlsRequiredError."""

    def __init__(
        self, address: str, key: AgentKey, deadline: float, offers: KeyOffers
    ) -> None:
        self.address = address
        waiting = offers.take(address)
        if waiting is None or not self._resume(waiting, deadline, offers):
            whom = f"the device at {address}"
            wire = DeadlineSocket(open_socket(address, deadline, NOBODY), whom)
            handshake = Handshake(PacketConnection(wire, whom), key, address)
            self._finish_handshake(handshake, deadline, offers)
        self._last_id = 0

    def _resume(self, waiting: Handshake, deadline: float, offers: KeyOffers) -> bool:
        """Continues a handshake that waited for a person; False when its connection has ended."""
        try:
            self._finish_handshake(waiting, deadline, offers)
        except (OfflineError, UnauthorizedError):
            if waiting.waits_for_person:
                raise
            return False
        return True

    def _finish_handshake(
        self, handshake: Handshake, deadline: float, offers: KeyOffers
    ) -> None:
        try:
            result = handshake.finish(deadline, lambda: offers.request(self.address))
        except UnauthorizedError:
            if handshake.waits_for_person:
                offers.keep(self.address, handshake)
            raise
        offers.note_trust(self.address)
        self.packets, self.banner = handshake.connection, result.banner
        self.longest_message = result.longest_message

    def next_id(self) -> int:
        """A service number that this connection has not used yet."""
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
        self._send_packet(packets.OPEN, deadline, service + b"\0")
        packet = self._receive_packet(deadline)
        if packet.command == packets.CLSE:
            self._ended = True
            self.close()
            raise RefusedError(
                f"the device at {link.address} refuses the service {_service_kind(service)}"
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
            self._send_packet(packets.WRTE, deadline, view[at : at + size])
            while self._take_packet(deadline) == packets.WRTE:
                pass  # data that arrives meanwhile is kept; OKAY or CLSE ends the wait

    def receive(self, deadline: float) -> bytearray | None:
        """See Channel."""
        while not self._arrived:
            if self._ended:
                return bytearray()
            if not self._link.packets.readable(deadline - time.monotonic()):
                return None
            grace_s = max(MESSAGE_GRACE_S, remaining(deadline))
            self._take_packet(time.monotonic() + grace_s)
        return self._arrived.popleft()

    def close(self) -> None:
        """See Channel. The device's own CLSE comes later and is ignored, because its number is not reused."""
        if self._ends_link:
            self._link.close()
        elif not self._ended:
            self._ended = True
            try:
                self._send_packet(packets.CLSE, time.monotonic() + GOODBYE_S)
            except AdbError:
                self._link.close()

    def _take_packet(self, deadline: float) -> int:
        """Receives a packet of this service, answers it and keeps its data; returns its command."""
        packet = self._receive_packet(deadline)
        if packet.command == packets.WRTE:
            self._send_packet(packets.OKAY, deadline)
            self._arrived.append(packet.payload)
        elif packet.command == packets.CLSE:
            self._ended = True
            self._send_packet(packets.CLSE, deadline)
        return packet.command

    def _send_packet(self, command: int, deadline: float, data: Bytes = b"") -> None:
        self._link.packets.send(command, self._id, self._remote_id, data, deadline)

    def _receive_packet(self, deadline: float) -> Packet:
        """The next packet of this service. Packets of services closed earlier are dropped."""
        while True:
            packet = self._link.packets.receive(deadline)
            if packet.command not in (packets.OKAY, packets.WRTE, packets.CLSE):
                raise LostError(
                    f"the device at {self._link.address} is out of step: it sent {packet.name}"
                )
            is_from_our_end = packet.arg0 in (0, self._remote_id) or not self._remote_id
            if packet.arg1 == self._id and is_from_our_end:
                return packet


class DirectConnection(BaseConnection):
    """The device at `address`, "host:port". `offers` is shared by all connections of an agent; without it the
    connection keeps its own."""

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

    def _open(self, service: bytes, deadline: float, separate: bool) -> Channel:
        link = self._link
        if separate or link is None:
            link = DeviceLink(self._route.address, self._key, deadline, self._offers)
        try:
            return DirectChannel(link, service, deadline, ends_link=separate)
        except AdbError:
            if separate:
                link.close()
            raise

    def _close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None


def _service_kind(service: bytes) -> str:
    return service.partition(b":")[0].decode("ascii", "replace") + ":"
