"""`shell:`, `shell,v2:` and `exec:` – commands of the client, run on the device.

Place in the journey: between OPEN and the device's processes. Invariants, each adbd's own: a stream ends when
every holder of the output closed it, so a child in the background keeps it open; with shell v2 the exit code
is the last packet, and a client that leaves sends SIGHUP to the command; without v2 it only loses its pipes.
It does not interpret a command: `sh -c` does.
"""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager

from paceline.testing.adbd import descriptors
from paceline.testing.adbd.device import SHELL, Child, Device, environment_of
from paceline.testing.adbd.streams import Stream

PACKET = struct.Struct("<BI")
STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = range(5)


class Pipes:
    """The peer's ends of a command; `errors` is -1 where the device merges both outputs."""

    def __init__(self, stdin: int, output: int, errors: int) -> None:
        self.stdin, self.output, self.errors = stdin, output, errors
        self._open = {stdin, output, errors} - {-1}
        descriptors.unblocked(*self._open)

    def close_stdin(self) -> None:
        if self.stdin in self._open:
            self._open.remove(self.stdin)
            os.close(self.stdin)
        self.stdin = -1

    def close(self) -> None:
        while self._open:
            os.close(self._open.pop())
        self.stdin = -1


@asynccontextmanager
async def started(
    device: Device, command: str, *, terminal: bool, merged: bool
) -> AsyncIterator[tuple[Child, Pipes]]:
    """Runs the command (an interactive shell when empty); closes the peer's ends at the end."""
    argv = [SHELL, "-c", command] if command else [SHELL, "-i"] if terminal else [SHELL]
    if terminal:
        ours, theirs = descriptors.terminal(echo=not command)
        pipes, given = Pipes(ours, ours, -1), (theirs, theirs, theirs)
    else:
        inward, outward = os.pipe(), os.pipe()
        errors = (-1, outward[1]) if merged else os.pipe()
        pipes, given = Pipes(inward[1], outward[0], errors[0]), (inward[0], outward[1], errors[1])
    try:
        child = device.spawn(argv, environment_of(device), given, terminal=terminal)
        for descriptor in set(given):
            os.close(descriptor)
        yield child, pipes
    finally:
        pipes.close()


async def plain(device: Device, stream: Stream, command: str, *, terminal: bool) -> None:
    """No exit code; both outputs are one."""
    async with (
        started(device, command, terminal=terminal, merged=True) as (_, pipes),
        beside(_feed(stream, pipes)),
    ):
        while chunk := await descriptors.read(pipes.output):
            await stream.write(chunk)


async def framed(device: Device, stream: Stream, command: str, *, terminal: bool) -> None:
    """Shell v2: outputs apart, then the exit code."""
    async with started(device, command, terminal=terminal, merged=terminal) as (child, pipes):
        try:
            async with beside(_feed_framed(stream, pipes, terminal=terminal)):
                async with beside(_forward(stream, pipes.errors, STDERR)) as errors:
                    await _forward(stream, pipes.output, STDOUT)
                    await errors
                status = await child.wait()
                code = status if status >= 0 else 0x80 | -status
                await stream.write(PACKET.pack(EXIT, 1) + bytes([code]))
        finally:
            child.hang_up()


@asynccontextmanager
async def beside(work: Coroutine[None, None, None]) -> AsyncIterator[asyncio.Task[None]]:
    """Runs it while the block runs, and no longer."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _forward(stream: Stream, source: int, kind: int) -> None:
    while source >= 0 and (chunk := await descriptors.read(source)):
        await stream.write(PACKET.pack(kind, len(chunk)) + chunk)


async def _feed(stream: Stream, pipes: Pipes) -> None:
    while True:  # also when nobody reads any more: the client still gets its OKAY
        data = await stream.read()
        if not await descriptors.write(pipes.stdin, data):
            pipes.close_stdin()


async def _feed_framed(stream: Stream, pipes: Pipes, *, terminal: bool) -> None:
    while True:
        kind, length = PACKET.unpack(await stream.read_exactly(PACKET.size))
        data = await stream.read_exactly(length)
        if kind == STDIN:
            await descriptors.write(pipes.stdin, data)
        elif kind == CLOSE_STDIN and not terminal:
            pipes.close_stdin()
