"""Tests of each mended defect of adb-shell, with the proof on adb-shell itself where it is cheap to wait for."""

from __future__ import annotations

import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any

import pytest
from adb_shell import exceptions
from adb_shell.adb_device import AdbDevice
from paceline.adb.adb_shell_fixes import (
    HOST_FEATURES,
    VERSION,
    PatchedDevice,
    ServiceClosedError,
)
from paceline.adb.keys import AgentKey
from paceline.adb.port import LostError, RefusedError, SlowError
from paceline.adb.socket_transport import SocketTransport
from paceline.testing.adbd import Faults, Peer, packets
from paceline_contract.testing.waiting import WITHIN_S

from .rigs import until
from .scripted import BANNER, ScriptedDevice, scripted

STOCK = "adb_shell.adb_device"
SOON_S = 0.2
"""The time limit where nothing comes."""
NOT_IN_TIME = (SlowError, exceptions.AdbTimeoutError)


def patched_device(address: str, grace_s: float = WITHIN_S) -> PatchedDevice:
    return PatchedDevice(SocketTransport(address), "the device", grace_s)


def connected(address: str, key: AgentKey | None = None) -> PatchedDevice:
    device = patched_device(address)
    connect(device, key)
    return device


def connect(device: Any, key: AgentKey | None = None) -> None:
    keys = [key.signer] if key else None
    device.connect(keys, transport_timeout_s=WITHIN_S, read_timeout_s=WITHIN_S)


def in_time() -> float:
    return time.monotonic() + WITHIN_S


@pytest.fixture
def peer(shared_peer: Peer) -> Iterator[Peer]:
    shared_peer.faults.__dict__.update(Faults().__dict__)
    shared_peer.features = frozenset({"cmd", "shell_v2"})
    shared_peer.violations.clear()
    yield shared_peer
    shared_peer.faults.__dict__.update(Faults().__dict__)
    until(lambda: not shared_peer.processes(), "everything on the device ended")
    assert shared_peer.violations == []


@pytest.fixture
def device(peer: Peer, key: AgentKey) -> Iterator[PatchedDevice]:
    made = connected(peer.address, key)
    yield made
    made.close()


@pytest.fixture
def stock(peer: Peer, key: AgentKey) -> Iterator[AdbDevice]:
    """adb-shell as it is."""
    made = AdbDevice(SocketTransport(peer.address), banner=HOST_FEATURES)
    connect(made, key)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("module", "opens_usb"), [("paceline.adb.direct", "False"), (STOCK, "True")]
)
def test_libusb_is_not_opened_by_an_import(module: str, opens_usb: str) -> None:
    asked = f"import sys, {module}; print('usb1' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [opens_usb]


# --- services ---


def test_a_refused_service_is_refused_at_once(
    peer: Peer, device: PatchedDevice
) -> None:
    peer.faults.refuse = {"exec"}
    with pytest.raises(RefusedError, match="exec:"):
        device.open_service(b"exec:true", in_time())
    transaction = device.open_service(b"shell:echo next", in_time())
    assert device.read_service(transaction, in_time()).split() == [b"next"]


def test_adb_shell_waits_for_a_refused_service(peer: Peer, stock: AdbDevice) -> None:
    peer.faults.refuse = {"exec"}
    with pytest.raises(NOT_IN_TIME):
        stock.exec_out("true", read_timeout_s=SOON_S)


def test_a_service_runs_while_another_waits_for_output(device: PatchedDevice) -> None:
    """adb-shell's `send` waits for the lock that the waiting read holds."""
    quiet = device.open_service(b"exec:cat", in_time())
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(device.read_service, quiet, in_time())
        until(lambda: device._io_manager._somebody_reads, "it waits")
        for number in range(5):
            busy = device.open_service(b"exec:echo %d" % number, in_time())
            assert device.read_service(busy, in_time()) == b"%d\n" % number
            assert device.read_service(busy, in_time()) == b""
        assert not waiting.done()
        device.close()
        with pytest.raises(LostError, match="was closed"):
            waiting.result(WITHIN_S)


def test_the_first_reader_gives_up_and_another_reads_on() -> None:
    may_answer = threading.Event()

    def script(other: ScriptedDevice) -> None:
        other.greet()
        other.accept_service()
        ours, theirs = other.accept_service()
        may_answer.wait(WITHIN_S)
        other.send(packets.WRTE, ours, theirs, b"late")
        other.take(packets.OKAY)
        other.wait_for_end()

    with scripted(script) as address, ThreadPoolExecutor(2) as pool:
        device = connected(address)
        quiet = device.open_service(b"exec:quiet", in_time())
        late = device.open_service(b"exec:late", in_time())
        short = pool.submit(device.read_service, quiet, time.monotonic() + SOON_S)
        until(
            lambda: device._io_manager._somebody_reads or short.done(),
            "it reads for both",
        )
        long = pool.submit(device.read_service, late, in_time())
        with pytest.raises(SlowError):
            short.result(WITHIN_S)
        may_answer.set()
        assert long.result(WITHIN_S) == b"late"
        device.close()


def test_what_arrives_for_a_closed_service_is_not_kept(device: PatchedDevice) -> None:
    for _ in range(3):
        flood = device.open_service(b"exec:head -c 4000000 /dev/zero", in_time())
        assert device.read_service(flood, in_time())
        device.close_service(flood, in_time())
        device.close_service(flood, in_time())
    done = device.open_service(b"exec:echo done", in_time())
    assert device.read_service(done, in_time()) == b"done\n"
    assert device.read_service(done, in_time()) == b""
    assert device._io_manager._inboxes == {}


def test_a_service_that_opens_when_nobody_waits_any_more_is_closed() -> None:
    may_answer = threading.Event()

    def script(other: ScriptedDevice) -> None:
        other.greet()
        header, _ = other.take(packets.OPEN)
        may_answer.wait(WITHIN_S)
        other.send(packets.OKAY, 9, header.arg0)
        ours, theirs = other.accept_service()
        closing, _ = other.take(packets.CLSE)
        assert (closing.arg0, closing.arg1) == (header.arg0, 9)
        other.send(packets.CLSE, ours, theirs)

    with scripted(script) as address:
        device = connected(address)
        with pytest.raises(SlowError):
            device.open_service(b"exec:reboot", time.monotonic() + SOON_S)
        may_answer.set()
        # The late OKAY is read before the one of this service.
        transaction = device.open_service(b"exec:true", in_time())
        assert device.read_service(transaction, in_time()) == b""
        device.close()


# --- packets ---


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({5: 0}, "out of step"),
        ({0: 7, 5: 7 ^ 0xFFFFFFFF}, "out of step"),
        ({3: (1 << 20) + 1}, "out of step"),
        ({0: packets.STLS, 5: packets.STLS ^ 0xFFFFFFFF}, "STLS"),
        ({3: 2}, "middle of a packet"),
        ({}, "middle of a packet"),
    ],
)
def test_what_is_no_packet_is_lost_with_the_reason(
    change: dict[int, int], text: str
) -> None:
    """The last two send less than they announce: a device that stops in the middle of a packet."""

    def script(other: ScriptedDevice) -> None:
        other.greet()
        ours, theirs = other.accept_service()
        words = [packets.WRTE, ours, theirs, 1, 0, packets.WRTE ^ 0xFFFFFFFF]
        for at, word in change.items():
            words[at] = word
        data = struct.pack("<6I", *words) + b"x"
        other.socket.sendall(data if change else data[:20])
        other.wait_for_end()

    with scripted(script) as address:
        device = patched_device(address, grace_s=SOON_S)
        connect(device)
        transaction = device.open_service(b"exec:true", in_time())
        with pytest.raises(LostError, match=text):
            device.read_service(transaction, in_time())
        with pytest.raises(LostError, match=text):
            device.open_service(b"exec:true", in_time())


def test_sides_of_the_version_without_checksums_send_and_check_none() -> None:
    def script(other: ScriptedDevice) -> None:
        greeting = other.greet()
        assert greeting.arg0 == VERSION
        assert greeting.checksum > 0, "nothing is agreed yet"
        header, _ = other.take(packets.OPEN)
        assert header.checksum == 0
        other.send(packets.OKAY, 9, header.arg0)
        words = [packets.WRTE, 9, header.arg0, 1, 77, packets.WRTE ^ 0xFFFFFFFF]
        other.socket.sendall(struct.pack("<6I", *words) + b"x")
        other.take(packets.OKAY)
        other.wait_for_end()

    with scripted(script) as address:
        device = connected(address)
        transaction = device.open_service(b"exec:true", in_time())
        assert device.read_service(transaction, in_time()) == b"x"
        device.close()


@pytest.mark.parametrize("total", [120, 121])
def test_an_older_device_gets_checksums_and_its_own_are_checked(total: int) -> None:
    def script(other: ScriptedDevice) -> None:
        other.greet(packets.VERSION_WITH_CHECKSUM)
        header, payload = other.take(packets.OPEN)
        assert header.checksum == sum(payload)
        other.send(packets.OKAY, 9, header.arg0)
        words = [packets.WRTE, 9, header.arg0, 1, total, packets.WRTE ^ 0xFFFFFFFF]
        other.socket.sendall(struct.pack("<6I", *words) + b"x")
        other.wait_for_end()

    with scripted(script) as address:
        device = connected(address)
        transaction = device.open_service(b"exec:true", in_time())
        if total == ord("x"):
            assert device.read_service(transaction, in_time()) == b"x"
        else:
            with pytest.raises(LostError, match="checksum"):
                device.read_service(transaction, in_time())
        device.close()


# --- connecting ---


@pytest.mark.parametrize("longest", [1 << 20, (1 << 20) + 1, (1 << 32) - 1])
def test_a_device_that_names_too_long_packets_gets_those_of_the_protocol(
    longest: int,
) -> None:
    with scripted(lambda other: _greet_and_wait(other, longest)) as address:
        device = connected(address)
        assert device.longest_message == 1 << 20
        assert device.banner == BANNER
        device.close()


@pytest.mark.parametrize("longest", [0, 4095])
def test_a_device_that_takes_less_than_every_device_is_none(longest: int) -> None:
    with scripted(lambda other: _greet_and_wait(other, longest)) as address:
        device = patched_device(address)
        with pytest.raises(exceptions.InvalidResponseError, match="4096"):
            connect(device)
        device.close()


def _greet_and_wait(other: ScriptedDevice, longest: int) -> None:
    other.greet(longest=longest)
    other.wait_for_end()


def test_a_connect_that_waits_for_a_person_can_be_closed(
    key: AgentKey, tmp_path: Any
) -> None:
    """adb-shell's `close` waits for the lock of `connect`."""
    with Peer(tmp_path, serial="SIMASKS", trust=set()) as asking:
        device = patched_device(asking.address)
        with ThreadPoolExecutor(1) as pool:
            connecting = pool.submit(device.connect, [key.signer], WITHIN_S, WITHIN_S)
            until(lambda: asking.prompts, "the person is asked")
            device.close()
            with pytest.raises(LostError):
                connecting.result(WITHIN_S)


# --- files ---


def test_a_refusal_in_the_middle_of_a_push_is_taken_and_its_service_closed() -> None:
    def script(other: ScriptedDevice) -> None:
        other.greet()
        ours, theirs = other.accept_service()
        other.take(packets.WRTE)
        other.send(packets.WRTE, ours, theirs, b"FAIL\4\0\0\0full")
        other.take(packets.OKAY)
        other.send(packets.OKAY, ours, theirs)
        while other.take(packets.WRTE, packets.CLSE)[0].command == packets.WRTE:
            other.send(packets.OKAY, ours, theirs)
        other.send(packets.CLSE, ours, theirs)
        other.wait_for_end()

    with scripted(script) as address:
        device = connected(address)
        with pytest.raises(exceptions.PushFailedError, match="full"):
            device.push(BytesIO(bytes(3 << 20)), "/x", read_timeout_s=WITHIN_S)
        assert device._io_manager._inboxes == {}
        device.close()


def test_a_device_that_closes_after_its_refusal_has_refused() -> None:
    def script(other: ScriptedDevice) -> None:
        other.greet()
        ours, theirs = other.accept_service()
        other.take(packets.WRTE)
        answer = b"FAIL" + (4).to_bytes(4, "little") + b"full"
        other.send(packets.WRTE, ours, theirs, answer)
        other.take(packets.OKAY)
        other.send(packets.CLSE, ours, theirs)
        other.wait_for_end()

    with scripted(script) as address:
        device = connected(address)
        with pytest.raises(exceptions.PushFailedError, match="full"):
            device.push(BytesIO(bytes(3 << 20)), "/x", read_timeout_s=WITHIN_S)
        device.close()


def test_a_service_that_the_device_closed_is_not_closed_again() -> None:
    def script(other: ScriptedDevice) -> None:
        other.greet()
        ours, theirs = other.accept_service()
        other.take(packets.WRTE)
        other.send(packets.CLSE, ours, theirs)
        other.accept_service()
        other.wait_for_end()

    with scripted(script) as address:
        device = connected(address)
        with pytest.raises(ServiceClosedError):
            device.pull("/x", BytesIO(), read_timeout_s=WITHIN_S)
        device.open_service(b"exec:true", in_time())
        device.close()


def test_a_message_of_the_sync_service_with_a_wrong_length_is_not_collected() -> None:
    def script(other: ScriptedDevice) -> None:
        other.greet()
        ours, theirs = other.accept_service()
        other.take(packets.WRTE)
        other.send(packets.OKAY, ours, theirs)
        other.send(packets.WRTE, ours, theirs, b"DATA\xff\xff\xff\xff")
        other.take(packets.OKAY)
        other.take(packets.CLSE)
        other.send(packets.CLSE, ours, theirs)
        other.wait_for_end()

    with scripted(script) as address:
        device = connected(address)
        with pytest.raises(exceptions.InvalidResponseError, match="4294967295"):
            device.pull("/x", BytesIO(), read_timeout_s=WITHIN_S)
        device.close()


def test_a_time_limit_is_that_of_a_whole_push(
    peer: Peer, device: PatchedDevice
) -> None:
    """adb-shell's begins anew with every packet: 8 MiB at 4 MiB/s take 2 s in eight of them."""
    peer.faults.slow_bps = 4 << 20
    with pytest.raises(SlowError):
        device.push(BytesIO(bytes(8 << 20)), "/data/local/tmp/x", read_timeout_s=0.5)
