"""Large files over a real network's packets: whole, in few calls, and without a sum over their bytes.

How fast that is `benchmarks/adb.py` measures, beside a plain copy and Google's client. Here is tested what makes it
so: nothing waits in the kernel, and nothing that the kernel did not take is given up. Each with the proof that
without it, it breaks.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from adb_shell import adb_message
from paceline.adb import adb_shell_fixes
from paceline.adb.direct import DirectConnection
from paceline.adb.keys import AgentKey
from paceline.adb.port import LostError, SlowError
from paceline.adb.transport import DeadlineSocket
from paceline.testing.adbd import Peer
from paceline_contract.testing.waiting import WITHIN_S

REMOTE = "/data/local/tmp/file"
BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "adb.py"
SIZE_BYTES = 8 << 20
LEAST_BYTES_A_CALL = 4096
"""Bytes that a call of the socket moves on average, at the least. Measured: 64 KiB and more."""
CALLS_A_PACKET = 3
"""The most calls for a packet. A device sends what its command has written so far, so how long packets are is its
choice: beside load, the 8 MiB of a command came in 2,050 packets."""
TIMES_HELD_BACK = 10
"""Nagle's algorithm waits for a delayed acknowledgement several times in one small file: measured 176 times
as long."""


def run(*options: str) -> dict[str, dict[str, float]]:
    """The benchmark compares every byte that came back and fails when one differs."""
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARK.parents[1])}
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--json", *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, dict[str, float]] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("what", ["push", "pull", "flood"])
def test_eight_megabytes_take_few_calls_and_no_sum_of_their_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    data = os.urandom(SIZE_BYTES)
    calls: list[str] = []

    def counted(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            calls.append(name)
            return work(*arguments, **options)

        return call

    with Peer(tmp_path / "peer") as peer:
        connection = DirectConnection(
            peer.address, AgentKey.load_or_create(tmp_path / "key")
        )
        connection.push(data, REMOTE)
        work: dict[str, Callable[[], object]] = {
            "push": lambda: connection.push(data, REMOTE),
            "pull": lambda: connection.pull(REMOTE),
            "flood": lambda: connection.run(
                ["head", "-c", str(SIZE_BYTES), "/dev/zero"]
            ),
        }
        for owner, name in (
            (DeadlineSocket, "send"),
            (DeadlineSocket, "receive"),
            (adb_shell_fixes, "checksum"),
            (adb_message, "checksum"),
            (adb_shell_fixes.PatchedIO, "_read_whole_packet"),
        ):
            monkeypatch.setattr(owner, name, counted(name, getattr(owner, name)))
        work[what]()
        connection.close()
    assert "checksum" not in calls
    of_socket = calls.count("send") + calls.count("receive")
    packets = calls.count("_read_whole_packet")
    assert (
        0 < of_socket < max(SIZE_BYTES / LEAST_BYTES_A_CALL, CALLS_A_PACKET * packets)
    )


@pytest.fixture(params=["direct", "server"])
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "server":
        request.getfixturevalue("google_adb")
    return str(request.param)


def test_eight_megabytes_come_back_equal(backend: str) -> None:
    assert {"push", "pull"} <= run("--pushes", "3", "--backend", backend).keys()


def test_eight_megabytes_come_back_equal_through_packets_of_1500_bytes(
    backend: str,
) -> None:
    if not lends_networks():
        pytest.skip("this kernel lends no Linux network namespaces to its users")
    report = run("--pushes", "3", "--backend", backend, "--mtu", "1500")
    assert {"push", "pull"} <= report.keys()


def test_nobody_can_take_the_port_that_was_chosen_for_the_adb_server(
    google_adb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its process is begun the port is bound already: a second socket for it is refused."""
    assert google_adb
    spec = importlib.util.spec_from_file_location("adb_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, benchmark)
    spec.loader.exec_module(benchmark)
    chosen, create, begin = [], socket.create_server, subprocess.Popen

    def choosing(address: tuple[str, int]) -> socket.socket:
        made = create(address)
        chosen.append(made.getsockname())
        return made

    def beginning(*command: Any, **options: Any) -> Any:
        with pytest.raises(OSError, match="in use"):
            create(chosen[0]).close()
        return begin(*command, **options)

    monkeypatch.setattr(socket, "create_server", choosing)
    monkeypatch.setattr(subprocess, "Popen", beginning)
    AgentKey.load_or_create(tmp_path / "key")
    with benchmark.google_server(
        tmp_path / "home", tmp_path / "key" / "adbkey"
    ) as server:
        assert server.version(5.0) > 0
    assert len(chosen) == 1


def test_a_small_message_waits_for_no_acknowledgement_and_would_without_nodelay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the option each push waits for the kernel's timer of delayed acknowledgements, on any machine. With
    it a push is limited by the load alone, so pushes are repeated until one met a moment without."""
    real = socket.socket.setsockopt

    def all_but_nodelay(
        self: socket.socket, level: int, option: int, value: int
    ) -> None:
        if (level, option) != (socket.IPPROTO_TCP, socket.TCP_NODELAY):
            real(self, level, option, value)

    with monkeypatch.context() as patch:
        patch.setattr(socket.socket, "setsockopt", all_but_nodelay)
        with closing(times_of_small_pushes(tmp_path / "without")) as pushes:
            held_back = min(islice(pushes, 5))
    deadline = time.monotonic() + WITHIN_S
    with closing(times_of_small_pushes(tmp_path / "with")) as pushes:
        for push_s in pushes:
            if push_s * TIMES_HELD_BACK < held_back:
                return
            assert time.monotonic() < deadline, f"{push_s} s and {held_back} s without"


def times_of_small_pushes(root: Path) -> Generator[float, None, None]:
    """Seconds that pushes of one byte take, one after the other without end."""
    root.mkdir()
    with Peer(root / "peer") as peer:
        connection = DirectConnection(
            peer.address, AgentKey.load_or_create(root / "key")
        )
        connection.connect()
        try:
            while True:
                began = time.perf_counter()
                connection.push(b"x", REMOTE)
                yield time.perf_counter() - began
        finally:
            connection.close()


def test_what_the_kernel_does_not_take_at_once_is_sent_again_and_would_be_lost_without_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = os.urandom(2 << 20)
    with Peer(tmp_path / "peer") as peer:
        peer.faults.short_writes = True
        connection = DirectConnection(
            peer.address, AgentKey.load_or_create(tmp_path / "key")
        )
        connection.push(data, REMOTE)
        assert (peer.files / REMOTE.lstrip("/")).read_bytes() == data

        def once(self: DeadlineSocket, data: bytes, deadline: float) -> None:
            del deadline
            self._socket.send(
                data[:65_536]
            )  # what a kernel takes whose send buffer is nearly full

        monkeypatch.setattr(DeadlineSocket, "send", once)
        with pytest.raises((SlowError, LostError)):
            connection.push(data, REMOTE, timeout_s=1.0)
        connection.close()


def lends_networks() -> bool:
    command = ["unshare", "--user", "--map-root-user", "--net", "true"]
    return (
        bool(shutil.which("unshare"))
        and subprocess.run(command, check=False, stderr=-3).returncode == 0
    )
