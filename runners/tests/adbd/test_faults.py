"""Tests of every fault in `faults.py`; without faults the peer behaves as a healthy device."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from paceline.testing.adbd import Faults, Peer
from paceline.testing.adbd.transfer import PacketTransfer
from paceline_contract.testing.waiting import WITHIN_S

from .client import Client, Files, Key, random_bytes
from .conftest import StartPeer, connected, until

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

TMP = "/data/local/tmp"


def greet(client: Client) -> None:
    client.send("CNXN", 0x01000001, 1 << 20, b"host::")


def test_offline_ends_the_connection_without_an_answer(peer: Peer) -> None:
    peer.faults.offline = True
    with Client(peer.address) as client, pytest.raises(EOFError):
        client.connect()
    peer.faults.offline = False
    with connected(peer) as client:
        assert client.plain("echo back") == b"back\n"


def test_deny_prompt_is_silence_after_the_offered_key(start: StartPeer) -> None:
    peer, key = start(trust="any"), Key()
    peer.faults.deny_prompt = True
    with Client(peer.address) as client:
        greet(client)
        client.expect("AUTH")
        client.send("AUTH", 3, 0, key.public)
        client.socket.settimeout(0.05)
        with pytest.raises(TimeoutError):
            client.receive()
    assert (peer.prompts, peer.connections) == ([], 0)


def test_stls_answers_the_greeting(peer: Peer) -> None:
    peer.faults.stls = True
    with Client(peer.address) as client:
        greet(client)
        assert client.expect("STLS").arg0 == 0x01000000


@pytest.mark.parametrize("limit", [0, 24, 29])
def test_drop_after_bytes_cuts_within_what_the_client_sends(
    peer: Peer, limit: int
) -> None:
    peer.faults.drop_after_bytes = limit
    with Client(peer.address) as client:
        greet(client)
        with pytest.raises(EOFError):
            client.take(1)
    assert peer.violations == [], "a cut is no mistake of the client"


def test_drop_after_bytes_cuts_within_an_answer(peer: Peer) -> None:
    with Client(peer.address) as client:
        peer.faults.drop_after_bytes = 24 + len("host::") + 24 + 10
        greet(client)
        assert client.take(24 + 10)[24:] == b"device::ro"
        with pytest.raises(EOFError):
            client.take(1)


def test_silent_ends_nothing_and_answers_nothing(peer: Peer) -> None:
    with connected(peer) as client:
        peer.faults.silent = True
        client.send("OPEN", 1, 0, b"exec:echo late\x00")
        client.socket.settimeout(0.05)
        with pytest.raises(TimeoutError):
            client.receive()
        peer.faults.silent = False
        client.socket.settimeout(WITHIN_S)
        assert [client.receive().name, client.receive().data] == ["OKAY", b"late\n"]


def nonblocking_send(peer: Peer, count: int) -> int:
    """How much of so many bytes one `send` takes, with a client's buffer small enough to fill."""
    host, port = peer.address.rsplit(":", 1)
    with socket.socket() as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16_384)
        raw.connect((host, int(port)))
        raw.setblocking(False)
        return raw.send(bytes(count))


def test_short_writes_take_less_than_was_given_and_lose_nothing(
    start: StartPeer,
) -> None:
    peer = start()
    peer.faults.short_writes = True
    assert nonblocking_send(peer, 1 << 20) < 1 << 20
    with connected(peer) as client:
        data = random_bytes(400_000)
        files = Files(client)
        assert files.push(f"{TMP}/file", data) == ""
        assert files.pull(f"{TMP}/file") == data
        assert max(client.sizes) == 4093


class Recording(socket.socket):
    """Writes down how much it was given at once."""

    sizes: list[int]

    def send(self, data: ReadableBuffer, flags: int = 0, /) -> int:
        self.sizes.append(memoryview(data).nbytes)
        return super().send(data, flags)


async def sizes_sent(faults: Faults, count: int) -> list[int]:
    with socket.create_server(("127.0.0.1", 0)) as server, Recording() as sender:
        sender.sizes = []
        sender.connect(server.getsockname())
        await PacketTransfer(sender, faults).send(bytes(count))
        return sender.sizes


def test_short_writes_answer_in_pieces() -> None:
    assert asyncio.run(sizes_sent(Faults(), 3000)) == [3000]
    assert asyncio.run(sizes_sent(Faults(short_writes=True), 3000)) == [
        7,
        1021,
        1021,
        951,
    ]


def test_slow_takes_its_time_in_both_directions(peer: Peer) -> None:
    with connected(peer) as client:
        peer.faults.slow_bps = 100_000
        began = time.monotonic()
        assert len(client.open("exec:head -c 20000 /dev/zero").rest()) == 20_000
        assert time.monotonic() - began >= 0.19
        began = time.monotonic()
        client.open("exec:cat >/dev/null").write(bytes(20_000))
        assert time.monotonic() - began >= 0.19


def test_legacy_is_a_device_of_android_6(start: StartPeer) -> None:
    peer = start()
    peer.faults.legacy = True
    with Client(peer.address) as client:
        assert b"features" not in client.connect()
        assert (client.legacy, client.largest) == (True, 4096)
        assert (
            client.plain("echo out; echo err >&2; test -t 1 && echo tty")
            == b"out\r\nerr\r\ntty\r\n"
        )
        for service in ("shell,v2,raw:true", "exec:true"):
            with pytest.raises(PermissionError):
                client.open(service)
        data = random_bytes(50_000)
        files = Files(client)
        assert files.push(f"{TMP}/file", data) == ""
        assert files.pull(f"{TMP}/file") == data
        client.send("OPEN", 50, 0, b"shell:true\x00", checksum=1)
        with pytest.raises(EOFError):
            client.drain()
    assert peer.violations == ["OPEN with a wrong checksum"]


def test_hanging_up_on_a_legacy_shell_ends_what_holds_its_terminal(
    start: StartPeer,
) -> None:
    peer = start()
    peer.faults.legacy = True
    with Client(peer.address) as client:
        client.connect()
        stream = client.open("shell:echo up; exec sleep 306")
        stream.read_until(b"up\r\n")
        until(lambda: len(peer.processes()) == 1)
        stream.close()
        until(lambda: peer.processes() == [])


def test_no_space_refuses_the_file_that_does_not_fit_and_removes_it(
    peer: Peer, client: Client
) -> None:
    files = Files(client)
    there = files.names(TMP)
    peer.faults.no_space_after = 150_000
    assert files.push(f"{TMP}/fits", bytes(100_000)) == ""
    assert (
        files.push(f"{TMP}/too-much", bytes(500_000))
        == "write failed: No space left on device"
    )
    files = Files(client)
    assert sorted(files.names(TMP)) == sorted([*there, "fits"])
    peer.faults.no_space_after = None
    assert files.push(f"{TMP}/too-much", bytes(500_000)) == ""


def test_a_refused_service_is_closed_at_once(peer: Peer, client: Client) -> None:
    peer.faults.refuse = {"shell,v2", "sync:"}
    for service in ("shell,v2,raw:true", "sync:"):
        with pytest.raises(PermissionError):
            client.open(service)
    assert client.plain("echo plain") == b"plain\n"


def test_another_serial_answers_at_the_same_address(peer: Peer, client: Client) -> None:
    assert client.plain("getprop ro.serialno") == b"SIM0001\n"
    peer.faults.other_serial = "OTHER"
    assert client.plain("getprop ro.serialno") == b"OTHER\n"
    assert b"[ro.boot.serialno]: [OTHER]\n" in client.plain("getprop")


def test_booting_has_not_completed(peer: Peer, client: Client) -> None:
    assert client.plain("getprop sys.boot_completed") == b"1\n"
    peer.faults.booting = True
    assert client.plain("getprop sys.boot_completed") == b"\n"


def test_staying_away_refuses_connections_until_it_comes_back(peer: Peer) -> None:
    peer.faults.stays_away = True
    with connected(peer) as client:
        client.open("reboot:")
        with pytest.raises(EOFError):
            client.receive()
    with pytest.raises(ConnectionRefusedError):
        Client(peer.address)
    peer.come_back()
    with connected(peer) as client:
        assert client.plain("echo back") == b"back\n"


def test_the_port_of_a_device_that_is_away_goes_to_nobody_else(peer: Peer) -> None:
    peer.leave()
    host, port = peer.address.rsplit(":", 1)
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind((host, int(port)))


def test_leaving_and_coming_back_keeps_address_processes_and_boot(peer: Peer) -> None:
    address, boot_id = peer.address, peer.boot_id
    with connected(peer) as client:
        client.plain("setsid sleep 307 >/dev/null 2>&1 </dev/null &")
        peer.leave()
        with pytest.raises(EOFError):
            client.receive()
    with pytest.raises(ConnectionRefusedError):
        Client(address)
    until(lambda: len(peer.processes()) == 1)
    peer.come_back()
    with connected(peer) as client:
        assert client.plain("echo back") == b"back\n"
    assert (peer.address, peer.boot_id) == (address, boot_id)


def test_a_peer_at_rest_is_quick_whole_and_polite(client: Client) -> None:
    data = random_bytes(3_000_000)
    files = Files(client)
    assert files.push(f"{TMP}/file", data) == ""
    assert files.pull(f"{TMP}/file") == data
    assert client.shell("exit 9")[0] == 9
    assert struct.calcsize("<6I") == 24


def test_connections_that_come_while_it_stops_listening_are_closed(peer: Peer) -> None:
    """One that was accepted when the device left was lost unclosed, in one of a hundred journeys."""
    host, _, port = peer.address.rpartition(":")
    is_over = threading.Event()

    def connect() -> None:
        while not is_over.is_set():
            with contextlib.suppress(OSError), socket.socket() as client:
                client.connect((host, int(port)))

    with ThreadPoolExecutor() as pool:
        clients = [pool.submit(connect) for _ in range(2)]
        try:
            for _ in range(400):
                peer.leave()
                peer.come_back()
        finally:
            is_over.set()
        for client in clients:
            client.result()
    gc.collect()  # the interpreter warns of sockets that nobody closed, and the warning fails the test
