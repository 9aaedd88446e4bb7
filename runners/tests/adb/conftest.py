"""Fixtures: one key and one peer for a whole process; a rig per backend and variant."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from paceline.adb.keys import AgentKey
from paceline.testing.adbd import Peer

from .rigs import DirectRig, MemoryRig, Rig, ServerRig, UsbRig, until

BACKENDS = [
    "memory",
    "direct",
    "direct-exec",
    "direct-terminal",
    "usb",
    "usb-exec",
    "usb-terminal",
    "server",
    "server-exec",
    "server-terminal",
]


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
            variant: stack.enter_context(
                Peer(tmp_path_factory.mktemp(variant), serial=f"SIM0{variant}")
            )
            for variant in ("v2", "exec", "terminal")
        }


@pytest.fixture(params=BACKENDS)
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    """A device behind each backend; the protocol was kept and nothing runs on it when a test ends."""
    backend, _, variant = str(request.param).partition("-")
    made: Rig
    if backend == "memory":
        made = MemoryRig()
    else:
        variant = variant or "v2"
        if backend in ("direct", "usb"):
            rig_class = DirectRig if backend == "direct" else UsbRig
            made = rig_class(
                request.getfixturevalue("shared_peer"),
                variant,
                request.getfixturevalue("key"),
            )
        else:
            peer: Peer = request.getfixturevalue("served_peers")[variant]
            made = ServerRig(peer, variant, request.getfixturevalue("adb_server"))
    with made.opened:
        yield made
    until(lambda: made.running() == 0, "everything on the device ended")
    assert made.mistakes() == []
