"""The socket on which everything is answered."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from paceline_server.runtime import serving


def test_answers_are_sent_without_waiting_for_an_acknowledgement() -> None:
    """An answer is two writes, header and body; with Nagle's algorithm the second waits 40 ms for a delayed
    acknowledgement of the first."""

    async def answered() -> int:
        delay: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def accepted_socket(
            _: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            connection: socket.socket = writer.get_extra_info("socket")
            delay.set_result(
                connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            )
            writer.close()

        with contextlib.closing(serving.bind("127.0.0.1", 0)) as listening:
            server = await asyncio.start_server(accepted_socket, sock=listening)
            async with server:
                _, writer = await asyncio.open_connection(*listening.getsockname())
                without_delay = await delay
                writer.close()
                await writer.wait_closed()
        return without_delay

    assert asyncio.run(answered())
