"""Tests of the TCP backend: all kinds of handshakes, cuts at any byte, packets out of step."""

from __future__ import annotations

import errno
import hashlib
import io
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from paceline.adb.direct import DirectConnection
from paceline.adb.handshake import OFFER_AGAIN_S, KeyOffers, parse_banner
from paceline.adb.keys import AgentKey
from paceline.adb.port import (
    AdbError,
    LostError,
    OfflineError,
    RefusedError,
    SlowError,
    TlsRequiredError,
    UnauthorizedError,
)
from paceline.testing.adbd import Faults, Peer, packets
from paceline_contract.testing.waiting import WITHIN_S, give_enough_time

from .rigs import not_trusted, saying, until
from .scripted import ScriptedDevice, scripted

REMOTE = "/data/local/tmp/file"
OUTPUT_BYTES = 1 << 30
MOST_GROWTH_KIB = 60 << 10
READ_OUTPUT = f"""
import resource, sys
from pathlib import Path
from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey

def most_kib():
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1024 if sys.platform == "darwin" else most

connection = DirectConnection(sys.argv[1], AgentKey.load_or_create(Path(sys.argv[2])))
connection.run(["true"])
before, size = most_kib(), 0
with connection.stream(["head", "-c", "{OUTPUT_BYTES}", "/dev/zero"]) as stream:
    while piece := stream.read(60):
        size += len(piece)
connection.close()
print(size, most_kib() - before)
"""
"""Reads the output in a process of its own, whose memory nothing else uses."""


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)  # noqa: S311 -- test data


@pytest.fixture
def peer(shared_peer: Peer) -> Iterator[Peer]:
    """Healthy, of today, with all features."""
    shared_peer.faults.__dict__.update(Faults().__dict__)
    shared_peer.features = frozenset({"cmd", "shell_v2"})
    shared_peer.violations.clear()
    yield shared_peer
    shared_peer.faults.__dict__.update(Faults().__dict__)
    until(lambda: not shared_peer.processes(), "everything on the device ended")
    assert shared_peer.violations == []


@pytest.fixture
def connection(peer: Peer, key: AgentKey) -> Iterator[DirectConnection]:
    made = DirectConnection(peer.address, key)
    yield made
    made.close()


def test_a_device_that_says_it_cannot_restart_was_not_restarted(
    peer: Peer, connection: DirectConnection
) -> None:
    before = peer.boot_id
    peer.texts["reboot",] = (
        1,
        "error: failed to create pty master: No such file or directory\n",
    )
    try:
        with pytest.raises(
            RefusedError,
            match=r"did not restart and printed: error: failed to create pty",
        ):
            connection.reboot()
    finally:
        peer.texts.clear()
    assert peer.boot_id == before
    assert connection.run(["true"]).rc == 0


# --- handshakes ---


def test_a_waiting_prompt_says_which_fingerprint_to_accept_and_accepting_it_connects(
    key: AgentKey, tmp_path: Path
) -> None:
    with Peer(tmp_path, serial="SIMASKS", trust=set()) as peer:
        connection = DirectConnection(peer.address, key)
        error = not_trusted(connection.connect)
        assert "trust this agent" in error.text
        assert key.fingerprint in error.advice
        assert "Unlock" in error.advice
        with ThreadPoolExecutor(1) as pool:
            connecting = pool.submit(connection.connect, WITHIN_S)

            def accepted() -> bool:
                peer.answer_prompt(True)
                return connecting.done()

            until(accepted, "the prompt of this connection showed and was accepted")
            assert "shell_v2" in connecting.result(WITHIN_S).features
        assert connection.run(["true"]).rc == 0
        connection.close()
        assert connection.run(["true"]).rc == 0  # known from now on: no prompt
        connection.close()


def test_a_refused_prompt_is_unauthorized(
    connection: DirectConnection, key: AgentKey, tmp_path: Path
) -> None:
    with Peer(tmp_path, serial="SIMDENIES") as peer:
        peer.faults.deny_prompt = True
        refused = DirectConnection(peer.address, key)
        error = not_trusted(refused.connect)
        refused.close()
    assert key.fingerprint in error.advice


def test_one_offer_is_held_open_over_many_tries_and_accepting_it_connects_the_next(
    key: AgentKey, tmp_path: Path
) -> None:
    """Each offer makes a dialog on the phone, so tries of discovery must not offer again."""
    offers = KeyOffers()
    with Peer(tmp_path, serial="SIMASKS", trust=set()) as peer:
        for _ in range(3):
            error = not_trusted(DirectConnection(peer.address, key, offers).connect)
            assert "asks whether to trust" in error.text
        until(lambda: peer.prompts, "its dialog is shown")
        assert peer.prompts == [key.fingerprint]
        peer.answer_prompt(True)
        connection = DirectConnection(peer.address, key, offers)
        assert "shell_v2" in connection.connect(WITHIN_S).features
        assert connection.run(["true"]).rc == 0
        connection.close()
    assert peer.violations == []


def test_a_key_is_offered_again_minutes_after_the_connection_of_its_prompt_ended_and_not_before(
    key: AgentKey, tmp_path: Path
) -> None:
    now = [1000.0]
    offers = KeyOffers(lambda: now[0])
    with Peer(tmp_path, serial="SIMASKS", trust=set()) as peer:
        not_trusted(DirectConnection(peer.address, key, offers).connect)
        until(lambda: peer.prompts, "its dialog is shown")
        for _ in range(2):
            peer.cut()
            with pytest.raises(UnauthorizedError) as caught:  # it may not offer
                DirectConnection(peer.address, key, offers).connect(WITHIN_S)
        peer.cut()
        assert peer.prompts == [key.fingerprint], "the phone shows one dialog"
        assert "asked again in 5 minutes" in caught.value.advice
        now[0] += OFFER_AGAIN_S
        error = not_trusted(DirectConnection(peer.address, key, offers).connect)
        assert "asks whether to trust" in error.text
        until(lambda: len(peer.prompts) > 1, "another dialog is shown")
        assert peer.prompts == [key.fingerprint] * 2
        offers.close()


def test_a_key_that_is_offered_at_the_last_moment_is_waited_for(
    key: AgentKey, tmp_path: Path
) -> None:
    """The time of a try ends while it begins to offer the key: the next one must take up what a person accepts."""
    with Peer(tmp_path, serial="SIMASKS", trust=set()) as peer:

        def connect(limit_s: float) -> tuple[KeyOffers, AdbError] | None:
            over, pause, began = time.monotonic() + limit_s, threading.Event(), [0.0]

            def clock() -> float:
                """Let the time go by between the decision to offer the key and the offer."""
                began[0] = time.monotonic()
                while time.monotonic() < over + 0.1:
                    pause.wait(0.01)
                return 1000.0

            offers = KeyOffers(clock)
            with pytest.raises(AdbError) as caught:
                DirectConnection(peer.address, key, offers).connect(limit_s)
            return (offers, caught.value) if 0 < began[0] < over else None

        offers, error = give_enough_time(connect, first_s=0.2)
        assert "asks whether to trust" in error.text
        until(lambda: peer.prompts, "its dialog is shown")
        assert peer.prompts == [key.fingerprint]
        peer.answer_prompt(True)
        connection = DirectConnection(peer.address, key, offers)
        assert connection.run(["true"]).rc == 0
        connection.close()
        until(lambda: peer.connections == 0, "no connection is left")


def test_two_connections_that_race_for_a_dialog_open_one(
    key: AgentKey, tmp_path: Path
) -> None:
    offers = KeyOffers()
    both = threading.Barrier(2)

    def connect(address: str) -> str:
        both.wait(WITHIN_S)
        return not_trusted(DirectConnection(address, key, offers).connect).advice

    with Peer(tmp_path, serial="SIMASKS", trust=set()) as peer:
        with ThreadPoolExecutor(2) as pool:
            tries = [pool.submit(connect, peer.address) for _ in range(2)]
            advice = [attempt.result(WITHIN_S) for attempt in tries]
        until(lambda: peer.prompts, "its dialog is shown")
        assert peer.prompts == [key.fingerprint]
        assert all(key.fingerprint in text for text in advice)
        peer.answer_prompt(True)
        connections = [DirectConnection(peer.address, key, offers) for _ in range(2)]
        for connection in connections:
            assert connection.run(["true"]).rc == 0
            connection.close()
        offers.close()


def test_a_revoked_key_is_offered_again_at_once(key: AgentKey, tmp_path: Path) -> None:
    offers = KeyOffers()
    with Peer(tmp_path, serial="SIMREVOKES") as peer:
        connection = DirectConnection(peer.address, key, offers)
        assert connection.run(["true"]).rc == 0
        peer.revoke_keys()
        assert connection.run(["true"]).rc == 0, "what is connected stays connected"
        peer.cut()
        with pytest.raises(LostError):
            connection.run(["true"])
        assert "asks whether to trust" in not_trusted(connection.connect).text
        until(lambda: peer.prompts, "its dialog is shown")
        assert peer.prompts == [key.fingerprint]
        peer.answer_prompt(True)
        assert connection.run(["true"]).rc == 0
        connection.close()
        offers.close()


def test_closing_the_offers_leaves_no_connect_behind(
    key: AgentKey, tmp_path: Path
) -> None:
    offers = KeyOffers()
    with Peer(tmp_path, serial="SIMASKS", trust=set()) as peer:
        whom = f"connect the device at {peer.address}"
        not_trusted(DirectConnection(peer.address, key, offers).connect)
        assert whom in {thread.name for thread in threading.enumerate()}
        offers.close()
        until(
            lambda: whom not in {thread.name for thread in threading.enumerate()},
            "its thread ended",
        )


def test_wireless_debugging_says_to_pair_with_googles_adb(
    peer: Peer, connection: DirectConnection
) -> None:
    peer.faults.stls = True
    with pytest.raises(TlsRequiredError, match="encrypted") as caught:
        connection.connect()
    assert "adb pair" in caught.value.advice


def test_a_device_out_of_reach_is_offline_when_time_is_up(
    peer: Peer, connection: DirectConnection
) -> None:
    peer.faults.silent = True
    with pytest.raises(OfflineError, match="does not answer"):
        connection.connect(timeout_s=0.3)


def test_an_ended_handshake_does_not_spin(
    peer: Peer, connection: DirectConnection
) -> None:
    peer.faults.offline = True
    began, cpu = time.monotonic(), time.thread_time()
    with pytest.raises(OfflineError):
        connection.connect(timeout_s=WITHIN_S)
    assert time.monotonic() - began < WITHIN_S / 2
    assert time.thread_time() - cpu < WITHIN_S / 75


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(64),
        b"",
        b"CNXN",
        b"\0" * 24,
        b"\xff" * 200,
    ],
)
def test_what_is_no_device_is_offline_and_no_bug_of_ours(
    said: bytes, key: AgentKey
) -> None:
    with saying(said) as address, pytest.raises(OfflineError):
        DirectConnection(address, key).connect(WITHIN_S)


def test_a_banner_says_features_and_the_device() -> None:
    text = "device::ro.product.name=x;ro.product.model=Pixel 9;ro.product.device=tok;features=shell_v2,cmd"
    banner = parse_banner(text, "here")
    assert banner.features == {"shell_v2", "cmd"}
    assert banner.props == {"name": "x", "model": "Pixel 9", "device": "tok"}


def test_an_old_banner_has_no_features() -> None:
    assert (
        parse_banner("device::ro.product.name=x;ro.product.model=y;", "here").features
        == frozenset()
    )
    assert parse_banner("device::", "here").props == {}


@pytest.mark.parametrize("state", ["recovery", "sideload", "bootloader", "rescue"])
def test_a_device_that_does_not_run_android_is_offline(state: str) -> None:
    with pytest.raises(OfflineError, match=state):
        parse_banner(f"{state}::ro.product.model=x", "here")


@pytest.mark.parametrize("banner", [b"device::", b"device::features=\0", b"device"])
def test_a_device_without_features_in_its_banner_gets_the_oldest_services(
    banner: bytes, key: AgentKey
) -> None:
    def script(other: ScriptedDevice) -> None:
        other.greet(banner=banner)
        for service in (b"exec:", b"shell:"):
            header, name = other.take(packets.OPEN)
            assert name.startswith(service)
            other.send(packets.CLSE, 0, header.arg0)
        other.wait_for_end()

    with scripted(script) as address:
        connection = DirectConnection(address, key)
        assert connection.connect(WITHIN_S).features == frozenset()
        with pytest.raises(RefusedError):
            connection.run(["true"])
        connection.close()


# --- networks ---


def test_eight_megabytes_arrive_equal_through_short_writes(
    peer: Peer, connection: DirectConnection
) -> None:
    peer.faults.short_writes = True
    data = noise(8 << 20)
    assert connection.push(data, REMOTE, timeout_s=120) == len(data)
    text = connection.run(["sha256sum", REMOTE], 60).text.split()[0]
    assert text == hashlib.sha256(data).hexdigest()
    assert hashlib.sha256(connection.pull(REMOTE, timeout_s=120)).hexdigest() == text


def test_a_connection_cut_at_any_byte_is_an_error_or_a_right_answer(
    peer: Peer, key: AgentKey
) -> None:
    """Never a wrong status, never a file taken for whole that is not."""
    data, right, lost = noise(3000), 0, 0
    for at in [*range(1, 200, 17), *range(200, 9000, 397)]:
        peer.faults.drop_after_bytes = at
        connection = DirectConnection(peer.address, key)
        try:
            assert connection.push(data, REMOTE, timeout_s=WITHIN_S) == len(data)
            assert connection.run(["sh", "-c", "echo said; exit 3"], WITHIN_S).rc == 3
            assert connection.pull(REMOTE, timeout_s=WITHIN_S) == data
            right += 1
        except (LostError, OfflineError, UnauthorizedError):
            lost += 1
        finally:
            connection.close()
    assert right > 0
    assert lost > 20
    peer.faults.drop_after_bytes = None


def test_silence_in_a_transfer_is_slow_and_the_connection_is_closed(
    peer: Peer, connection: DirectConnection
) -> None:
    connection.connect()
    peer.faults.silent = True
    with pytest.raises(SlowError):
        connection.push(noise(4 << 20), REMOTE, timeout_s=0.3)
    peer.faults.silent = False
    assert connection.run(["true"]).rc == 0


def test_a_reboot_in_a_push_is_lost_and_the_next_push_arrives(
    peer: Peer, connection: DirectConnection
) -> None:
    data = noise(4 << 20)
    connection.connect()
    peer.faults.slow_bps = 1 << 20
    with ThreadPoolExecutor(1) as pool:
        pushing = pool.submit(connection.push, data, REMOTE, timeout_s=WITHIN_S)
        until((peer.files / REMOTE.lstrip("/")).exists, "the push has begun")
        peer.reboot()
        with pytest.raises(LostError):
            pushing.result(WITHIN_S)
    peer.faults.slow_bps = None
    assert connection.push(data, REMOTE) == len(data)
    assert connection.pull(REMOTE) == data


def test_a_gigabyte_of_output_needs_little_memory(peer: Peer, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ_OUTPUT, peer.address, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    size, grown_kib = (int(word) for word in done.stdout.split())
    assert size == OUTPUT_BYTES
    assert grown_kib <= MOST_GROWTH_KIB


def test_what_an_abandoned_transfer_still_sends_is_not_taken_for_an_answer(
    connection: DirectConnection, tmp_path: Path
) -> None:
    """The target's file system is full: the pull ends with the device in the middle of the file."""
    connection.push(noise(300_000), REMOTE)
    full = FullFile()
    for _ in range(5):
        with pytest.raises(OSError, match="No space"):
            connection._pull(REMOTE, full, time.monotonic() + WITHIN_S)
        with pytest.raises(OSError, match="No such file"):
            connection.pull(REMOTE, tmp_path / "nowhere" / "target")
        pieces = connection.stream(["cat", REMOTE])
        assert pieces.read(WITHIN_S)
        pieces.close()
        assert connection.run(["echo", "mine"]).text == "mine\n"


class FullFile(io.BytesIO):
    """A file on a full disk."""

    def write(self, _: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_device_with_small_packets_gets_a_long_push_in_many(
    peer: Peer, key: AgentKey
) -> None:
    peer.faults.legacy = True
    connection, data = DirectConnection(peer.address, key), noise(1 << 20)
    connection.connect()
    assert connection.longest_service == 4096
    connection.push(data, REMOTE)
    assert connection.pull(REMOTE) == data
    connection.close()
