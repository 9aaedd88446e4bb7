"""A connected socket whose every operation has a deadline.

The lowest layer of TCP devices and of the adb server's backend. Nagle's algorithm is off, because it costs 40 ms per
message; keepalive detects a dead peer; poll(2) waits, because select(2) has a highest descriptor. The socket never
blocks: data that has arrived costs one call.
"""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import time

from paceline.adb.port import AbsentError, AdbError, LostError, SlowError

KEEPALIVE_IDLE_S = 10
KEEPALIVE_EVERY_S = 5
KEEPALIVE_PROBES = 3
"""A cable pulled from a silent stream (logcat, a long benchmark) is noticed after 10 + 3 · 5 s, not after the
two hours the kernel would wait."""
READ_BYTES = 256 << 10
GOODBYE_S = 1.0
"""Timeout for a last message whose answer does not matter."""


def host_and_port(address: str) -> tuple[str, int]:
    """Split "host:port" or "[::1]:port". Raises AdbError."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise AdbError(
            f"{address!r} is not an address",
            "Give host:port, for example 192.168.1.20:5555.",
        )
    return host.strip("[]"), int(port)


def open_socket(address: str, deadline: float, nobody: str) -> socket.socket:
    """Open a socket that sends at once and detects a dead peer. Raises AbsentError with the advice
    `nobody`."""
    try:
        connected = socket.create_connection(
            host_and_port(address), timeout=seconds_until(deadline)
        )
    except OSError as error:
        why = (
            "no answer"
            if isinstance(error, TimeoutError)
            else error.strerror or str(error)
        )
        raise AbsentError(f"nobody answers at {address}: {why}", nobody) from error
    try:
        _set_options(connected)
    except OSError as error:  # the peer reset it already
        connected.close()
        why = error.strerror or str(error)
        raise AbsentError(
            f"{address} ended the connection at once: {why}", nobody
        ) from error
    return connected


def _set_options(connected: socket.socket) -> None:
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_IDLE_S),
        ("TCP_KEEPALIVE", KEEPALIVE_IDLE_S),  # its name on macOS
        ("TCP_KEEPINTVL", KEEPALIVE_EVERY_S),
        ("TCP_KEEPCNT", KEEPALIVE_PROBES),
    ):
        if (option := getattr(socket, name, None)) is not None:
            connected.setsockopt(socket.IPPROTO_TCP, option, value)


def seconds_until(deadline: float) -> float:
    """Return the seconds until `deadline`; never 0, because a timeout of 0 makes a socket non-blocking."""
    return max(deadline - time.monotonic(), 1e-4)


class DeadlineSocket:
    """A connected socket. Errors name `whom`, which may change when another peer answers through it."""

    def __init__(self, connected: socket.socket, whom: str) -> None:
        self._socket, self.whom = connected, whom
        connected.setblocking(False)

    def send(self, data: bytes | bytearray | memoryview, deadline: float) -> None:
        """Send all of `data`. Raises SlowError, LostError."""
        view = memoryview(data)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                if not self._ready(deadline, to_send=True):
                    raise SlowError(f"{self.whom} accepts no more data") from None
            except OSError as error:
                raise self._lost(error) from error

    def receive(self, most: int, deadline: float) -> bytes:
        """Return the next 1 to `most` bytes, b"" once the other side has ended. Raises SlowError,
        LostError."""
        while True:
            try:
                return self._socket.recv(most)
            except BlockingIOError:
                self._wait_for_data(deadline)
            except OSError as error:
                raise self._lost(error) from error

    def readable(self, timeout_s: float) -> bool:
        """Return whether data arrives, or the connection ends, within `timeout_s`."""
        return self._ready(time.monotonic() + timeout_s, to_send=False)

    def close(self) -> None:
        """End both directions at once, which ends the connection's commands on the device."""
        with contextlib.suppress(OSError):  # not connected any more
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _wait_for_data(self, deadline: float) -> None:
        if not self._ready(deadline, to_send=False):
            raise SlowError(f"{self.whom} does not answer")

    def _ready(self, deadline: float, *, to_send: bool) -> bool:
        """Return whether the socket can be used before `deadline`. A broken one counts as usable: using it raises."""
        timeout_s = max(deadline - time.monotonic(), 0.0)
        number = self._socket.fileno()
        if number < 0:
            return True
        if sys.platform == "win32":  # no poll, but a select without that limit
            sockets = [number]
            ready = select.select(
                [] if to_send else sockets,
                sockets if to_send else [],
                sockets,
                timeout_s,
            )
            return any(ready)
        else:  # noqa: RET505 -- after a return mypy calls it unreachable on Windows
            poll = select.poll()
            poll.register(number, select.POLLOUT if to_send else select.POLLIN)
            return bool(poll.poll(timeout_s * 1000))

    def _lost(self, error: OSError) -> LostError:
        return LostError(
            f"the connection to {self.whom} broke: {error.strerror or error}"
        )


NOBODY = (
    "Check that the device is on and in this network. A phone listens after `adb tcpip 5555` over its cable,"
    " until it restarts; its address is under Settings, About phone."
)
