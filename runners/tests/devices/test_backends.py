"""Tests of the production backends: the agent's key, and an adb server that fails."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from device_providers import until
from paceline.adb.keys import AgentKey
from paceline.adb.port import OfflineError, Route, UnauthorizedError
from paceline.adb.server import AdbServer
from paceline.adb.usb import UsbBus, UsbDevice
from paceline.commands.this_host import print_devices
from paceline.config import DeviceSettings
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.backends import AdbBackends
from paceline.devices.discovery import Discovery
from paceline.devices.errors import cause_of
from paceline.devices.survey import SurveyedDevice, survey
from paceline.stop import Stop
from paceline.testing.adbd import Peer
from paceline.testing.usb import SimulatedUsb, SimulatedUsbDevice
from paceline_contract.testing.waiting import WITHIN_S, give_enough_time

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
        )

        def is_asked(connect_s: float) -> bool:
            discovery.connect_s = connect_s
            discovery.look()
            (link,) = discovery.unknown.values()
            return link.state == "unauthorized"

        give_enough_time(is_asked, first_s=0.2)
        assert all(is_asked(0.2) for _ in range(2))
        until(lambda: peer.prompts)
        assert len(peer.prompts) == 1
        peer.answer_prompt(True)
        discovery.connect_s = WITHIN_S
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


# --- USB ---


def test_a_phone_on_usb_is_found_without_an_adb_server_and_lost_with_its_cable(
    tmp_path: Path,
) -> None:
    with Peer(tmp_path / "phone", serial="PHONE0001") as peer:
        phone = SimulatedUsbDevice(peer.address, "PHONE0001")
        usb = SimulatedUsb(phone)
        backends = AdbBackends("127.0.0.1:1", tmp_path / "adb", UsbBus(usb))
        discovery = Discovery(DeviceSettings(), backends, tmp_path / "d")
        discovery.look()
        (device,) = discovery.devices.values()
        assert (device.serial, device.routes) == (
            "PHONE0001",
            (Route("usb", "1-2", "PHONE0001"),),
        )
        assert device.survives_restart
        states = []
        for change in (phone.plug_in, phone.unplug, phone.plug_in):
            change()
            discovery.look()
            device.look()
            states.append((len(device.routes), device.link.state))
        assert states == [(1, "online"), (0, "absent"), (1, "online")]
        device.disconnect()
        backends.close()
        phone.unplug()
        assert phone.violations == []


def test_a_phone_that_an_adb_server_holds_is_reached_through_it_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    free, held = (
        SimulatedUsbDevice("", "PHONE0002", ports=(2,)),
        SimulatedUsbDevice("", "PHONE0001", ports=(3,)),
    )
    bus = UsbBus(SimulatedUsb(free, held))
    with answering([b"OKAY0011PHONE0001\tdevice\n"]) as address:
        backends = AdbBackends(address, tmp_path / "adb", bus)
        assert [known.name for known in backends.list_devices()] == ["PHONE0001"]
        assert backends.list_usb_routes() == [
            free_route := Route("usb", "1-2", "PHONE0002")
        ]
        note = backends.usb_note("PHONE0001")
        assert f"The adb server at {address} holds it at USB port 1-3" in note
        assert "through that server" in note
        assert note in caplog.text
        assert backends.usb_note("PHONE0002") == ""
    backends.list_devices()  # the server has ended
    assert backends.list_usb_routes() == [free_route, Route("usb", "1-3", "PHONE0001")]
    assert backends.usb_note("PHONE0001") == ""


def test_the_table_of_devices_says_which_phone_on_usb_an_adb_server_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bus = UsbBus(SimulatedUsb(SimulatedUsbDevice("", "PHONE0001", ports=(3,))))
    with answering([b"OKAY0011PHONE0001\tdevice\n"]) as address:
        backends = AdbBackends(address, tmp_path / "adb", bus)
        attached = survey(DeviceSettings(), backends, tmp_path)
    print_devices(SurveyedDevice("host-1", "lab", "", "online"), attached)
    printed = " ".join(capsys.readouterr().out.split())
    assert f"(PHONE0001): The adb server at {address} holds it" in printed
    assert "at USB port 1-3, so it is reached through that server." in printed


def test_a_phone_that_the_adb_server_may_not_open_is_tried_directly(
    tmp_path: Path,
) -> None:
    listed = b"PHONE0001\tno permissions (user in plugdev group; missing udev rules?)\n"
    bus = UsbBus(SimulatedUsb(SimulatedUsbDevice("", "PHONE0001")))
    with answering([b"OKAY%04x%s" % (len(listed), listed)]) as address:
        backends = AdbBackends(address, tmp_path / "adb", bus)
        backends.list_devices()
        assert backends.list_usb_routes() == [Route("usb", "1-2", "PHONE0001")]


def test_a_phone_that_this_user_may_not_open_is_listed_with_the_udev_rule(
    tmp_path: Path,
) -> None:
    phone = SimulatedUsbDevice("", "PHONE0001")
    phone.is_denied = True
    backends = AdbBackends("127.0.0.1:1", tmp_path / "adb", UsbBus(SimulatedUsb(phone)))
    (listed,) = survey(DeviceSettings(), backends, tmp_path)
    assert (listed.serial, listed.state) == (None, "offline")
    assert "USB port 1-2" in listed.route
    assert "udevadm" in (listed.advice or "")


class BusWithoutLibusb(UsbBus):
    """A host without libusb; `tests/adb/test_usb.py` tests what the real bus says there."""

    def devices(self) -> list[UsbDevice]:
        raise OfflineError("USB cannot be searched", "Run: apt-get install it")


def test_a_survey_says_why_usb_was_not_searched_unless_an_adb_server_searched_it(
    tmp_path: Path,
) -> None:
    backends = AdbBackends("127.0.0.1:1", tmp_path / "adb", BusWithoutLibusb())
    (listed,) = survey(DeviceSettings(), backends, tmp_path)
    assert (listed.route, listed.state) == ("USB", "absent")
    assert listed.reason == "USB cannot be searched."
    assert listed.advice == "Run: apt-get install it"
    with answering([b"OKAY0000"]) as address:
        backends = AdbBackends(address, tmp_path / "adb", BusWithoutLibusb())
        assert survey(DeviceSettings(), backends, tmp_path) == []


def test_usb_can_be_left_to_others(tmp_path: Path) -> None:
    backends = AdbBackends("127.0.0.1:1", tmp_path / "adb", None)
    assert backends.list_usb_routes() == []
    assert survey(DeviceSettings(usb=False), backends, tmp_path) == []


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
