"""Sends and receives packets of the ADB transport: 24 bytes of header, then the payload (AOSP adb/protocol.txt).

It replaces adb-shell, which sums what arrives byte by byte, copies each payload five times and asks for
checksums that today's devices omit: a pull took 4 to 8 times as long as with Google's client. Here a large
payload is received into its final buffer and sent from where it lies.
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
"""From here on nobody sums payloads (A_VERSION_SKIP_CHECKSUM)."""
LONGEST_PAYLOAD = 1 << 20
"""Bytes we take, and the most any device takes (MAX_PAYLOAD)."""
HEADER = struct.Struct("<6I")
AHEAD_BYTES = 64 << 10
"""Read at once where a header is expected: small packets come several to a call, and of a large payload only
its first part is copied."""
JOINED_BYTES = 16 << 10
"""Up to here a payload is sent in one piece with its header; copying more costs more than a second call."""
SUMMED_BYTES = 256
"""The lower half of Adler-32 is 1 + the sum of the bytes, modulo 65 521: exact for so many bytes, and a third
of the time that `sum` takes."""


class Packet(NamedTuple):
    """One packet as it came; `payload` is nobody else's."""

    command: int
    arg0: int
    arg1: int
    payload: bytearray

    @property
    def name(self) -> str:
        return self.command.to_bytes(4, "little").decode("ascii", "replace")


class PacketConnection:
    """One connection. `sums`: both sides sum payloads, as they do until they agreed not to."""

    def __init__(self, wire: DeadlineSocket, whom: str) -> None:
        self.sums = True
        self._wire, self._whom = wire, whom
        self._ahead = bytearray(AHEAD_BYTES)
        self._begin = self._end = 0
        """What was read ahead and not taken yet."""

    def send(
        self, command: int, arg0: int, arg1: int, payload: Bytes, deadline: float
    ) -> None:
        """Raises SlowError, LostError; after either the connection is out of step."""
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
        """The next packet whole. Raises SlowError, LostError."""
        while self._end - self._begin < HEADER.size:
            self._read_ahead(deadline)
        command, arg0, arg1, length, total, magic = HEADER.unpack_from(
            self._ahead, self._begin
        )
        if magic != command ^ 0xFFFFFFFF or length > LONGEST_PAYLOAD:
            header = bytes(self._ahead[self._begin : self._begin + HEADER.size]).hex()
            raise LostError(f"{self._whom} is out of step: it sent the header {header}")
        self._begin += HEADER.size
        packet = Packet(command, arg0, arg1, self._taken(length, deadline))
        if self.sums and total and total != checksum_of(packet.payload):
            raise LostError(
                f"{self._whom} is out of step: a {packet.name} arrived with a wrong checksum"
            )
        return packet

    def readable(self, timeout_s: float) -> bool:
        """Whether a packet, or the end, began to arrive within `timeout_s`."""
        return self._end > self._begin or self._wire.readable(timeout_s)

    def close(self) -> None:
        self._wire.close()

    def _read_ahead(self, deadline: float) -> None:
        kept = self._end - self._begin
        self._ahead[:kept] = self._ahead[self._begin : self._end]
        self._begin, self._end = 0, kept
        with memoryview(self._ahead) as view:
            self._end += self._arrived(view[kept:], deadline)

    def _taken(self, length: int, deadline: float) -> bytearray:
        ready = min(length, self._end - self._begin)
        if ready == length:
            payload = self._ahead[self._begin : self._begin + length]
        else:
            payload = bytearray(length)
            payload[:ready] = self._ahead[self._begin : self._end]
            with memoryview(payload) as view:
                at = ready
                while at < length:
                    at += self._arrived(view[at:], deadline)
        self._begin += ready
        return payload

    def _arrived(self, into: memoryview, deadline: float) -> int:
        count = self._wire.receive_into(into, deadline)
        if not count:
            raise LostError(f"{self._whom} ended the connection")
        return count


def checksum_of(payload: bytes | bytearray | memoryview) -> int:
    """The sum of a payload's bytes, which the protocol calls a CRC and devices of its first version (Android 6)
    expect. Python's `sum` takes 11 ms for 1 MB; 8 MB must pass in 0.27 s."""
    view = memoryview(payload)
    sums = [
        zlib.adler32(view[at : at + SUMMED_BYTES]) & 0xFFFF
        for at in range(0, len(view), SUMMED_BYTES)
    ]
    return (sum(sums) - len(sums)) & 0xFFFFFFFF
