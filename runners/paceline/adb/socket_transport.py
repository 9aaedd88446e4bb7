"""Gives adb-shell a device over TCP: a `BaseTransport` on a `DeadlineSocket`.

Every call ends by its timeout, and the end of a connection is LostError and no empty read.
"""

from __future__ import annotations

import threading
import time

from adb_shell.transport.base_transport import BaseTransport

from paceline.adb.port import LostError
from paceline.adb.transport import NOBODY, READ_BYTES, DeadlineSocket, open_socket


class SocketTransport(BaseTransport):  # type: ignore[misc]  # adb-shell has no types
    """The device at `address`, "host:port". Used for one connection."""

    def __init__(self, address: str) -> None:
        self.whom = f"the device at {address}"
        self._address = address
        self._wire: DeadlineSocket | None = None
        self._ahead = memoryview(b"")
        """Received bytes that were not requested yet: one call receives a small packet with its header."""
        self._is_abandoned = False
        self._changing = threading.Lock()

    def connect(self, transport_timeout_s: float) -> None:
        """Connect. Raises AbsentError."""
        deadline = time.monotonic() + transport_timeout_s
        connected = open_socket(self._address, deadline, NOBODY)
        with self._changing:
            self._wire = DeadlineSocket(connected, self.whom)
            is_abandoned = self._is_abandoned
        if is_abandoned:
            self._wire.close()

    def abandon(self) -> None:
        """End the connection for good, also one that is being made by another thread."""
        with self._changing:
            self._is_abandoned = True
        self.close()

    def close(self) -> None:
        """End the connection at once. Safe to call twice, from any thread."""
        with self._changing:
            wire = self._wire
        if wire is not None:
            wire.close()

    def readable(self, timeout_s: float) -> bool:
        """Return whether data arrives, or the connection ends, within `timeout_s`."""
        return bool(self._ahead) or self._require_wire().readable(timeout_s)

    def bulk_read(self, numbytes: int, transport_timeout_s: float) -> memoryview:
        """Return the next 1 to `numbytes` bytes. Raises SlowError, LostError."""
        if not self._ahead:
            deadline = time.monotonic() + transport_timeout_s
            received = self._require_wire().receive(READ_BYTES, deadline)
            if not received:
                raise LostError(f"{self.whom} ended the connection")
            self._ahead = memoryview(received)
        data, self._ahead = self._ahead[:numbytes], self._ahead[numbytes:]
        return data

    def bulk_write(self, data: bytes, transport_timeout_s: float) -> int:
        """Send all of `data`. Raises SlowError, LostError."""
        self._require_wire().send(data, time.monotonic() + transport_timeout_s)
        return len(data)

    def _require_wire(self) -> DeadlineSocket:
        if self._wire is None:
            raise LostError(f"{self.whom} is not connected")
        return self._wire
