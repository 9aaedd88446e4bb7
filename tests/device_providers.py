"""The devices that tests of the agent run on: simulated ones, and ones whose daemon is Google's adbd.

A test that takes its devices from a provider makes the same claim of both, and of both routes to them: the
agent's own connection over TCP, and Google's adb server. `make test` has the simulated ones; `make test-adbd`
builds adbd (`scripts/adbd/build`) and runs those marked `adbd`, which exist only where one was built.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from paceline.adb.port import AdbError, Route
from paceline.adb.server import AdbServer
from paceline.testing.adbd import Peer
from paceline.testing.adbd.real import RealPeer, built
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

Daemon = Literal["simulated", "adbd"]
Kind = tuple[Daemon, Literal["direct", "server"]]
NOWHERE = "127.0.0.1:1"
"""An address without an adb server, so that tests never use one of the developer's."""


@dataclass(frozen=True)
class DeviceProvider:
    """Makes devices of one kind. `server`: Google's, by which the agent is to reach them; None: by itself."""

    daemon: Daemon
    server: AdbServer | None = None

    @contextmanager
    def running(
        self, root: Path, serial: str, trust: Literal["any"] | Set[str] = "any"
    ) -> Iterator[Peer]:
        """A device until the block ends; the server has it. `trust`: see `Peer`."""
        directory = built()
        assert directory or self.daemon == "simulated", (
            "only `make test-adbd` selects these"
        )
        with ExitStack() as held:
            peer: Peer
            if directory is not None and self.daemon == "adbd":
                peer = held.enter_context(
                    RealPeer(directory, root, serial, trust=trust)
                )
            else:
                peer = held.enter_context(Peer(root, serial, trust=trust))
            if self.server is not None:
                held.enter_context(_connected(self.server, peer))
            yield peer

    def route_to(self, peer: Peer) -> Route:
        """The route by which the agent reaches the device."""
        if self.server is None:
            return Route("tcp", peer.address)
        return Route("server", self.server.address, peer.address)

    def configured(self, *peers: Peer) -> str:
        """The section [devices] of an agent that finds exactly these devices."""
        if self.server is not None:
            return f'adb_server = "{self.server.address}"'
        addresses = ", ".join(f'"{peer.address}"' for peer in peers)
        return f'adb_server = "{NOWHERE}"\nsimulated = [{addresses}]'


def kinds(*wanted: Kind) -> list[ParameterSet]:
    """Parameters for a fixture; those with Google's adbd only where one was built."""
    return [
        pytest.param(
            kind,
            id="-".join(kind),
            marks=[pytest.mark.adbd] if kind[0] == "adbd" else [],
        )
        for kind in wanted
        if kind[0] == "simulated" or built() is not None
    ]


def until(condition: Callable[[], object]) -> None:
    """Asks again until it holds; fails after a deadline."""
    deadline, waiter = time.monotonic() + WITHIN_S, threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        waiter.wait(0.02)


@contextmanager
def google_adb_server(home: Path) -> Iterator[AdbServer]:
    """Google's server in the foreground, with its own key and port; it is ended here by its process."""
    adb = shutil.which("adb")
    assert adb, "Google's adb is missing: make setup (profile test) brings it"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home),
        "ADB_MDNS": "0",
    }
    with (
        reserved_port() as port,
        (home / "log").open("wb") as log,
        ChildProcess[bytes](
            [adb, "-P", str(port), "server", "nodaemon"],
            env=environment,
            cwd=home,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        server = AdbServer(f"127.0.0.1:{port}")
        until(lambda: _answers(server))
        yield server
        process.end()


@contextmanager
def _connected(server: AdbServer, peer: Peer) -> Iterator[None]:
    """The server has the device, in whatever state, and forgets it at the end."""
    server.connect_to(peer.address)
    until(lambda: peer.address in [device.name for device in server.devices()])
    yield
    server.disconnect_from(peer.address)


def _answers(server: AdbServer) -> bool:
    try:
        return server.version(1.0) > 0
    except AdbError:
        return False
