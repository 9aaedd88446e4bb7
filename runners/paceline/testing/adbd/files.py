"""Serves `sync:`, version 1: the device's files for `adb push`, `pull` and `ls`.

It answers as adbd does (daemon/file_sync_service.cpp; README.md has the lines): a refusal ends the service, a
push that failed or was interrupted leaves nothing, and the owner's bits of a pushed file are copied to group
and others. No path leaves the scratch root, not through a link either.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import struct
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from paceline.testing.adbd.streams import Stream

if TYPE_CHECKING:
    from paceline.testing.adbd.peer import Peer

REQUEST = struct.Struct("<4sI")
STAT_ANSWER = struct.Struct("<4s3I")
ENTRY = struct.Struct("<4s4I")
DATA_BYTES = 64 * 1024
"""SYNC_DATA_MAX: the most one DATA may hold."""
PATH_BYTES = 1024
RECEIVED_BYTES = DATA_BYTES - REQUEST.size
"""The bytes of a file that adbd reads for one DATA: its buffer less the header."""
LINKS = 40
"""How many links one path may go through (the kernel's own limit)."""


class FailedError(Exception):
    """The text of a FAIL, after which the service ends. `push_goes_on`: the rest of the client's push is read
    and dropped first; `violation`: the client broke the protocol."""

    def __init__(
        self, text: str, *, push_goes_on: bool = False, violation: bool = False
    ) -> None:
        super().__init__(text)
        self.push_goes_on, self.violation = push_goes_on, violation


async def serve(peer: Peer, stream: Stream) -> None:
    """Serve requests until QUIT or the first FAIL."""
    try:
        while await _serve_request(peer, stream):
            pass
    except FailedError as failed:
        if failed.violation:
            peer.violations.append(f"sync: {failed}")
        text = str(failed).encode("utf-8", "surrogateescape")
        await stream.write(REQUEST.pack(b"FAIL", len(text)) + text)
        if failed.push_goes_on:
            await _drop_push(stream)


async def _serve_request(peer: Peer, stream: Stream) -> bool:
    """Serve one request; False after QUIT. Raises FailedError."""
    name, length = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
    if length > PATH_BYTES:
        raise FailedError("path too long", violation=True)
    path = (await stream.read_exactly(length)).decode("utf-8", "surrogateescape")
    if name == b"QUIT":
        return False
    if name not in REQUESTS:
        raise FailedError(
            f"unknown command {int.from_bytes(name, 'little'):08x}", violation=True
        )
    await REQUESTS[name](peer, stream, path)
    return True


def resolve(peer: Peer, path: str, *, last_link: bool = True) -> Path:
    """Return the host's path of a path on the device, with links followed as on the device."""
    root = peer.files
    if peer.device.mode == "prefix" and Path(path).is_relative_to(root):
        path = f"/{Path(path).relative_to(root)}"
    parts = [part for part in PurePosixPath(path).parts if part != "/"]
    at, links = root, 0
    while parts:
        part = parts.pop(0)
        if part == "..":
            at = at if at == root else at.parent
            continue
        at = at / part
        if at.is_symlink() and (parts or last_link):
            links += 1
            if links > LINKS:
                raise FailedError("Too many symbolic links encountered")
            target = PurePosixPath(at.readlink())
            at = root if target.is_absolute() else at.parent
            parts = [name for name in target.parts if name != "/"] + parts
    return at


async def _stat(peer: Peer, stream: Stream, path: str) -> None:
    try:
        status = resolve(peer, path, last_link=False).lstat()
        answer = STAT_ANSWER.pack(
            b"STAT", status.st_mode, status.st_size & 0xFFFFFFFF, int(status.st_mtime)
        )
    except (OSError, FailedError):
        answer = STAT_ANSWER.pack(b"STAT", 0, 0, 0)
    await stream.write(answer)


async def _list(peer: Peer, stream: Stream, path: str) -> None:
    """List a directory with `.` and `..`, in the order of readdir."""
    answer = b""
    try:
        directory = resolve(peer, path)
        above = directory if directory == peer.files else directory.parent
        with os.scandir(directory) as entries:
            named = [
                (".", directory),
                ("..", above),
                *((entry.name, directory / entry.name) for entry in entries),
            ]
        for name, entry in named:
            status, encoded = entry.lstat(), os.fsencode(name)
            size = status.st_size & 0xFFFFFFFF
            answer += (
                ENTRY.pack(
                    b"DENT", status.st_mode, size, int(status.st_mtime), len(encoded)
                )
                + encoded
            )
    except (OSError, FailedError):
        pass  # version 1 cannot report an error: an unreadable directory is empty
    await stream.write(answer + ENTRY.pack(b"DONE", 0, 0, 0, 0))


async def _receive(peer: Peer, stream: Stream, path: str) -> None:
    try:
        source = os.open(resolve(peer, path), os.O_RDONLY)
    except OSError as error:
        raise FailedError(f"open failed: {error.strerror}") from None
    except FailedError as error:
        raise FailedError(f"open failed: {error}") from None
    try:
        while chunk := os.read(source, RECEIVED_BYTES):
            await stream.write(REQUEST.pack(b"DATA", len(chunk)) + chunk)
    except IsADirectoryError as error:
        raise FailedError(f"read failed: {error.strerror}") from None
    finally:
        os.close(source)
    await stream.write(REQUEST.pack(b"DONE", 0))


async def _send(peer: Peer, stream: Stream, what: str) -> None:
    path, comma, mode_text = what.rpartition(",")
    if not comma:
        raise FailedError("missing , in ID_SEND", violation=True)
    digits = re.match(r"\d*", mode_text)
    mode = int(digits[0] or "0") if digits else 0  # strtoul stops where the number does
    try:
        target = resolve(peer, path, last_link=False)
    except FailedError as error:
        raise FailedError(f"couldn't create file: {error}", push_goes_on=True) from None
    replaced = _make_place(target, mode)
    if stat.S_ISLNK(mode):
        time_s = await _receive_link(stream, target)
    else:
        file = _open_for_writing(target, as_adbd_sets(mode))
        try:
            time_s = await _receive_content(peer, stream, file)
        except BaseException:
            if replaced:
                target.unlink(missing_ok=True)
            raise
        finally:
            os.close(file)
    await stream.write(REQUEST.pack(b"OKAY", 0))
    with contextlib.suppress(OSError):  # adbd does not look whether that worked either
        os.utime(target, (time_s, time_s), follow_symlinks=False)


def _make_place(target: Path, mode: int) -> bool:
    """Unlink an old regular file at `target`, or a link if the new file is regular. False when a directory,
    device or other link stays there."""
    try:
        old = target.lstat().st_mode
    except OSError:
        return True
    makes_place = stat.S_ISREG(old) or (stat.S_ISLNK(old) and not stat.S_ISLNK(mode))
    if makes_place:
        target.unlink(missing_ok=True)
    return makes_place


def _open_for_writing(target: Path, mode: int) -> int:
    """Open the file for writing and create the directories above it. Raises FailedError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        try:
            file = os.open(target, flags, mode)
        except FileNotFoundError:
            _make_directories(target.parent)
            file = os.open(target, flags, mode)
    except FileExistsError:
        try:
            file = os.open(target, os.O_WRONLY)
        except OSError as error:
            raise FailedError(
                f"couldn't create file: {error.strerror}", push_goes_on=True
            ) from None
    except OSError as error:
        raise FailedError(
            f"couldn't create file: {error.strerror}", push_goes_on=True
        ) from None
    target.chmod(mode)
    return file


def _make_directories(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FailedError(
            f"secure_mkdirs failed: {error.strerror}", push_goes_on=True
        ) from None


async def _receive_link(stream: Stream, target: Path) -> int:
    """Create the link that one DATA names; return its time. Raises FailedError."""
    name, number = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
    if name != b"DATA":
        raise FailedError("invalid data message: expected ID_DATA", violation=True)
    if number > DATA_BYTES:
        raise FailedError("oversize data message", violation=True)
    to = os.fsdecode((await stream.read_exactly(number)).split(b"\x00")[0])
    try:
        if not target.is_symlink() or str(target.readlink()) != to:
            target.unlink(missing_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(to)
    except OSError as error:
        raise FailedError(f"symlink failed: {error.strerror}") from None
    name, time_s = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
    if name != b"DONE":
        raise FailedError("invalid data message: expected ID_DONE", violation=True)
    return int(time_s)


def as_adbd_sets(mode: int) -> int:
    """Return the mode of a file pushed with `mode`: adbd copies the owner's bits to group and others (`do_send`,
    daemon/file_sync_service.cpp)."""
    bits = mode & 0o777
    bits |= (bits >> 3) & 0o070
    bits |= (bits >> 3) & 0o007
    return bits


async def _receive_content(peer: Peer, stream: Stream, file: int) -> int:
    """Write the file's bytes as they come; return its time. Raises FailedError."""
    while (piece := await _piece(stream))[0]:
        _write(peer, file, piece[0])
    return piece[1]


def _write(peer: Peer, file: int, data: bytes) -> None:
    """Write `data`. Raises FailedError when the storage is full, as scripted or really."""
    room = peer.faults.no_space_after
    if room is not None:
        peer.faults.no_space_after = max(0, room - len(data))
    try:
        if room is not None and room < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
    except OSError as error:
        raise FailedError(
            f"write failed: {error.strerror}", push_goes_on=True
        ) from None


async def _piece(stream: Stream) -> tuple[bytes, int]:
    """Read the next message of a push: return (data, 0) or, at the end, (b"", the file's time). Raises
    FailedError."""
    name, number = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
    if name == b"DONE":
        return b"", number
    if name != b"DATA":
        raise FailedError("invalid data message", violation=True)
    if number > DATA_BYTES:
        raise FailedError("oversize data message", violation=True)
    return await stream.read_exactly(number), 0


async def _drop_push(stream: Stream) -> None:
    """Read and drop the rest of a refused push."""
    with contextlib.suppress(FailedError):
        while (await _piece(stream))[0]:
            pass


REQUESTS = {b"STAT": _stat, b"LIST": _list, b"SEND": _send, b"RECV": _receive}
