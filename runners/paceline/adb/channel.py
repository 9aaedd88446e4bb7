"""The interface of one open service of a device: bytes in both directions, and its end.

Backends implement it (`direct.py`, `server.py`); the protocols inside a service use it (`shell_v2.py`,
`sentinel.py`, `sync.py`). Each protocol checks whether it is complete, because an adb server reports a closed
service and a lost transport alike.
"""

from __future__ import annotations

from typing import Protocol

Bytes = bytes | bytearray | memoryview
"""What a channel sends. The caller may reuse it when `send` returns."""


class Channel(Protocol):
    """One open service. Deadlines are in seconds of time.monotonic."""

    def send(self, data: Bytes, deadline: float) -> None:
        """Sends all of `data`. Raises SlowError, and LostError also when the device closed the service."""

    def receive(self, deadline: float) -> bytes | bytearray | None:
        """Returns the next bytes, empty bytes once the device has closed the service, or None when nothing
        came in time. The caller owns the bytes. Raises LostError."""

    def close(self) -> None:
        """Closes the service; the device ends its command. Safe to call twice."""
