"""One stream of a connection, from OPEN to CLSE, with the protocol's flow control.

One WRTE is in flight per direction: the next is sent only after OKAY, and OKAY only once a service took the
bytes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from paceline.testing.adbd import packets
from paceline.testing.adbd.packets import ProtocolError

SendPacket = Callable[[int, int, int, bytes], Awaitable[None]]


class Stream:
    """`read`, `read_exactly` and `write` are for one service; `receive`, `note_acknowledged` for the session."""

    def __init__(
        self, send: SendPacket, local: int, remote: int, payload_bytes: int
    ) -> None:
        self._send, self.payload_bytes = send, payload_bytes
        self.local, self.remote = local, remote
        self.task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._ready = asyncio.Event()
        self._ready.set()
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self._owing = False
        self._rest = memoryview(b"")

    def receive(self, payload: bytes) -> None:
        """Keep the payload of a WRTE. Raises ProtocolError when the last one was not acknowledged yet."""
        if self._owing:
            raise ProtocolError(
                f"WRTE on stream {self.remote} before OKAY of the one before"
            )
        self._owing = True
        self._arrived.put_nowait(payload)

    def note_acknowledged(self) -> None:
        """Let the next WRTE be sent, because an OKAY arrived. Raises ProtocolError when nothing was written."""
        if self._ready.is_set():
            raise ProtocolError(f"OKAY on stream {self.remote} for nothing")
        self._ready.set()

    async def read(self) -> bytes:
        """Return the next bytes as the client sent them; never empty."""
        while not self._rest:
            self._rest = memoryview(await self._next())
        rest, self._rest = bytes(self._rest), memoryview(b"")
        return rest

    async def read_exactly(self, count: int) -> bytes:
        parts, missing = [], count
        while missing:
            if not self._rest:
                self._rest = memoryview(await self._next())
            parts.append(self._rest[:missing])
            self._rest = self._rest[missing:]
            missing -= len(parts[-1])
        return b"".join(parts)

    async def write(self, data: bytes) -> None:
        """Send all of it and return once the client took all but the last part of it."""
        async with self._writing:
            for at in range(0, len(data), self.payload_bytes):
                await self._ready.wait()
                self._ready.clear()
                part = data[at : at + self.payload_bytes]
                await self._send(packets.WRTE, self.local, self.remote, part)

    async def writable(self) -> None:
        """Wait until the client has taken all that was written."""
        await self._ready.wait()

    async def drain(self) -> None:
        """Wait until the client took everything that was written."""
        async with self._writing:
            await self._ready.wait()

    async def _next(self) -> bytes:
        payload = await self._arrived.get()
        self._owing = False
        await self._send(packets.OKAY, self.local, self.remote, b"")
        return payload
