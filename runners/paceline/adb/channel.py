"""The interface of one open service of a device: the bytes it sends, and its end.

Backends implement it (`direct.py`, `server.py`); the protocols inside a service use it (`shell_v2.py`,
`sentinel.py`). Each protocol checks whether it is complete, because an adb server reports a closed service and a
lost transport alike. Nothing is sent: a command's standard input is empty.
"""

from __future__ import annotations

from typing import Protocol

Bytes = bytes | bytearray | memoryview


class Channel(Protocol):
    """One open service. Deadlines are in seconds of time.monotonic."""

    def receive(self, deadline: float) -> bytes | None:
        """Return the next bytes, empty bytes once the device has closed the service, or None when nothing
        came in time. Raises LostError."""

    def close(self) -> None:
        """Close the service; the device ends its command. Safe to call twice."""
