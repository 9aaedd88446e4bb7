"""Reads and writes sockets, pipes and terminals from the event loop.

A descriptor that ended in any way reads as b"" and accepts no more bytes; an error of a terminal whose other
side closed is its end. It owns no descriptor. On Windows, where no peer runs, it makes none.
"""

from __future__ import annotations

import asyncio
import os
import pty
import sys
import termios
from pathlib import Path

CHUNK_BYTES = 64 * 1024


def unblocked(*descriptors: int) -> None:
    """Makes reads and writes of these return instead of waiting."""
    for descriptor in descriptors:
        if sys.platform != "win32":
            os.set_blocking(descriptor, False)


def opened(path: Path, flags: int) -> int:
    """A named pipe, opened without waiting for its other side. Raises OSError."""
    descriptor = -1
    if sys.platform != "win32":
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    return descriptor


def made(path: Path) -> None:
    """Makes a named pipe. Raises OSError."""
    if sys.platform != "win32":
        os.mkfifo(path)


def terminal(*, echo: bool) -> tuple[int, int]:
    """(our end, the end of what runs on it). Without echo nothing written to it comes back."""
    ours = theirs = -1
    if sys.platform != "win32":
        ours, theirs = pty.openpty()
        if not echo:
            modes = termios.tcgetattr(theirs)
            modes[3] &= ~termios.ECHO
            termios.tcsetattr(theirs, termios.TCSANOW, modes)
    return ours, theirs


async def read(descriptor: int, most: int) -> bytes:
    """All that is there by now, at most `most` bytes; waits while there is nothing; b"" at the end."""
    loop = asyncio.get_running_loop()
    found = bytearray()
    while len(found) < most:
        try:
            chunk = os.read(descriptor, min(CHUNK_BYTES, most - len(found)))
        except BlockingIOError:
            if found:
                break
        except OSError:  # EIO: the last process on a terminal left
            break
        else:
            if not chunk:
                break
            found += chunk
            continue
        ready = loop.create_future()
        loop.add_reader(descriptor, _set, ready)
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)
    return bytes(found)


async def write(descriptor: int, data: bytes) -> bool:
    """All of it; False when nobody reads any more."""
    loop = asyncio.get_running_loop()
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
            continue
        except BlockingIOError:
            pass
        except OSError:
            return False
        ready = loop.create_future()
        loop.add_writer(descriptor, _set, ready)
        try:
            await ready
        finally:
            loop.remove_writer(descriptor)
    return True


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
