"""Reads and writes sockets, pipes and terminals from the event loop.

A descriptor that has ended in any way reads as b"" and accepts no more bytes. Callers own all descriptors. On
Windows, where no peer runs, none is created.
"""

from __future__ import annotations

import asyncio
import os
import pty
import sys
import termios
from pathlib import Path

CHUNK_BYTES = 64 * 1024


def unblock(*descriptors: int) -> None:
    """Make the descriptors non-blocking."""
    for descriptor in descriptors:
        if sys.platform != "win32":
            os.set_blocking(descriptor, False)


def open_pipe(path: Path, flags: int) -> int:
    """Open a named pipe without waiting for its other side. Raises OSError."""
    descriptor = -1
    if sys.platform != "win32":
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    return descriptor


def make_pipe(path: Path) -> None:
    """Create a named pipe. Raises OSError."""
    if sys.platform != "win32":
        os.mkfifo(path)


def terminal(*, echo: bool) -> tuple[int, int]:
    """Open a terminal; return our end and the command's end. Without echo, input is not printed."""
    ours = theirs = -1
    if sys.platform != "win32":
        ours, theirs = pty.openpty()
        if not echo:
            modes = termios.tcgetattr(theirs)
            modes[3] &= ~termios.ECHO
            termios.tcsetattr(theirs, termios.TCSANOW, modes)
    return ours, theirs


async def read(descriptor: int, most: int) -> bytes:
    """Read what is available, at most `most` bytes; wait for the first byte; b"" at the end."""
    loop = asyncio.get_running_loop()
    data = bytearray()
    while len(data) < most:
        try:
            chunk = os.read(descriptor, min(CHUNK_BYTES, most - len(data)))
        except BlockingIOError:
            if data:
                break
        except OSError:  # EIO: the last process on a terminal left
            break
        else:
            if not chunk:
                break
            data += chunk
            continue
        ready = loop.create_future()
        loop.add_reader(descriptor, _set, ready)
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)
    return bytes(data)


async def write(descriptor: int, data: bytes) -> bool:
    """Write all of `data`; False if the reader is gone."""
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
