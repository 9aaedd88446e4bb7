"""Tests of the production backends: the agent's key, and an adb server that fails."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from device_providers import until
from paceline.adb.keys import AgentKey
from paceline.adb.port import Route, UnauthorizedError
from paceline.adb.server import AdbServer
from paceline.config import DeviceSettings
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.backends import AdbBackends
from paceline.devices.discovery import Discovery
from paceline.devices.errors import cause_of
from paceline.stop import Stop
from paceline.testing.adbd import Peer
from paceline_contract.testing.waiting import WITHIN_S

NOBODY = Route("tcp", "127.0.0.1:1")


def test_all_connections_of_an_agent_share_one_offer_to_a_device(
    tmp_path: Path,
) -> None:
    """Discovery tries again every ten seconds with a new connection, but the phone shows one dialog."""
    with Peer(tmp_path / "phone", serial="SIMASKS", trust=set()) as peer:
        backends = AdbBackends("127.0.0.1:1", tmp_path / "adb")
        discovery = Discovery(
            DeviceSettings(routes=[peer.address]),
            backends,
            tmp_path / "d",
            connect_s=0.2,
        )
        for _ in range(3):
            discovery.look()
        (link,) = discovery.unknown.values()
        assert link.state == "unauthorized"
        assert len(peer.prompts) == 1
        peer.answer_prompt(True)
        discovery.look()
        assert list(discovery.devices) == ["SIMASKS"]


def test_a_key_that_others_can_read_is_a_reason_with_advice_and_no_error_of_the_agents(
    tmp_path: Path,
) -> None:
    keys = tmp_path / "adb"
    AgentKey.load_or_create(keys)
    (keys / "adbkey").chmod(0o644)
    backends = AdbBackends("127.0.0.1:1", keys)
    device = AttachedDevice(
        "SER", tmp_path / "s", backends.open, [NOBODY], locks=tmp_path
    )
    assert not device.look()
    assert device.link.state == "unauthorized"
    assert "readable by others" in (device.link.reason or "")
    assert "chmod 600" in (device.link.advice or "")
    with pytest.raises(UnauthorizedError) as caught:
        device.regain(Stop(), patience_s=1e9)
    assert cause_of(caught.value) == "device_unauthorized"
    discovery = Discovery(
        DeviceSettings(routes=[NOBODY.address]), backends, tmp_path / "d"
    )
    discovery.look()
    assert "readable by others" in (discovery.unknown[NOBODY].reason or "")
    (keys / "adbkey").chmod(0o600)
    discovery.look()
    assert (
        discovery.unknown[NOBODY].state == "absent"
    )  # the key is in order, without a restart of the agent


def test_an_adb_server_that_is_slow_once_has_not_lost_its_devices(
    tmp_path: Path,
) -> None:
    answers = [b"OKAY0011PHONE0001\tdevice\n", b"OKAY0009oops", b"OKAY0000"]
    with answering(answers) as address:
        backends = AdbBackends(address, tmp_path / "adb")
        assert [known.name for known in backends.list_devices()] == ["PHONE0001"]
        assert [known.name for known in backends.list_devices()] == ["PHONE0001"]
        assert backends.list_devices() == []
    assert backends.list_devices() == []  # nobody listens: there is no server


def test_a_device_that_was_away_when_its_server_reconnected_it_is_taken_up_when_it_is_back(
    adb_server: AdbServer, tmp_path: Path
) -> None:
    """Google's server forgets a device that it disconnected and cannot reach again."""
    backends = AdbBackends(adb_server.address, tmp_path / "adb")
    with Peer(tmp_path / "peer", serial="SIMAWAY1") as peer:

        def state() -> str | None:
            return {known.name: known.state for known in backends.list_devices()}.get(
                peer.address
            )

        adb_server.connect_to(peer.address)
        until(lambda: state() == "device")
        peer.leave()
        backends.reconnect(backends.route_to(peer.address))
        assert state() == "offline", "it is known to be away, not forgotten"
        peer.come_back()
        until(lambda: state() == "device")
        adb_server.disconnect_from(peer.address)


@contextlib.contextmanager
def answering(answers: list[bytes]) -> Iterator[str]:
    """A listener that answers one connection after the other."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for output in answers:
                with listener.accept()[0] as other:
                    other.recv(4096)
                    other.sendall(output)

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(WITHIN_S)
