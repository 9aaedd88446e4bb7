"""Fixtures: peers in scratch roots, each checked for leftovers when its test ends; Google's client."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest
from paceline.testing.adbd import Peer
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S

from .client import Client
from .link import Link, UnavailableError, laid

collect_ignore = (
    []
    if os.environ.get("PACELINE_TEST_LENGTH") == "long"
    else [
        "test_device.py",
        "test_files.py",
        "test_handshake.py",
        "test_link.py",
        "test_streams.py",
    ]
)
"""Tests of the peer beyond what Google's client and our own code meet of it: only `make test-long` runs them."""

StartPeer = Callable[..., Peer]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[StartPeer]:
    """Starts peers; none of their processes is left at the end of the test."""
    peers: list[Peer] = []
    with ExitStack() as stack:

        def started(**asked: Any) -> Peer:
            asked = {"trust": None, **asked}
            peers.append(
                stack.enter_context(Peer(tmp_path / f"device{len(peers)}", **asked))
            )
            return peers[-1]

        yield started
        living = [process for peer in peers for process in _living_processes(peer)]
    assert psutil.wait_procs(living, timeout=WITHIN_S)[1] == []


def _living_processes(peer: Peer) -> Iterator[psutil.Process]:
    for pid in peer.processes():
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended since it was listed
            yield psutil.Process(pid)


@pytest.fixture
def peer(start: StartPeer) -> Peer:
    return start()


@pytest.fixture
def client(peer: Peer) -> Iterator[Client]:
    with connected(peer) as client:
        yield client
    assert peer.violations == []


def until(condition: Callable[[], object]) -> None:
    """Waits for a condition of another thread or process, with a deadline."""
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        threading.Event().wait(0.002)


def connected(peer: Peer, **asked: Any) -> Client:
    client = Client(peer.address)
    client.connect(**asked)
    return client


def wait_for_return(peer: Peer) -> Client:
    """Connected once the device is back from its reboot."""
    came: list[Client] = []

    def answers() -> bool:
        with contextlib.suppress(ConnectionRefusedError):
            came.append(connected(peer))
        return bool(came)

    until(answers)
    return came[0]


def needs_namespaces(peer: Peer) -> None:
    if peer.device.mode != "namespace":
        pytest.skip(f"this kernel lends no Linux namespaces: {peer.device.why_prefix}")


@pytest.fixture
def link() -> Iterator[Link]:
    with ExitStack() as stack:
        try:
            made = stack.enter_context(laid())
        except UnavailableError as error:
            pytest.skip(
                f"this Linux kernel or user makes no network namespaces with a veth cable: {error}"
            )
        yield made


class Adb:
    """Google's client with its own server, key and port."""

    def __init__(self, home: Path, port: int) -> None:
        self.home = home
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "ANDROID_USER_HOME": str(home / ".android"),
            "ADB_MDNS": "0",
            "ANDROID_ADB_SERVER_PORT": str(port),
        }

    def __call__(
        self, *arguments: str | Path, device: Peer | None = None
    ) -> subprocess.CompletedProcess[str]:
        chosen = ["-s", device.address] if device else []
        return subprocess.run(
            ["adb", *chosen, *map(str, arguments)],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def connect(self, peer: Peer) -> None:
        """Returns once the device is online. `connect` may answer before the handshake ends, and the server does
        not repeat a refused connection.
        """

        def online() -> bool:
            self("connect", peer.address)
            return self.state(peer) == "device"

        until(online)

    def state(self, peer: Peer) -> str:
        listed = (line.split() for line in self("devices").stdout.splitlines())
        return next(
            (line[1] for line in listed if line[:1] == [peer.address]), "absent"
        )


@pytest.fixture(scope="module")
def adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Adb]:
    assert shutil.which("adb"), (
        "Google's adb is missing: make setup (profile test) brings it"
    )
    home = tmp_path_factory.mktemp("adb")
    (home / ".android").mkdir()
    with reserved_port() as port:
        result = Adb(home, port)
        try:
            yield result
        finally:
            result("kill-server")
