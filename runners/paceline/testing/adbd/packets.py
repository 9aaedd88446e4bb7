"""Encodes and decodes packets of the ADB transport: 24 bytes of header, then the payload.

A header with a wrong magic is rejected. The meaning of packets is the session's.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

HEADER_BYTES = 24
LAYOUT = struct.Struct("<6I")

SYNC, CNXN, AUTH, OPEN, OKAY, CLSE, WRTE, STLS = (
    int.from_bytes(name, "little")
    for name in (b"SYNC", b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"CLSE", b"WRTE", b"STLS")
)

VERSION_WITH_CHECKSUM = 0x01000000
VERSION = 0x01000001
"""From this version on the checksum of a payload is 0 and not read."""

LEGACY_PAYLOAD_BYTES = 4096
"""The largest payload of the first version of the protocol (MAX_PAYLOAD_V1)."""
PAYLOAD_BYTES = 1024 * 1024
"""The largest payload of today's devices (MAX_PAYLOAD)."""

SHORT_PAYLOAD_BYTES = 4093
"""The largest payload of the peer under `short_writes`: prime, so that frames within a stream never fall
together with packets."""

AUTH_TOKEN, AUTH_SIGNATURE, AUTH_PUBLIC_KEY = 1, 2, 3


class ProtocolError(Exception):
    """The client violated the protocol."""


class Header(NamedTuple):
    """The fixed part of a packet."""

    command: int
    arg0: int
    arg1: int
    length: int
    checksum: int

    @property
    def name(self) -> str:
        return self.command.to_bytes(4, "little").decode("ascii", "replace")

    @classmethod
    def unpack(cls, head: bytes) -> Header:
        command, arg0, arg1, length, checksum, magic = LAYOUT.unpack(head)
        if magic != command ^ 0xFFFFFFFF:
            raise ProtocolError(f"a header whose magic is wrong: {head.hex()}")
        return cls(command, arg0, arg1, length, checksum)


def checksum_of(payload: bytes) -> int:
    """Return the sum of a payload's bytes, which the protocol calls a CRC and versions below `VERSION` check."""
    return sum(payload) & 0xFFFFFFFF


def pack(
    command: int, arg0: int, arg1: int, payload: bytes = b"", *, checksum: bool = True
) -> bytes:
    """Return a packet as bytes."""
    total = checksum_of(payload) if checksum else 0
    return (
        LAYOUT.pack(command, arg0, arg1, len(payload), total, command ^ 0xFFFFFFFF)
        + payload
    )
