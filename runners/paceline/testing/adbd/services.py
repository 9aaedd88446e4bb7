"""Selects the service for a requested name, and serves the one-line ones.

A name the device does not serve is refused, never answered with silence; an old device refuses what it lacks.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from paceline.testing.adbd import files, shell
from paceline.testing.adbd.streams import Stream

if TYPE_CHECKING:
    from paceline.testing.adbd.peer import Peer
    from paceline.testing.adbd.session import Session

Service = Callable[[Stream], Awaitable[None]]


def find(peer: Peer, session: Session, name: str) -> Service | None:
    """Return the service for a name, or None to refuse it."""
    if any(name.startswith(refused) for refused in peer.faults.refuse):
        return None
    words, colon, rest = name.partition(":")
    if not colon:
        return None
    kind, *options = words.split(",")
    if kind == "shell":
        return _shell(peer, session, options, rest)
    others: dict[str, Service] = {
        "sync": partial(files.serve, peer),
        "root": partial(_root, peer, to_root=True),
        "unroot": partial(_root, peer, to_root=False),
        "reboot": partial(_reboot, peer),
    }
    if not session.legacy:
        others["exec"] = partial(_plain, peer, rest, terminal=False)
    return others.get(words)


def _shell(
    peer: Peer, session: Session, options: list[str], command: str
) -> Service | None:
    if session.legacy:
        return None if options else partial(_plain, peer, command, terminal=True)
    terminal = "pty" in options or (not command and "raw" not in options)
    if "v2" not in options:
        return partial(_plain, peer, command, terminal=terminal)
    if "shell_v2" not in peer.features:
        return None
    return partial(_framed, peer, command, terminal=terminal)


async def _plain(peer: Peer, command: str, stream: Stream, *, terminal: bool) -> None:
    await shell.serve_plain(peer.device, stream, command, terminal=terminal)


async def _framed(peer: Peer, command: str, stream: Stream, *, terminal: bool) -> None:
    await shell.serve_framed(peer.device, stream, command, terminal=terminal)


async def _root(peer: Peer, stream: Stream, *, to_root: bool) -> None:
    text, restarts = peer.become_root(to_root=to_root)
    await stream.write(f"{text}\n".encode())
    await stream.drain()
    if restarts:
        peer.cut_soon()


async def _reboot(peer: Peer, stream: Stream) -> None:
    """Forward the output of /system/bin/reboot, as adbd does; a test can script it."""
    if ("reboot",) in peer.texts:
        await shell.serve_plain(peer.device, stream, "reboot", terminal=True)
        return
    peer.restart_soon()
    await stream.read()  # the reboot ends the connection, and with it this stream
