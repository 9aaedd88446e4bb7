"""One service of a device, opened: bytes there and back, and how it ended.

Place in the journey: what a backend makes (`direct.py` over its packets, `server.py` over a socket) and all
protocols inside a service (`shell_v2.py`, `sentinel.py`, `sync.py`) are written against. Invariant: empty is
the device closing the service, never a lost transport where the backend can tell the two apart; an adb server
cannot, so what a protocol needs to be complete it checks itself.
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
