"""One connection to the peer: handshake, keys, and the streams that share it.

No service starts before the handshake and, when keys are required, before a verified signature or the
person's agreement. Protocol violations of a client are recorded in the peer's `violations`, so that a test can
assert that there is none.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from typing import TYPE_CHECKING

from paceline.testing.adbd import auth, packets, services
from paceline.testing.adbd.packets import Header, ProtocolError, checksum_of
from paceline.testing.adbd.streams import Stream
from paceline.testing.adbd.transfer import CutError, PacketTransfer

if TYPE_CHECKING:
    from paceline.testing.adbd.peer import Peer


class Session:
    """A connection of a client. All of it runs in the peer's event loop."""

    def __init__(self, peer: Peer, transfer: PacketTransfer) -> None:
        self._peer, self._transfer = peer, transfer
        self.legacy = peer.faults.legacy
        self._version = (
            packets.VERSION_WITH_CHECKSUM if self.legacy else packets.VERSION
        )
        self._payload_bytes = (
            packets.LEGACY_PAYLOAD_BYTES if self.legacy else packets.PAYLOAD_BYTES
        )
        self._own_bytes = (
            packets.SHORT_PAYLOAD_BYTES
            if peer.faults.short_writes
            else self._payload_bytes
        )
        self._checksums = True
        self._streams: dict[int, Stream] = {}
        self._ids = itertools.count(1)
        self._prompt: asyncio.Task[None] | None = None
        self._token = b""
        self.online = False

    async def run(self) -> None:
        """Serve the connection until it ends, for any reason."""
        try:
            while True:
                header, payload = await self._transfer.receive()
                if self.legacy and checksum_of(payload) != header.checksum:
                    raise ProtocolError(f"{header.name} with a wrong checksum")
                await self._handle(header, payload)
        except CutError:
            pass
        except ProtocolError as error:
            self._peer.violations.append(str(error))
        finally:
            self._transfer.cut()
            await self._close_streams()
            self._transfer.close()

    def cut(self) -> None:
        """End the connection at once."""
        self._transfer.cut()

    async def _send(
        self, command: int, arg0: int, arg1: int, payload: bytes = b""
    ) -> None:
        await self._transfer.send(
            packets.pack(command, arg0, arg1, payload, checksum=self._checksums)
        )

    async def _handle(self, header: Header, payload: bytes) -> None:
        command = header.command
        if command == packets.CNXN:
            await self._answer_connect(header)
        elif command == packets.AUTH:
            await self._answer_auth(header, payload)
        elif not self.online:
            raise ProtocolError(f"{header.name} before the handshake ended")
        elif command == packets.OPEN:
            await self._answer_open(header.arg0, payload)
        elif command in (packets.OKAY, packets.WRTE, packets.CLSE):
            await self._handle_stream_packet(header, payload)
        else:
            raise ProtocolError(f"unknown command {header.name!r}")

    # --- handshake ---

    async def _answer_connect(self, header: Header) -> None:
        if self._peer.faults.offline:
            raise CutError("offline, as asked")
        if self._peer.faults.stls:
            await self._send(packets.STLS, packets.VERSION_WITH_CHECKSUM, 0)
            return
        await self._close_streams()
        self._payload_bytes = min(self._payload_bytes, header.arg1)
        self._checksums = min(self._version, header.arg0) < packets.VERSION
        if self._peer.asks_for_keys:
            await self._ask()
        else:
            await self._welcome()

    async def _ask(self) -> None:
        self._token = os.urandom(auth.TOKEN_BYTES)
        await self._send(packets.AUTH, packets.AUTH_TOKEN, 0, self._token)

    async def _answer_auth(self, header: Header, payload: bytes) -> None:
        if not self._token or self.online:
            raise ProtocolError("AUTH that nobody asked for")
        if header.arg0 == packets.AUTH_SIGNATURE:
            if self._peer.knows_signer(self._token, payload):
                await self._welcome()
            else:
                await self._ask()
        elif header.arg0 == packets.AUTH_PUBLIC_KEY:
            try:
                key = auth.parse_key(payload)
            except auth.UnreadableKeyError as error:
                raise ProtocolError(str(error)) from None
            self._prompt = asyncio.create_task(self._wait_for_person(key))
        else:
            raise ProtocolError(f"AUTH of type {header.arg0}")

    async def _wait_for_person(self, key: auth.PublicKey) -> None:
        if await self._peer.trusts(key):
            await self._welcome()

    async def _welcome(self) -> None:
        self.online = True
        banner = self._peer.banner(legacy=self.legacy)
        await self._send(packets.CNXN, self._version, self._payload_bytes, banner)

    async def _close_streams(self) -> None:
        """Close everything that ran for a client that sends a new greeting."""
        self.online = False
        tasks = [stream.task for stream in self._streams.values() if stream.task]
        tasks += [self._prompt] if self._prompt else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._streams.clear()
        self._prompt = None

    # --- streams ---

    async def _answer_open(self, remote: int, payload: bytes) -> None:
        name = payload.rstrip(b"\x00").decode("utf-8", "surrogateescape")
        service = services.find(self._peer, self, name)
        if service is None:
            await self._send(packets.CLSE, 0, remote)
            return
        stream = Stream(
            self._send,
            next(self._ids),
            remote,
            min(self._own_bytes, self._payload_bytes),
        )
        self._streams[stream.local] = stream
        await self._send(packets.OKAY, stream.local, remote)
        stream.task = asyncio.create_task(self._serve(stream, service))

    async def _serve(self, stream: Stream, service: services.Service) -> None:
        try:
            await service(stream)
            await stream.drain()
            await self._end(stream)
        except CutError:
            pass  # the session's own loop sees it too
        except ProtocolError as error:
            self._peer.violations.append(str(error))
            self._transfer.cut()

    async def _end(self, stream: Stream) -> None:
        if self._streams.pop(stream.local, None) is not None:
            await self._send(packets.CLSE, stream.local, stream.remote)

    async def _handle_stream_packet(self, header: Header, payload: bytes) -> None:
        stream = self._streams.get(header.arg1)
        if header.command == packets.CLSE:
            if stream is not None:
                await self._end_for_client(stream)
        elif stream is None:
            # The stream ended here while this was under way. The client was told so when it did, and adbd
            # drops what was on its way; an OKAY alone is answered, so that a late one ends its other side.
            if header.command == packets.OKAY:
                await self._send(packets.CLSE, header.arg1, header.arg0)
        elif header.command == packets.OKAY:
            stream.note_acknowledged()
        else:
            if len(payload) > self._payload_bytes:
                raise ProtocolError(
                    f"WRTE of {len(payload)} bytes, agreed were {self._payload_bytes}"
                )
            stream.receive(payload)

    async def _end_for_client(self, stream: Stream) -> None:
        """End the service of a stream that the client closed, and answer CLSE."""
        if stream.task is not None:
            stream.task.cancel()
            await asyncio.gather(stream.task, return_exceptions=True)
        await self._end(stream)
