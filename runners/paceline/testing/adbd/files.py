"""`sync:` – files of the device, by version 1 of the sync protocol.

Place in the journey: between OPEN and the scratch root, for `adb push`, `pull` and `ls`. Invariants: no path
leaves the scratch root, not through a link either; a push that failed or was cut leaves nothing; a refusal is
said at once and the rest of the push is read and dropped, as adbd does. It speaks no later version: the peer
announces none.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO

from paceline.testing.adbd.packets import ProtocolError
from paceline.testing.adbd.streams import Stream

if TYPE_CHECKING:
    from paceline.testing.adbd.peer import Peer

REQUEST = struct.Struct("<4sI")
STAT_ANSWER = struct.Struct("<4s3I")
ENTRY = struct.Struct("<4s4I")
DATA_BYTES = 64 * 1024
"""SYNC_DATA_MAX: the most one DATA may hold."""
PATH_BYTES = 1024
LINKS = 40
"""How many links one path may go through (the kernel's own limit)."""


class FailedError(Exception):
    """What the client is told in FAIL. `more`: its push goes on and has to be read to its end."""

    def __init__(self, text: str, *, more: bool = False) -> None:
        super().__init__(text)
        self.more = more


async def serve(peer: Peer, stream: Stream) -> None:
    """Requests until QUIT."""
    while True:
        name, length = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
        if name == b"QUIT":
            return
        if name not in REQUESTS or length > PATH_BYTES:
            raise ProtocolError(f"sync request {name!r} of {length} bytes")
        path = (await stream.read_exactly(length)).decode("utf-8", "surrogateescape")
        try:
            await REQUESTS[name](peer, stream, path)
        except FailedError as failed:
            text = str(failed).encode("utf-8", "surrogateescape")
            await stream.write(REQUEST.pack(b"FAIL", len(text)) + text)
            if failed.more:
                await _dropped(stream)


def resolved(peer: Peer, path: str, *, last_link: bool = True) -> Path:
    """Where a path of the device lies on the host; links are followed as the device would."""
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
        found = resolved(peer, path, last_link=False).lstat()
        answer = STAT_ANSWER.pack(b"STAT", found.st_mode, found.st_size & 0xFFFFFFFF, int(found.st_mtime))
    except (OSError, FailedError):
        answer = STAT_ANSWER.pack(b"STAT", 0, 0, 0)
    await stream.write(answer)


async def _list(peer: Peer, stream: Stream, path: str) -> None:
    answer = b""
    try:
        for entry in sorted(resolved(peer, path).iterdir()):
            found, name = entry.lstat(), os.fsencode(entry.name)
            size = found.st_size & 0xFFFFFFFF
            answer += ENTRY.pack(b"DENT", found.st_mode, size, int(found.st_mtime), len(name)) + name
    except (OSError, FailedError):
        pass  # a directory that cannot be read is empty: version 1 has no other word for it
    await stream.write(answer + ENTRY.pack(b"DONE", 0, 0, 0, 0))


async def _receive(peer: Peer, stream: Stream, path: str) -> None:
    try:
        with resolved(peer, path).open("rb") as source:
            while chunk := source.read(DATA_BYTES):
                await stream.write(REQUEST.pack(b"DATA", len(chunk)) + chunk)
    except OSError as error:
        raise FailedError(f"open failed: {error.strerror}") from None
    await stream.write(REQUEST.pack(b"DONE", 0))


async def _send(peer: Peer, stream: Stream, what: str) -> None:
    path, _, mode_text = what.rpartition(",")
    if not path or not mode_text.isdigit():
        raise FailedError("bad request: no mode", more=True)
    mode = int(mode_text)
    try:
        target = resolved(peer, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        file = None if stat.S_ISLNK(mode) else target.open("wb")
    except (OSError, FailedError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise FailedError(f"couldn't create file: {why}", more=True) from None
    if file is None:
        link, _ = await _collected(stream)
        target.symlink_to(os.fsdecode(link.rstrip(b"\x00")))
    else:
        with file:
            time_s = await _written(peer, stream, file, target)
        target.chmod(mode & 0o777)
        os.utime(target, (time_s, time_s))
    await stream.write(REQUEST.pack(b"OKAY", 0))


async def _written(peer: Peer, stream: Stream, file: BinaryIO, target: Path) -> int:
    """The file's bytes as they come; returns its time. What did not come whole is removed."""
    whole = False
    try:
        while (piece := await _piece(stream))[0]:
            _write(peer, file, piece[0])
        whole = True
        return piece[1]
    finally:
        if not whole:
            target.unlink(missing_ok=True)


def _write(peer: Peer, file: BinaryIO, data: bytes) -> None:
    """Raises FailedError when the storage is full, as scripted or for real."""
    room = peer.faults.no_space_after
    if room is not None:
        peer.faults.no_space_after = max(0, room - len(data))
    try:
        if room is not None and room < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        file.write(data)
    except OSError as error:
        raise FailedError(f"couldn't write to file: {error.strerror}", more=True) from None


async def _piece(stream: Stream) -> tuple[bytes, int]:
    """(data, 0) or, at the end, (b"", time of the file)."""
    name, number = REQUEST.unpack(await stream.read_exactly(REQUEST.size))
    if name == b"DONE":
        return b"", number
    if name != b"DATA" or not 0 < number <= DATA_BYTES:
        raise ProtocolError(f"{name!r} of {number} bytes within a push")
    return await stream.read_exactly(number), 0


async def _collected(stream: Stream) -> tuple[bytes, int]:
    parts = []
    while (piece := await _piece(stream))[0]:
        parts.append(piece[0])
    return b"".join(parts), piece[1]


async def _dropped(stream: Stream) -> None:
    """Reads the rest of a push that was refused."""
    while (await _piece(stream))[0]:
        pass


REQUESTS = {b"STAT": _stat, b"LIST": _list, b"SEND": _send, b"RECV": _receive}
