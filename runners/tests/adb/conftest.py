"""Fixtures: one key, one peer and one adb server for a whole process; a rig per backend and variant."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from paceline.adb.keys import AgentKey
from paceline.adb.port import AdbError
from paceline.adb.server import AdbServer
from paceline.testing.adbd import Peer

from .rigs import DirectRig, MemoryRig, Rig, ServerRig, until

BACKENDS = ["memory", "direct", "direct-exec", "direct-terminal", "server", "server-exec", "server-terminal"]


@pytest.fixture(scope="session")
def key(tmp_path_factory: pytest.TempPathFactory) -> AgentKey:
    return AgentKey.load_or_create(tmp_path_factory.mktemp("agent"))


@pytest.fixture(scope="session")
def shared_peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """Trusts every key. A rig puts it right before each test."""
    with Peer(tmp_path_factory.mktemp("device"), serial="SIM0B") as peer:
        yield peer


@pytest.fixture(scope="session")
def served_peers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Peer]]:
    """One for each variant: what a device says of itself is asked by the adb server only once."""
    with ExitStack() as stack:
        yield {
            variant: stack.enter_context(Peer(tmp_path_factory.mktemp(variant), serial=f"SIM0{variant}"))
            for variant in ("v2", "exec", "terminal")
        }


@pytest.fixture(scope="session")
def google_adb() -> str:
    found = shutil.which("adb")
    assert found, "Google's adb is missing: make setup (profile test) brings it"
    return found


@pytest.fixture(scope="session")
def adb_server(google_adb: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    """Google's server in the foreground, with a key and a port of its own; ended here, by its process."""
    home = tmp_path_factory.mktemp("adb-server")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(home), "ADB_MDNS": "0"}
    command = [google_adb, "-P", str(port), "server", "nodaemon"]
    with (
        (home / "log").open("wb") as log,
        subprocess.Popen(command, env=environment, cwd=home, stdout=log, stderr=log) as process,
    ):
        server = AdbServer(f"127.0.0.1:{port}")
        until(lambda: answers(server), "the adb server answers")
        yield server
        process.terminate()


def answers(server: AdbServer) -> bool:
    try:
        return server.version(1.0) > 0
    except AdbError:
        return False


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    """A device behind each backend; the protocol was kept and nothing runs on it when a test ends."""
    backend, _, variant = str(request.param).partition("-")
    made: Rig
    if backend == "memory":
        made = MemoryRig()
    else:
        variant = variant or "v2"
        if backend == "direct":
            made = DirectRig(request.getfixturevalue("shared_peer"), variant, request.getfixturevalue("key"))
        else:
            peer: Peer = request.getfixturevalue("served_peers")[variant]
            made = ServerRig(peer, variant, request.getfixturevalue("adb_server"))
    with made.opened:
        yield made
    until(lambda: made.running() == 0, "everything on the device ended")
    assert made.mistakes() == []
