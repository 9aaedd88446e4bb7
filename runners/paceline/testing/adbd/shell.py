"""Serves `shell:`, `shell,v2:` and `exec:`: runs a client's commands on the device.

As adbd does it (daemon/shell_service.cpp; README.md has the lines): a command's input and output are one
socket and, with shell v2, its errors another. A stream ends when every holder of the output closed it, so a
background child keeps it open. With shell v2 the exit code is the last packet, and a client that leaves sends
SIGHUP to the command; without v2 the command only loses its sockets.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager

from paceline.testing.adbd import descriptors
from paceline.testing.adbd.device import SHELL, Child, Device, environment_of
from paceline.testing.adbd.streams import Stream

PACKET = struct.Struct("<BI")
STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)


FRAME_BYTES = (1 << 20) - PACKET.size
"""The most that one packet of the shell protocol carries (kBufferSize, shell_protocol.h)."""


class CommandStreams:
    """The daemon's descriptors of a command's input, output and errors.

    Input and output are one descriptor until the input is closed; `errors` is -1 where the device merges both
    outputs.
    """

    def __init__(self, both: socket.socket | int, errors: socket.socket | None) -> None:
        self._both, self._errors = both, errors
        self.output = both if isinstance(both, int) else both.fileno()
        self.stdin, self.errors = self.output, -1 if errors is None else errors.fileno()
        descriptors.unblock(*({self.output, self.errors} - {-1}))

    def close_stdin(self) -> None:
        if self.stdin >= 0 and not isinstance(self._both, int):
            with contextlib.suppress(OSError):  # the command is gone
                self._both.shutdown(socket.SHUT_WR)
        self.stdin = -1

    def close(self) -> None:
        if isinstance(self._both, int):
            os.close(self._both)
        else:
            self._both.close()
        if self._errors is not None:
            self._errors.close()
        self.stdin = -1


@asynccontextmanager
async def run_command(
    device: Device, command: str, *, terminal: bool, merged: bool
) -> AsyncIterator[tuple[Child, CommandStreams]]:
    """Run the command (an interactive shell when empty); close the peer's ends at the end."""
    argv = [SHELL, "-c", command] if command else [SHELL, "-i"] if terminal else [SHELL]
    with contextlib.ExitStack() as given:
        if terminal:
            ours, theirs = descriptors.terminal(echo=not command)
            given.callback(os.close, theirs)
            ends, numbers = CommandStreams(ours, None), (theirs, theirs, theirs)
        else:
            mine, its_own = socket.socketpair()
            given.enter_context(its_own)
            errors, its_errors = (None, its_own) if merged else socket.socketpair()
            given.enter_context(its_errors)
            ends, numbers = (
                CommandStreams(mine, errors),
                (its_own.fileno(), its_own.fileno(), its_errors.fileno()),
            )
        try:
            child = device.spawn(
                argv, environment_of(device), numbers, terminal=terminal
            )
            given.close()
            yield child, ends
        finally:
            ends.close()


async def serve_plain(
    device: Device, stream: Stream, command: str, *, terminal: bool
) -> None:
    """Serve a shell without v2: no exit code, and both outputs merged."""
    async with (
        run_command(device, command, terminal=terminal, merged=True) as (_, ends),
        run_meanwhile(_feed(stream, ends)),
    ):
        while chunk := await _next_output(stream, ends.output, stream.payload_bytes):
            await stream.write(chunk)


async def serve_framed(
    device: Device, stream: Stream, command: str, *, terminal: bool
) -> None:
    """Serve a shell of v2: outputs apart, then the exit code."""
    async with (
        run_command(device, command, terminal=terminal, merged=terminal) as (
            child,
            ends,
        ),
        run_meanwhile(_feed_framed(stream, ends, terminal=terminal)),
    ):
        try:
            async with run_meanwhile(_forward(stream, ends.errors, STDERR)) as errors:
                await _forward(stream, ends.output, STDOUT)
                await errors
        except BaseException:
            child.hang_up()
            raise
        # From here on adbd only waits for the command's end (Subprocess::WaitForExit) and no longer notices
        # that a client leaves.
        status = await child.wait()
        code = status if status >= 0 else 0x80 | -status
        await stream.write(PACKET.pack(EXIT, 1) + bytes([code]))


@asynccontextmanager
async def run_meanwhile(
    work: Coroutine[None, None, None],
) -> AsyncIterator[asyncio.Task[None]]:
    """Run `work` while the block runs, and cancel it at its end."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _forward(stream: Stream, source: int, kind: int) -> None:
    while source >= 0 and (chunk := await _next_output(stream, source, FRAME_BYTES)):
        await stream.write(PACKET.pack(kind, len(chunk)) + chunk)


async def _next_output(stream: Stream, source: int, most: int) -> bytes:
    """Return everything that a command has printed by the time the client takes more
    (`local_socket_flush_outgoing`)."""
    await stream.writable()
    return await descriptors.read(source, most)


async def _feed(stream: Stream, ends: CommandStreams) -> None:
    while True:  # also when nobody reads any more: the client still gets its OKAY
        data = await stream.read()
        if not await descriptors.write(ends.stdin, data):
            ends.close_stdin()


async def _feed_framed(stream: Stream, ends: CommandStreams, *, terminal: bool) -> None:
    while True:
        kind, length = PACKET.unpack(await stream.read_exactly(PACKET.size))
        data = await stream.read_exactly(length)
        if kind == STDIN:
            await descriptors.write(ends.stdin, data)
        elif kind == CLOSE_STDIN and not terminal:
            ends.close_stdin()
