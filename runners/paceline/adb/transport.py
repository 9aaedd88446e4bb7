"""The socket under adb-shell: everything sent, end of stream is an error, every wait has a deadline.

Place in the journey: the lowest layer of `direct.py`, in place of adb-shell's own TcpTransport. Why (measured
on adb-shell 0.4.4): that one ignores short writes, so that a large push over a real network is truncated and
hangs; it leaves Nagle's algorithm on, which costs 40 ms a message; it reads an ended connection as b"", on
which its caller spins; it selects, which fails beyond descriptor 1023.
Invariants: `bulk_write` returns when all is handed to the kernel, or raises; `bulk_read` returns at least one
byte, or raises; both raise our errors, never adb-shell's. The waits adb-shell passes are not used: they start
again with every call; `deadline` is one for a whole operation, set by the caller.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time

from adb_shell.transport.base_transport import BaseTransport

from paceline.adb.port import AbsentError, AdbError, LostError, SlowError

KEEPALIVE_IDLE_S = 10
KEEPALIVE_EVERY_S = 5
KEEPALIVE_PROBES = 3
"""A cable pulled from a silent stream (logcat, a long benchmark) is noticed after 10 + 3 · 5 s, not after the
two hours the kernel would wait."""
READ_BYTES = 256 << 10
GOODBYE_S = 1.0
"""To hand the kernel a few bytes whose answer changes nothing."""
HEARD_AT_MOST = 16 << 10
"""Bytes of the handshake kept for reading: four messages, the longest a banner of about 1 KiB."""


def host_and_port(address: str) -> tuple[str, int]:
    """Of "host:port" or "[::1]:port". Raises AdbError."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise AdbError(f"{address!r} is no address", "Give host:port, for example 192.168.1.20:5555.")
    return host.strip("[]"), int(port)


def open_socket(address: str, deadline: float, nobody: str) -> socket.socket:
    """A connected socket that sends at once and notices a dead peer. Raises AbsentError with advice
    `nobody`."""
    try:
        found = socket.create_connection(host_and_port(address), timeout=remaining(deadline))
    except OSError as error:
        why = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise AbsentError(f"nobody answers at {address}: {why}", nobody) from error
    try:
        _set_up(found)
    except OSError as error:  # it was reset before it was set up
        found.close()
        why = error.strerror or str(error)
        raise AbsentError(f"who answers at {address} ended the connection at once: {why}", nobody) from error
    return found


def _set_up(found: socket.socket) -> None:
    """Sends at once, notices a dead peer."""
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_IDLE_S),
        ("TCP_KEEPALIVE", KEEPALIVE_IDLE_S),  # macOS calls it so
        ("TCP_KEEPINTVL", KEEPALIVE_EVERY_S),
        ("TCP_KEEPCNT", KEEPALIVE_PROBES),
    ):
        if (option := getattr(socket, name, None)) is not None:
            found.setsockopt(socket.IPPROTO_TCP, option, value)


def remaining(deadline: float) -> float:
    """Seconds left, never 0: a timeout of 0 would mean a socket that does not block."""
    return max(deadline - time.monotonic(), 1e-4)


class Wire:
    """A connected socket with deadlines, shared by both backends. A wait is poll(2) inside the socket, which
    knows no largest descriptor."""

    def __init__(self, connected: socket.socket, whom: str) -> None:
        self._socket, self._whom = connected, whom

    def send(self, data: bytes | bytearray | memoryview, deadline: float) -> None:
        """All of it, however little the kernel takes at a time. Raises SlowError, LostError."""
        view = memoryview(data)
        while view:
            self._socket.settimeout(remaining(deadline))
            try:
                view = view[self._socket.send(view) :]
            except TimeoutError as error:
                raise SlowError(f"{self._whom} takes nothing more") from error
            except OSError as error:
                raise self._lost(error) from error

    def receive(self, most: int, deadline: float) -> bytes:
        """The next 1 to `most` bytes; b"" once the other side ended. Raises SlowError, LostError."""
        self._socket.settimeout(remaining(deadline))
        try:
            return self._socket.recv(most)
        except TimeoutError as error:
            raise SlowError(f"{self._whom} says nothing") from error
        except OSError as error:
            raise self._lost(error) from error

    def readable(self, timeout_s: float) -> bool:
        """Whether something arrived, the end included, within `timeout_s`."""
        self._socket.settimeout(max(timeout_s, 1e-4))
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            return False
        except OSError:
            return True  # receive says what
        return True

    def close(self) -> None:
        """At once for both directions: what the device ran for this connection ends there."""
        with contextlib.suppress(OSError):  # not connected any more
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _lost(self, error: OSError) -> LostError:
        return LostError(f"the connection to {self._whom} broke: {error.strerror or error}")


class Transport(BaseTransport):  # type: ignore[misc]  # adb-shell ships no types
    """What adb-shell reads from and writes to. `deadline` (monotonic seconds) must be set before each use."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.deadline = 0.0
        self.heard = bytearray()
        """The first bytes that arrived: adb-shell drops the banner, see handshake.py."""
        self._wire: Wire | None = None

    def connect(self, transport_timeout_s: float | None) -> None:
        del transport_timeout_s
        self.heard.clear()
        self._wire = Wire(open_socket(self.address, self.deadline, _NOBODY), f"the device at {self.address}")

    def close(self) -> None:
        if self._wire is not None:
            self._wire.close()
            self._wire = None

    def bulk_read(self, numbytes: int, transport_timeout_s: float | None) -> bytes:
        del transport_timeout_s
        data = self._open.receive(numbytes, self.deadline)
        if not data:
            raise LostError(f"the device at {self.address} ended the connection")
        if len(self.heard) < HEARD_AT_MOST:
            self.heard += data
        return data

    def bulk_write(self, data: bytes, transport_timeout_s: float | None) -> int:
        del transport_timeout_s
        self._open.send(data, self.deadline)
        return len(data)

    def readable(self, timeout_s: float) -> bool:
        """Whether a read would find something, the end of the connection included."""
        return self._open.readable(timeout_s)

    @property
    def _open(self) -> Wire:
        if self._wire is None:
            raise LostError(f"there is no connection to the device at {self.address}")
        return self._wire


_NOBODY = (
    "Is the device on and in this network? A phone listens after `adb tcpip 5555` over its cable, until it"
    " restarts; its address is under Settings, About phone."
)


def unpacked(data: bytes) -> tuple[bytes, int, int, int]:
    """(command, arg0, arg1, length of what follows) of a message's 24 bytes (AOSP adb/protocol.txt)."""
    command, arg0, arg1, length, _, _ = struct.unpack("<4s5I", data)
    return command, arg0, arg1, length
