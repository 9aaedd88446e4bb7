"""Transfers files through an adb server with the sync service, version 1 (AOSP adb/SYNC.TXT).

A file counts as pushed only after the device's OKAY. A refusal ends the push in the middle of a file. Devices that
are reached directly get their files by adb-shell (`direct.py`).
"""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from paceline.adb.channel import Bytes, Channel
from paceline.adb.port import AdbError, LostError, SlowError, TransferError
from paceline.adb.transfer import REGULAR_FILE, encode_path, refusal_error

SERVICE = b"sync:"
HEADER = struct.Struct("<4sI")
CHUNK_BYTES = 64 << 10
"""Most bytes of one DATA message (SYNC_DATA_MAX)."""
BURST_BYTES = 15 * (CHUNK_BYTES + HEADER.size)
"""Bytes sent at a time: just below the 1 MiB that a device acknowledges as one message (MAX_PAYLOAD)."""
DRAIN_S = 5.0
"""Longest time to send what the host's socket buffers hold after a refusal: a few MB on a slow link."""


class SendingChannel(Channel, Protocol):
    """An open service that also takes bytes."""

    def send(self, data: Bytes, deadline: float) -> None:
        """Send all of `data`, which the caller may reuse then. Raises SlowError, LostError."""


class Sync:
    """One use of the sync service. The caller closes the channel."""

    def __init__(self, channel: SendingChannel, deadline: float) -> None:
        self._channel, self._deadline = channel, deadline
        self._arrived = memoryview(b"")
        """Received bytes that were not taken yet."""
        self._done = False

    def push(self, file: BinaryIO, remote: str, mode: int) -> int:
        """Copy `file` to the device and return its size. The device first unlinks an older file of that
        name. Raises TransferError, SlowError, LostError."""
        try:
            sent = self._send_file(file, remote, mode)
            self._expect(b"OKAY", remote)
        except TransferError:
            self._drain()
            raise
        return sent

    def _send_file(self, file: BinaryIO, remote: str, mode: int) -> int:
        burst = memoryview(bytearray(BURST_BYTES + HEADER.size))
        opening = _message(
            b"SEND", b"%s,%d" % (encode_path(remote), REGULAR_FILE | mode)
        )
        burst[: len(opening)] = opening
        at, sent = len(opening), 0
        while count := _read_into(file, burst, at + HEADER.size):
            HEADER.pack_into(burst, at, b"DATA", count)
            at += HEADER.size + count
            sent += count
            if at > BURST_BYTES - CHUNK_BYTES - HEADER.size:
                self._send(burst[:at], remote)
                at = 0
        self._done = True
        HEADER.pack_into(burst, at, b"DONE", int(time.time()))
        self._send(burst[: at + HEADER.size], remote)
        return sent

    def pull(self, remote: str) -> Iterator[Bytes]:
        """Yield the file in pieces. Raises TransferError (also after some pieces), SlowError, LostError."""
        self._channel.send(_message(b"RECV", encode_path(remote)), self._deadline)
        while True:
            kind, length = self._read_header(remote)
            if kind == b"DONE":
                return
            self._check(kind, length, b"DATA", remote)
            while length:
                piece = self._read_some(length, remote)
                length -= len(piece)
                yield piece

    def _send(self, burst: memoryview, remote: str) -> None:
        """Send a part of a push. Raises TransferError when the device has already refused it."""
        try:
            self._channel.send(burst, self._deadline)
        except LostError:
            with contextlib.suppress(LostError, SlowError):
                self._expect(
                    b"OKAY", remote
                )  # the device may have refused, then closed
            raise
        data = self._channel.receive(time.monotonic())
        if data:
            self._arrived = memoryview(bytes(self._arrived) + data)
        if bytes(self._arrived[:4]) == b"FAIL":
            self._expect(b"OKAY", remote)

    def _drain(self) -> None:
        """Wait, after a refusal, until the device has read what was sent.

        A device reads a refused file to its DONE (AOSP daemon/file_sync_service.cpp). If the client closes
        before that, an adb server sends the rest without waiting for any OKAY (seen with 29.0.6).
        """
        deadline = time.monotonic() + DRAIN_S
        with contextlib.suppress(AdbError):
            rest = b"" if self._done else _message(b"DONE", b"")
            self._channel.send(rest + _message(b"QUIT", b""), deadline)
            while self._channel.receive(deadline):
                pass

    def _expect(self, kind: bytes, remote: str) -> None:
        """Take the next message, which has no body unless it is a refusal."""
        answer, length = self._read_header(remote)
        self._check(answer, length, kind, remote)

    def _read_header(self, remote: str) -> tuple[bytes, int]:
        kind, length = HEADER.unpack(self._read_exactly(HEADER.size, remote))
        return bytes(kind), int(length)

    def _check(self, answer: bytes, length: int, kind: bytes, remote: str) -> None:
        """Raise TransferError for a refusal, LostError for any other message than `kind`."""
        if answer == b"FAIL" and length <= CHUNK_BYTES:
            reason = self._read_exactly(length, remote).decode("utf-8", "replace")
            raise refusal_error(remote, reason)
        if answer != kind or length > CHUNK_BYTES:
            raise LostError(
                f"the device answered {answer!r} about {remote}: out of step"
            )

    def _read_exactly(self, length: int, remote: str) -> bytes:
        parts = []
        while length:
            parts.append(bytes(self._read_some(length, remote)))
            length -= len(parts[-1])
        return b"".join(parts)

    def _read_some(self, most: int, remote: str) -> memoryview:
        """Return the next 1 to `most` bytes without a copy."""
        if not self._arrived:
            data = self._channel.receive(self._deadline)
            if data is None:
                raise SlowError(
                    f"{remote} was not transferred in time", "Allow more time."
                )
            if not data:
                raise LostError(f"the connection ended while {remote} was transferred")
            self._arrived = memoryview(data)
        piece, self._arrived = self._arrived[:most], self._arrived[most:]
        return piece


def _read_into(file: BinaryIO, burst: memoryview, at: int) -> int:
    """Read the next chunk into `burst` at `at` without a copy; 0 at the end of the file."""
    room = burst[at : at + CHUNK_BYTES]
    # Every binary file here has readinto; typeshed's BinaryIO does not.
    return int(file.readinto(room))  # type: ignore[attr-defined]


def _message(kind: bytes, body: bytes) -> bytes:
    return HEADER.pack(kind, len(body)) + body
