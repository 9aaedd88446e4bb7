"""The interface of one open service of a device: bytes in both directions, and its end.

Backends implement it (`direct.py` on packets, `server.py` on a socket) and the protocols inside a service use
it (`shell_v2.py`, `sentinel.py`, `sync.py`). Empty bytes mean that the device closed the service. An adb
server cannot tell that from a lost transport, so each protocol checks itself whether it is complete.
"""

from __future__ import annotations

from typing import Protocol

Bytes = bytes | bytearray | memoryview
"""What a channel sends; it is the caller's again when `send` returns."""


class Channel(Protocol):
    """`deadline` is in seconds of time.monotonic."""

    def send(self, data: Bytes, deadline: float) -> None:
        """All of it. Raises SlowError, LostError (also when the device closed the service)."""

    def receive(self, deadline: float) -> bytes | bytearray | None:
        """What came next, the caller's own; empty once the device closed; None when nothing came in time.
        Raises LostError."""

    def close(self) -> None:
        """Tells the device, which ends what it runs for it. Safe to call twice."""
