"""Transfers the bytes of one connection, with the faults of a network.

Nothing is read ahead, so that a client sees the receive window fill when the peer does not keep up, and a cut
comes at exactly the requested byte.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket

from paceline.testing.adbd.faults import Faults
from paceline.testing.adbd.packets import HEADER_BYTES, Header, ProtocolError

SHORT_WINDOW_BYTES = 32 * 1024
"""Requested receive buffer under `short_writes`; Linux doubles it. Below one segment of the loopback
interface (64 KiB) a sender waits for its window probe, 200 ms each: 400 KB took 9 s with 4 KiB and 40 ms with
this."""
SHORT_PIECE_BYTES = 1021
"""Prime, so that pieces never fall together with headers or payloads."""
PIECE_BYTES = 256 * 1024
SLOW_PIECES_PER_S = 50
LARGEST_PAYLOAD_BYTES = 1024 * 1024
SILENCE_POLL_S = 0.005


class CutError(ConnectionError):
    """The connection ended: the client left, or a fault cut it."""


class PacketTransfer:
    """Packets in, bytes out. `moved` counts both directions."""

    def __init__(self, sock: socket.socket, faults: Faults) -> None:
        self._socket, self._faults = sock, faults
        self._loop = asyncio.get_running_loop()
        self._sending = asyncio.Lock()
        self._short = faults.short_writes
        self._ended = False
        self.moved = 0
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._short:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SHORT_WINDOW_BYTES)

    async def receive(self) -> tuple[Header, bytes]:
        """Read the next whole packet. Raises CutError at the end, ProtocolError for invalid data."""
        header = Header.unpack(await self._take(HEADER_BYTES))
        if header.length > LARGEST_PAYLOAD_BYTES:
            raise ProtocolError(f"{header.name} of {header.length} bytes")
        return header, await self._take(header.length)

    async def receive_some(self) -> bytes:
        """Receive the next bytes, of any kind. Raises CutError at the end."""
        piece = await self._wait_until_allowed(self._piece(HEADER_BYTES))
        try:
            got = await self._loop.sock_recv(self._socket, piece)
        except OSError as error:
            raise CutError(str(error)) from None
        if not got:
            raise CutError("the client closed the connection")
        await self._count_moved(len(got))
        return got

    async def send(self, data: bytes) -> None:
        """Send the bytes without mixing them with those of other calls. Raises CutError."""
        async with self._sending:
            at = 0
            while at < len(data):
                piece = await self._wait_until_allowed(
                    min(len(data) - at, self._piece(at))
                )
                try:
                    await self._loop.sock_sendall(
                        self._socket, memoryview(data)[at : at + piece]
                    )
                except OSError as error:
                    raise CutError(str(error)) from None
                at += piece
                await self._count_moved(piece)

    def cut(self) -> None:
        """End the connection at once; waiting calls raise CutError. Safe to call twice."""
        self._ended = True
        with contextlib.suppress(OSError):  # the client was first
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket. Call it only when no other call is waiting."""
        self._socket.close()

    async def _take(self, count: int) -> bytes:
        received = bytearray(count)
        view, at = memoryview(received), 0
        while at < count:
            piece = await self._wait_until_allowed(
                min(count - at, self._piece(HEADER_BYTES))
            )
            try:
                got = await self._loop.sock_recv_into(
                    self._socket, view[at : at + piece]
                )
            except OSError as error:
                raise CutError(str(error)) from None
            if got == 0:
                raise CutError("the client closed the connection")
            at += got
            await self._count_moved(got)
        view.release()
        return bytes(received)

    def _piece(self, at: int) -> int:
        """Return how many bytes one call may transfer, from byte `at` of the data."""
        if self._faults.slow_bps is not None:
            return max(1, self._faults.slow_bps // SLOW_PIECES_PER_S)
        if self._short:
            return SHORT_PIECE_BYTES if at else 7
        return PIECE_BYTES

    async def _wait_until_allowed(self, piece: int) -> int:
        """Return the part of the piece that may still go before the connection is to be cut."""
        while self._faults.silent and not self._ended:
            await asyncio.sleep(SILENCE_POLL_S)
        limit = self._faults.drop_after_bytes
        if limit is None:
            return piece
        if self.moved >= limit:
            self.cut()
            raise CutError(f"cut after {self.moved} bytes, as asked")
        return min(piece, limit - self.moved)

    async def _count_moved(self, count: int) -> None:
        self.moved += count
        limit = self._faults.drop_after_bytes
        if limit is not None and self.moved >= limit:
            self.cut()
            raise CutError(f"cut after {self.moved} bytes, as asked")
        if self._faults.slow_bps is not None:
            await asyncio.sleep(count / self._faults.slow_bps)
