"""Reads the shell protocol v2: packets with both outputs apart, and the exit status (AOSP shell_protocol.h).

A packet is one byte of kind, four bytes of length (little-endian) and the data. Nothing is sent, because a
command's standard input is empty.
"""

from __future__ import annotations

import struct
from typing import Literal

from paceline.adb.port import LostError

HEADER = struct.Struct("<BI")
STDOUT, STDERR, EXIT = 1, 2, 3
LONGEST = 1 << 20
"""Most bytes of one packet. adbd sends at most MAX_PAYLOAD; more cannot be the shell protocol."""

OutputPiece = tuple[Literal["stdout", "stderr"], bytes | memoryview]


class ShellV2:
    """Takes bytes as they come and returns pieces of output in order of arrival."""

    def __init__(self) -> None:
        self.rc: int | None = None
        self._rest = b""
        """The begin of a packet that is not complete yet."""

    def feed(self, data: bytes | bytearray) -> list[OutputPiece]:
        """Return the output in the packets that `data` completes, as views of `data`. Raises LostError for anything
        that is not a packet."""
        if self._rest:
            data = self._rest + data
            self._rest = b""
        pieces: list[OutputPiece] = []
        view, at = memoryview(data), 0
        while self.rc is None and len(view) - at >= HEADER.size:
            kind, length = HEADER.unpack_from(view, at)
            if length > LONGEST:
                raise LostError(
                    f"the device's shell sent a packet of {length} bytes: out of step"
                )
            end = at + HEADER.size + length
            if len(view) < end:
                break
            body = view[at + HEADER.size : end]
            at = end
            if kind == EXIT:
                if not body:
                    raise LostError("the device's shell ended without a status")
                self.rc = body[0]
            elif kind in (STDOUT, STDERR) and body:
                pieces.append(("stdout" if kind == STDOUT else "stderr", body))
        self._rest = bytes(view[at:])
        return pieces
