"""Reading and writing pipes and terminals from the event loop.

Place in the journey: between the processes of the device and the streams that carry what they print.
Invariant: a descriptor that ends in any way reads as b"" and takes no more bytes; errors of a terminal whose
other side closed are its end. It owns no descriptor.
"""

from __future__ import annotations

import asyncio
import os

CHUNK_BYTES = 64 * 1024


async def read(descriptor: int) -> bytes:
    """The next bytes; b"" at the end."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            pass
        except OSError:  # EIO: the last process on a terminal left
            return b""
        ready = loop.create_future()
        loop.add_reader(descriptor, _set, ready)
        try:
            await ready
        finally:
            loop.remove_reader(descriptor)


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
