"""A receiver of webhooks on a free port: keeps what it gets, and answers as the next of its behaviours says.

Behaviours are how receivers fail: they answer 500, hang, trickle, close early, send without end.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from paceline_contract.testing.waiting import WITHIN_S

Behaviour = Callable[["ReceiverHandler"], None]


@dataclass(frozen=True)
class ReceivedRequest:
    """A request as it arrived; names of headers in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class Receiver(ThreadingHTTPServer):
    """`behaviours`: of the next requests; then `usual`. `let_go` ends those that hang or trickle."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ReceiverHandler)
        self.received: list[ReceivedRequest] = []
        self.behaviours: deque[Behaviour] = deque()
        self.usual: Behaviour = answering(204)
        self.let_go = threading.Event()
        self.sent_bytes = 0
        self._changed = threading.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?team=1"

    def keep(self, request: ReceivedRequest) -> None:
        with self._changed:
            self.received.append(request)
            self._changed.notify_all()

    def wait_for(self, count: int) -> list[ReceivedRequest]:
        """Return the requests once there are `count`. Raises AssertionError after minutes."""
        with self._changed:
            if not self._changed.wait_for(
                lambda: len(self.received) >= count, WITHIN_S
            ):
                raise AssertionError(f"{len(self.received)} of {count} requests came")
            return list(self.received)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is part of the tests."""


class ReceiverHandler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.keep(ReceivedRequest(self.path, headers, body))
        behaviours = self.server.behaviours
        behave = behaviours.popleft() if behaviours else self.server.usual
        behave(self)

    def send_all(self, data: bytes) -> None:
        self.wfile.write(data)
        self.server.sent_bytes += len(data)

    def log_message(self, *_: object) -> None: ...


def answering(
    status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Behaviour:
    """Answer at once."""

    def behave(handler: ReceiverHandler) -> None:
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.send_all(body)

    return behave


def hang(handler: ReceiverHandler) -> None:
    """Say nothing."""
    handler.server.let_go.wait(WITHIN_S)


def trickle_headers(handler: ReceiverHandler) -> None:
    """A byte at a time, each sooner than any read times out."""
    _trickle(handler, b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 100_000)


def trickle_body(handler: ReceiverHandler) -> None:
    """The status at once, the body a byte at a time."""
    handler.send_response(200)
    handler.end_headers()
    _trickle(handler, b"x" * 1000)


def _trickle(handler: ReceiverHandler, data: bytes) -> None:
    for byte in data:
        handler.send_all(bytes([byte]))
        if handler.server.let_go.wait(0.02):
            return


def close_early(handler: ReceiverHandler) -> None:
    """Close the connection in the middle of the status line."""
    handler.send_all(b"HTTP/1.1 20")
    handler.connection.shutdown(socket.SHUT_RDWR)


def flood_body(handler: ReceiverHandler) -> None:
    """200 with a body of 10 MB."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(160):
        handler.send_all(b"x" * 65536)


def flood_headers(handler: ReceiverHandler) -> None:
    """A status and headers without end."""
    handler.send_all(b"HTTP/1.1 200 OK\r\n")
    for number in range(100_000):
        handler.send_all(b"X-%d: %s\r\n" % (number, b"x" * 1000))


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """Yield a receiver until the block ends; with `context` it speaks TLS."""
    server = Receiver()
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join(WITHIN_S)
