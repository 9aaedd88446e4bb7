"""Transfers files with the sync service, version 1 (AOSP adb/SYNC.TXT).

A file counts as pushed only after the device's OKAY. A refusal is noticed in the middle of a file, so that a
full device costs no more than what fitted. A pulled file appears whole under its name or not at all. Content
is not verified here: callers that need it ask the device for a digest.
"""

from __future__ import annotations

import contextlib
import os
import struct
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from paceline.adb.channel import Bytes, Channel
from paceline.adb.port import AdbError, LostError, SlowError, TransferError

SERVICE = b"sync:"
HEADER = struct.Struct("<4sI")
CHUNK_BYTES = 64 << 10
"""SYNC_DATA_MAX: the most one DATA may carry."""
BURST_BYTES = 15 * (CHUNK_BYTES + HEADER.size)
"""Sent at a time: just below the 1 MiB a device acknowledges as one message (MAX_PAYLOAD)."""
LET_GO_S = 5.0
"""For the few MB a host's socket buffers hold, on a slow link; then we hang up all the same."""
LONGEST_PATH = 1024
"""Bytes; the device refuses more."""
REGULAR_FILE = 0o100000
NO_SPACE = ("no space left", "disk quota exceeded")


class Sync:
    """One conversation; the channel is the caller's to close."""

    def __init__(self, channel: Channel, deadline: float) -> None:
        self._channel, self._deadline = channel, deadline
        self._arrived = memoryview(b"")
        """What came and was not taken yet."""
        self._done = False

    def push(self, file: BinaryIO, remote: str, mode: int) -> int:
        """Writes `file` to its end, returns its bytes. The device unlinks an older file of that name first.
        Raises TransferError, SlowError, LostError."""
        try:
            sent = self._say_all(file, remote, mode)
            self._expect(b"OKAY", remote)
        except TransferError:
            self._let_go()
            raise
        return sent

    def _say_all(self, file: BinaryIO, remote: str, mode: int) -> int:
        burst = memoryview(bytearray(BURST_BYTES + HEADER.size))
        opening = _message(
            b"SEND", b"%s,%d" % (checked_path(remote), REGULAR_FILE | mode)
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
        """The file's pieces. Raises TransferError (also after some of them), SlowError, LostError."""
        self._channel.send(_message(b"RECV", checked_path(remote)), self._deadline)
        while True:
            kind, length = self._header(remote)
            if kind == b"DONE":
                return
            self._judge(kind, length, b"DATA", remote)
            while length:
                piece = self._some(length, remote)
                length -= len(piece)
                yield piece

    def _send(self, burst: memoryview, remote: str) -> None:
        """A part of a push; raises TransferError when the device has refused it by now."""
        try:
            self._channel.send(burst, self._deadline)
        except LostError:
            with contextlib.suppress(LostError, SlowError):
                self._expect(b"OKAY", remote)  # may have refused before it closed
            raise
        data = self._channel.receive(time.monotonic())
        if data:
            self._arrived = memoryview(bytes(self._arrived) + data)
        if bytes(self._arrived[:4]) == b"FAIL":
            self._expect(b"OKAY", remote)

    def _let_go(self) -> None:
        """After a refusal: waits until what was sent is gone. A device reads a refused file to its DONE (AOSP
        daemon/file_sync_service.cpp), and an adb server whose client hangs up before sends it the rest
        without waiting for a single OKAY (seen with 29.0.6)."""
        deadline = time.monotonic() + LET_GO_S
        with contextlib.suppress(AdbError):
            rest = b"" if self._done else _message(b"DONE", b"")
            self._channel.send(rest + _message(b"QUIT", b""), deadline)
            while self._channel.receive(deadline):
                pass

    def _expect(self, kind: bytes, remote: str) -> None:
        """Takes the next message, which has no body unless it is a refusal."""
        answer, length = self._header(remote)
        self._judge(answer, length, kind, remote)

    def _header(self, remote: str) -> tuple[bytes, int]:
        kind, length = HEADER.unpack(self._exactly(HEADER.size, remote))
        return bytes(kind), int(length)

    def _judge(self, answer: bytes, length: int, kind: bytes, remote: str) -> None:
        """Raises TransferError for a refusal, LostError for what is neither that nor `kind`."""
        if answer == b"FAIL" and length <= CHUNK_BYTES:
            raise refusal_error(
                remote, self._exactly(length, remote).decode("utf-8", "replace")
            )
        if answer != kind or length > CHUNK_BYTES:
            raise LostError(
                f"the device answered {answer!r} about {remote}: out of step"
            )

    def _exactly(self, length: int, remote: str) -> bytes:
        parts = []
        while length:
            parts.append(bytes(self._some(length, remote)))
            length -= len(parts[-1])
        return b"".join(parts)

    def _some(self, most: int, remote: str) -> memoryview:
        """The next 1 to `most` bytes, where they arrived."""
        if not self._arrived:
            data = self._channel.receive(self._deadline)
            if data is None:
                raise SlowError(
                    f"{remote} was not transferred in time", "Give it more time."
                )
            if not data:
                raise LostError(f"the connection ended while {remote} was transferred")
            self._arrived = memoryview(data)
        taken, self._arrived = self._arrived[:most], self._arrived[most:]
        return taken


def _read_into(file: BinaryIO, burst: memoryview, at: int) -> int:
    """Reads the next chunk into `burst` at `at` without a copy; 0 at the end of the file."""
    room = burst[at : at + CHUNK_BYTES]
    # Every binary file we are given has readinto; typeshed's BinaryIO does not.
    return int(file.readinto(room))  # type: ignore[attr-defined]


def whole_file(pieces: Iterator[Bytes], target: Path) -> None:
    """Writes `target` from `pieces`, under its name only once they are complete."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _message(kind: bytes, body: bytes) -> bytes:
    return HEADER.pack(kind, len(body)) + body


def checked_path(remote: str) -> bytes:
    """As the service takes it. Raises AdbError for what is no path of a device."""
    path = remote.encode("utf-8", "surrogateescape")
    if not path or b"\0" in path or len(path) > LONGEST_PATH:
        raise AdbError(
            f"{remote!r} is no path of a device",
            f"1 to {LONGEST_PATH} bytes, none of them NUL.",
        )
    return path


def refusal_error(remote: str, reason: str) -> TransferError:
    """The error for the reason of a FAIL."""
    if any(text in reason.lower() for text in NO_SPACE):
        return TransferError(
            f"{remote}: the device's storage is full ({reason})",
            "Remove what is not needed: `adb shell du -sh /data/local/tmp/*` shows what lies there.",
            no_space=True,
        )
    return TransferError(f"{remote}: the device refused the file: {reason}")
