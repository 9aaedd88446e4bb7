"""Tests the deadlines for a client's bytes, over real sockets to a real server with shortened deadlines."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.runtime import http_protocol
from paceline_server.testing.running_server import RunningServer

pytestmark = pytest.mark.shapes("embedded")

HEAD = b"POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


SHORT_S = 0.5


@pytest.fixture(autouse=True)
def _short_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BODY_WITHIN_S", "LINGER_S"):
        monkeypatch.setattr(http_protocol, name, SHORT_S)


@pytest.fixture
def _short_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of this deadline: in others, a client that stands still would miss it before it sends anything."""
    monkeypatch.setattr(http_protocol, "HEAD_WITHIN_S", SHORT_S)


@pytest.fixture
def connect(server: RunningServer) -> Iterator[Callable[[], socket.socket]]:
    opened: list[socket.socket] = []

    def exchange() -> socket.socket:
        host, port = server.url.removeprefix("http://").split(":")
        opened.append(socket.create_connection((host, int(port)), WITHIN_S))
        return opened[-1]

    yield exchange
    for each in opened:
        each.close()


def read_to_end(connection: socket.socket) -> bytes:
    """Everything received until the server closes; a server that does not close fails the test by a time-out."""
    received = b""
    while True:
        try:
            part = connection.recv(65536)
        except ConnectionResetError:
            return received
        if not part:
            return received
        received += part


@pytest.mark.usefixtures("_short_head")
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"G",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        HEAD + b"Content-Length: 10\r\n\r\n",
        HEAD + b"Content-Length: 10\r\n\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    ],
)
def test_half_a_request_is_dropped_at_its_deadline(
    connect: Callable[[], socket.socket], begun: bytes
) -> None:
    connections = [connect() for _ in range(20)]
    for connection in connections:
        connection.sendall(begun)
    assert {read_to_end(connection) for connection in connections} == {b""}


@pytest.mark.usefixtures("_short_head")
@pytest.mark.parametrize(
    "begun",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ",
        HEAD + b"Content-Length: 9999\r\n\r\n",
    ],
)
def test_a_trickle_of_bytes_does_not_keep_a_request_alive(
    connect: Callable[[], socket.socket], begun: bytes
) -> None:
    """The deadline is of the whole head, and of a body at a lowest speed, not of each piece."""
    connection = connect()
    connection.sendall(begun)
    connection.settimeout(0.02)
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        try:
            connection.sendall(b"a")
            if connection.recv(100) == b"":
                return
        except TimeoutError:
            continue
        except OSError:
            return
    raise AssertionError("the server waits for one byte after the other")


def test_a_body_that_arrives_fast_enough_may_exceed_the_first_deadline(
    connect: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "BODY_BYTES_PER_S", 1)
    connection = connect()
    body = b'{"email":"a@b.c","password":"%s"}' % (b"x" * 900)
    connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body[:-5])
    connection.settimeout(2)
    with pytest.raises(TimeoutError):
        connection.recv(1)  # past the first deadline, by what has come
    connection.settimeout(WITHIN_S)
    connection.sendall(body[-5:])
    assert connection.recv(12) == b"HTTP/1.1 401"


def test_a_client_that_was_answered_may_not_continue_sending(
    connect: Callable[[], socket.socket],
) -> None:
    connection = connect()
    connection.sendall(
        HEAD.replace(b"session", b"tokens") + b"Content-Length: 60000\r\n\r\n{"
    )
    response = read_to_end(connection)
    assert response.startswith(b"HTTP/1.1 401")


def test_consecutive_requests_on_one_connection_are_answered(
    connect: Callable[[], socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pause longer than the deadline of a head is no error: an idle connection is not half a request."""
    connection = connect()
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def exchange() -> None:
        connection.settimeout(WITHIN_S)
        connection.sendall(2 * request)
        received = b""
        while received.count(b'{"status":"ok"}') < 2:
            part = connection.recv(65536)
            assert part, "the server closed the connection"
            received += part

    exchange()
    monkeypatch.setattr(http_protocol, "HEAD_WITHIN_S", SHORT_S)
    exchange()
    connection.settimeout(1.5)
    with pytest.raises(TimeoutError):
        connection.recv(1)
    exchange()


@pytest.mark.parametrize(
    "said",
    [
        b"\x00\x01\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_a_request_that_is_not_http_gets_a_problem(
    connect: Callable[[], socket.socket], said: bytes
) -> None:
    connection = connect()
    connection.sendall(said)
    head, _, body = read_to_end(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in head
    assert json.loads(body)["code"] == "invalid_request"
