"""Tests the deadline socket on real sockets: it sends all bytes, notices ends, and keeps deadlines."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from paceline.adb.port import AbsentError, AdbError, LostError, SlowError
from paceline.adb.socket_transport import SocketTransport
from paceline.adb.transport import NOBODY, DeadlineSocket, host_and_port, open_socket
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S

SMALL_BUFFER = 4096
SOON_S = 0.05


def deadline() -> float:
    return time.monotonic() + WITHIN_S


@pytest.fixture
def pair() -> Iterator[tuple[DeadlineSocket, socket.socket]]:
    """Yield a socket with a send buffer of a few KiB, and the other end of its connection."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
    wire = DeadlineSocket(ours, "the device")
    with theirs:
        yield wire, theirs
        wire.close()


def test_all_is_sent_though_the_kernel_takes_a_little_at_a_time(
    pair: tuple[DeadlineSocket, socket.socket],
) -> None:
    wire, theirs = pair
    data = random.Random(1).randbytes(3 << 20)  # noqa: S311 -- test data
    received = hashlib.sha256()

    def receive_all() -> None:
        while more := theirs.recv(1500):
            received.update(more)

    reader = threading.Thread(target=receive_all)
    reader.start()
    wire.send(data, deadline())
    wire.close()
    reader.join(WITHIN_S)
    assert received.digest() == hashlib.sha256(data).digest()


def test_such_a_kernel_really_takes_less_than_it_is_given() -> None:
    """The test above proves nothing if the kernel takes everything at once."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL_BUFFER)
        ours.setblocking(False)
        assert ours.send(bytes(1 << 20)) < 1 << 20


def test_a_peer_that_takes_nothing_is_slow_and_not_for_ever(
    pair: tuple[DeadlineSocket, socket.socket],
) -> None:
    wire, _ = pair
    with pytest.raises(SlowError, match="accepts no more"):
        wire.send(bytes(1 << 20), time.monotonic() + SOON_S)


def test_a_peer_that_says_nothing_is_slow(
    pair: tuple[DeadlineSocket, socket.socket],
) -> None:
    wire, _ = pair
    with pytest.raises(SlowError, match="does not answer"):
        wire.receive(10, time.monotonic() + SOON_S)


def test_sending_to_a_peer_that_left_is_lost(
    pair: tuple[DeadlineSocket, socket.socket],
) -> None:
    wire, theirs = pair
    theirs.close()
    with pytest.raises(LostError):
        wire.send(bytes(1 << 20), deadline())


def test_readable_tells_bytes_and_the_end_from_silence(
    pair: tuple[DeadlineSocket, socket.socket],
) -> None:
    wire, theirs = pair
    assert not wire.readable(SOON_S)
    theirs.send(b"x")
    assert wire.readable(WITHIN_S)
    assert wire.receive(10, deadline()) == b"x"
    assert not wire.readable(SOON_S)
    theirs.close()
    assert wire.readable(WITHIN_S)
    assert wire.receive(10, deadline()) == b""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def connected(listener: socket.socket) -> DeadlineSocket:
    address = f"127.0.0.1:{listener.getsockname()[1]}"
    return DeadlineSocket(
        open_socket(address, deadline(), NOBODY), f"the device at {address}"
    )


def test_an_ended_connection_is_an_error_and_no_empty_read(
    listener: socket.socket,
) -> None:
    transport = SocketTransport(f"127.0.0.1:{listener.getsockname()[1]}")
    transport.connect(WITHIN_S)
    listener.accept()[0].close()
    with pytest.raises(LostError, match="ended the connection"):
        transport.bulk_read(24, WITHIN_S)
    transport.close()


def test_a_transport_that_was_abandoned_while_it_connected_is_closed(
    listener: socket.socket,
) -> None:
    transport = SocketTransport(f"127.0.0.1:{listener.getsockname()[1]}")
    transport.abandon()
    transport.connect(WITHIN_S)
    with pytest.raises(LostError, match="broke"):
        transport.bulk_write(b"x", WITHIN_S)


def test_small_messages_leave_at_once_and_silence_is_probed(
    listener: socket.socket,
) -> None:
    wire = connected(listener)
    inner_socket = wire._socket
    assert inner_socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
    assert inner_socket.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0
    if hasattr(socket, "TCP_KEEPIDLE"):
        idle, every, probes = (
            inner_socket.getsockopt(socket.IPPROTO_TCP, option)
            for option in (
                socket.TCP_KEEPIDLE,
                socket.TCP_KEEPINTVL,
                socket.TCP_KEEPCNT,
            )
        )
        assert idle + every * probes <= 60
    wire.close()


@pytest.mark.skipif(
    os.name != "posix",
    reason="descriptors are numbered on POSIX systems, not on Windows",
)
def test_a_connection_beyond_descriptor_1023_works(listener: socket.socket) -> None:
    """select(2) fails for such descriptors, so the socket must use poll."""
    import resource  # noqa: PLC0415 -- POSIX only

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2048)), hard))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        null = os.open(os.devnull, os.O_RDONLY)
        stack.callback(os.close, null)
        while True:
            taken = os.dup(null)
            stack.callback(os.close, taken)
            if taken > 1023:
                break
        wire = connected(listener)
        stack.callback(wire.close)
        other = stack.enter_context(listener.accept()[0])
        assert wire._socket.fileno() > 1023
        assert not wire.readable(SOON_S)
        other.send(b"here")
        assert wire.receive(24, deadline()) == b"here"


def test_a_closed_wire_is_lost_and_closing_again_is_safe(
    listener: socket.socket,
) -> None:
    wire = connected(listener)
    wire.close()
    wire.close()
    with pytest.raises(LostError, match="broke"):
        wire.send(b"x", deadline())


def test_nobody_listening_is_absent_with_advice() -> None:
    with (
        reserved_port() as port,
        pytest.raises(AbsentError, match="refused") as caught,
    ):
        open_socket(f"127.0.0.1:{port}", deadline(), NOBODY)
    assert "adb tcpip 5555" in caught.value.advice


def test_addresses_are_read() -> None:
    assert host_and_port("phone.example:5555") == ("phone.example", 5555)
    assert host_and_port("[::1]:5555") == ("::1", 5555)


@pytest.mark.parametrize(
    "address", ["", "phone", "phone:", ":5555", "phone:0", "phone:65536", "phone:x"]
)
def test_what_is_no_address_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(AdbError, match="not an address") as caught:
        host_and_port(address)
    assert "5555" in caught.value.advice
