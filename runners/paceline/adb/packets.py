"""Sends and receives packets of the ADB transport: 24 bytes of header, then the payload (AOSP adb/protocol.txt).

It replaces the package adb-shell, with which a pull took 4 to 8 times as long as with Google's client: it
copies each payload five times and sums it byte by byte. Here a large payload is received into its final buffer
and sent without a copy.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from paceline.adb.channel import Bytes
from paceline.adb.port import LostError
from paceline.adb.transport import DeadlineSocket

CNXN, AUTH, OPEN, OKAY, CLSE, WRTE, STLS = (
    int.from_bytes(name, "little")
    for name in (b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"CLSE", b"WRTE", b"STLS")
)
VERSION = 0x01000001
"""The first version without checksums of payloads (A_VERSION_SKIP_CHECKSUM)."""
LONGEST_PAYLOAD = 1 << 20
"""Most bytes of a payload, for us and for any device (MAX_PAYLOAD)."""
HEADER = struct.Struct("<6I")
AHEAD_BYTES = 64 << 10
"""Bytes read at once where a header is expected. One call receives several small packets, and only the first
part of a large payload is copied."""
JOINED_BYTES = 16 << 10
"""Largest payload that is joined with its header. Copying a larger one costs more than a second call."""
SUMMED_BYTES = 256
"""Bytes summed by one Adler-32, whose lower half is 1 + the sum of the bytes modulo 65 521: exact for this many
bytes, in a third of the time of `sum`."""


class Packet(NamedTuple):
    """One received packet. The caller owns `payload`."""

    command: int
    arg0: int
    arg1: int
    payload: bytearray

    @property
    def name(self) -> str:
        return self.command.to_bytes(4, "little").decode("ascii", "replace")


class PacketConnection:
    """Packets over one socket. `sums`: payloads have checksums, until both sides have agreed to omit them."""

    def __init__(self, wire: DeadlineSocket, whom: str) -> None:
        self.sums = True
        self._wire, self._whom = wire, whom
        self._ahead = bytearray(AHEAD_BYTES)
        self._begin = self._end = 0
        """The part of `_ahead` that was read and not taken yet."""

    def send(
        self, command: int, arg0: int, arg1: int, payload: Bytes, deadline: float
    ) -> None:
        """Sends one packet. Raises SlowError, LostError; after either the connection is out of step."""
        total = checksum_of(payload) if self.sums else 0
        head = HEADER.pack(
            command, arg0, arg1, len(payload), total, command ^ 0xFFFFFFFF
        )
        if len(payload) <= JOINED_BYTES:
            self._wire.send(b"".join((head, payload)), deadline)
        else:
            self._wire.send(head, deadline, more=True)
            self._wire.send(payload, deadline)

    def receive(self, deadline: float) -> Packet:
        """Receives one whole packet. Raises SlowError, LostError."""
        while self._end - self._begin < HEADER.size:
            self._read_ahead(deadline)
        command, arg0, arg1, length, total, magic = HEADER.unpack_from(
            self._ahead, self._begin
        )
        if magic != command ^ 0xFFFFFFFF or length > LONGEST_PAYLOAD:
            header = bytes(self._ahead[self._begin : self._begin + HEADER.size]).hex()
            raise LostError(f"{self._whom} is out of step: it sent the header {header}")
        self._begin += HEADER.size
        packet = Packet(command, arg0, arg1, self._take_payload(length, deadline))
        if self.sums and total and total != checksum_of(packet.payload):
            raise LostError(
                f"{self._whom} is out of step: a {packet.name} arrived with a wrong checksum"
            )
        return packet

    def readable(self, timeout_s: float) -> bool:
        """Whether a packet begins to arrive, or the connection ends, within `timeout_s`."""
        return self._end > self._begin or self._wire.readable(timeout_s)

    def close(self) -> None:
        self._wire.close()

    def _read_ahead(self, deadline: float) -> None:
        kept = self._end - self._begin
        self._ahead[:kept] = self._ahead[self._begin : self._end]
        self._begin, self._end = 0, kept
        with memoryview(self._ahead) as view:
            self._end += self._receive_into(view[kept:], deadline)

    def _take_payload(self, length: int, deadline: float) -> bytearray:
        ready = min(length, self._end - self._begin)
        if ready == length:
            payload = self._ahead[self._begin : self._begin + length]
        else:
            payload = bytearray(length)
            payload[:ready] = self._ahead[self._begin : self._end]
            with memoryview(payload) as view:
                at = ready
                while at < length:
                    at += self._receive_into(view[at:], deadline)
        self._begin += ready
        return payload

    def _receive_into(self, into: memoryview, deadline: float) -> int:
        count = self._wire.receive_into(into, deadline)
        if not count:
            raise LostError(f"{self._whom} ended the connection")
        return count


def checksum_of(payload: bytes | bytearray | memoryview) -> int:
    """The sum of a payload's bytes, which Android 6 requires and the protocol calls a CRC.

    Python's `sum` would take 11 ms for 1 MB; 8 MB must pass in 0.27 s.
    """
    view = memoryview(payload)
    sums = [
        zlib.adler32(view[at : at + SUMMED_BYTES]) & 0xFFFF
        for at in range(0, len(view), SUMMED_BYTES)
    ]
    return (sum(sums) - len(sums)) & 0xFFFFFFFF
