"""Tests of discovery: a device is known by the serial that answers, whatever the number of its routes."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline.adb.port import Route
from paceline.config import DeviceSettings
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.backends import AdbBackends
from paceline.devices.discovery import Discovery
from paceline.devices.heartbeat_report import twin_findings
from paceline.devices.survey import survey
from paceline.testing.adbd import Peer
from paceline.testing.fake_device import FakeDevice

from .support import FakeBackends, phone

ADDRESS = "10.0.0.7:5555"
TCP = Route("tcp", ADDRESS)


class RecordedDiscovery:
    """A discovery over fake routes, with the calls it made."""

    def __init__(self, root: Path, backends: FakeBackends, **config: object) -> None:
        self.found: list[AttachedDevice] = []
        self.changed: list[str] = []
        self.removed: list[AttachedDevice] = []
        settings = DeviceSettings(**config)  # type: ignore[arg-type]
        self.discovery = Discovery(
            settings,
            backends,
            root,
            self.found.append,
            lambda device: self.changed.append(device.serial),
            on_removed=self.removed.append,
        )

    @property
    def routes(self) -> dict[str, tuple[str, ...]]:
        return {
            serial: tuple(route.name or route.address for route in device.routes)
            for serial, device in self.discovery.devices.items()
        }


def test_a_device_by_tcp_gets_the_serial_that_answers_at_the_address(
    tmp_path: Path,
) -> None:
    recorded = RecordedDiscovery(
        tmp_path, FakeBackends(**{ADDRESS: phone()}), routes=[ADDRESS]
    )
    recorded.discovery.look()
    recorded.discovery.look()
    assert recorded.routes == {"PHONE0001": (ADDRESS,)}
    assert [device.serial for device in recorded.found] == ["PHONE0001"]
    assert not recorded.found[0].simulated


def test_two_routes_to_one_serial_are_one_device(tmp_path: Path) -> None:
    peer = phone()
    backends = FakeBackends(**{ADDRESS: peer, "PHONE0001": peer, "10.0.0.8:5555": peer})
    backends.names = {"PHONE0001": "device"}
    recorded = RecordedDiscovery(tmp_path, backends, routes=[ADDRESS, "10.0.0.8:5555"])
    recorded.discovery.look()
    assert recorded.routes == {"PHONE0001": ("PHONE0001", ADDRESS, "10.0.0.8:5555")}
    assert len(recorded.found) == 1


def twin() -> FakeDevice:
    """Another phone with the serial number of `phone()`, in another boot."""
    other = phone()
    other.reboot()
    return other


@pytest.mark.parametrize("kind", ["tcp", "usb", "usb and tcp"])
def test_two_phones_with_one_serial_number_are_told_apart_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    """The second became another route of the first, and their results one history."""
    places = {
        "tcp": (TCP, Route("tcp", "10.0.0.8:5555")),
        "usb": (Route("usb", "1-1", "PHONE0001"), Route("usb", "1-2", "PHONE0001")),
        "usb and tcp": (TCP, Route("usb", "1-1", "PHONE0001")),
    }
    used, apart = places[kind]
    backends = FakeBackends(**{used.address: phone(), apart.address: twin()})
    backends.usb = [route for route in (used, apart) if route.kind == "usb"]
    addresses = [route.address for route in (used, apart) if route.kind == "tcp"]
    recorded = RecordedDiscovery(tmp_path, backends, routes=addresses)
    for _ in range(3):
        recorded.discovery.look()
    device = recorded.discovery.devices["PHONE0001"]
    assert device.routes == (used,)
    assert "PHONE0001, as the one that is used" in (
        recorded.discovery.unknown[apart].reason or ""
    )
    (finding,) = twin_findings(device)
    assert str(apart) in finding["text"]
    assert caplog.text.count("Another device has its serial number") == 1
    assert backends.opened.count(used) <= 2, "found once, the phone in use is not asked"


def test_a_twin_that_is_unplugged_is_no_twin_any_more(tmp_path: Path) -> None:
    backends = FakeBackends(**{"1-1": phone(), "1-2": twin()})
    ports = [Route("usb", port, "PHONE0001") for port in ("1-1", "1-2")]
    recorded = RecordedDiscovery(tmp_path, backends)
    backends.usb = ports
    recorded.discovery.look()
    backends.usb = ports[:1]
    recorded.discovery.look()
    assert recorded.discovery.unknown == {}
    assert twin_findings(recorded.discovery.devices["PHONE0001"]) == []
    backends.usb = ports[1:]
    recorded.discovery.look()
    assert recorded.discovery.devices["PHONE0001"].routes == (ports[1],)


@pytest.mark.parametrize("looked", [True, False])
def test_one_phone_by_two_routes_is_no_twin_though_it_restarted(
    tmp_path: Path, looked: bool
) -> None:
    peer = phone()
    backends = FakeBackends(**{ADDRESS: peer, "1-1": peer})
    recorded = RecordedDiscovery(tmp_path, backends, routes=[ADDRESS])
    recorded.discovery.look()
    device = recorded.discovery.devices["PHONE0001"]
    assert not looked or device.look()
    peer.reboot()
    backends.usb = [Route("usb", "1-1", "PHONE0001")]
    recorded.discovery.look()
    assert device.routes == (*backends.usb, TCP)
    assert twin_findings(device) == []


def test_a_name_that_an_adb_server_lists_twice_is_said(tmp_path: Path) -> None:
    """It gives two phones one name, so that nothing tells which of them answers."""
    backends = FakeBackends(PHONE0001=phone())
    backends.names = {"PHONE0001": "device"}
    backends.listed_twice = "PHONE0001"
    recorded = RecordedDiscovery(tmp_path, backends)
    recorded.discovery.look()
    device = recorded.discovery.devices["PHONE0001"]
    (finding,) = twin_findings(device)
    assert "in the adb server's list" in finding["text"]
    backends.names = {"PHONE0001": "offline"}  # of a cable that was pulled
    recorded.discovery.look()
    assert twin_findings(device) == []


def test_a_phone_by_usb_that_has_not_authorised_us_is_shown_by_its_name(
    tmp_path: Path,
) -> None:
    peer = phone()
    peer.faults.unauthorized = True
    backends = FakeBackends(PHONE0001=peer)
    backends.names = {"PHONE0001": "unauthorized"}
    recorded = RecordedDiscovery(tmp_path, backends)
    recorded.discovery.look()
    (device,) = recorded.found
    assert not device.look()
    assert device.link.state == "unauthorized"


def test_a_name_that_is_not_the_serial_is_replaced_by_the_serial_that_answers(
    tmp_path: Path,
) -> None:
    backends = FakeBackends(ODDNAME=phone("REAL01"))
    backends.names = {"ODDNAME": "device"}
    recorded = RecordedDiscovery(tmp_path, backends)
    recorded.discovery.look()
    assert not recorded.found[0].look()
    recorded.discovery.look()
    recorded.discovery.look()
    assert recorded.routes == {"REAL01": ("ODDNAME",)}
    assert [device.serial for device in recorded.removed] == ["ODDNAME"]
    assert recorded.discovery.devices["REAL01"].look()
    for names in ({}, backends.names):  # unplugged and back: it is not presumed again
        backends.names = names
        recorded.discovery.look()
    assert recorded.routes == {"REAL01": ("ODDNAME",)}
    assert [device.serial for device in recorded.found] == ["ODDNAME", "REAL01"]


def test_a_route_that_leads_to_another_phone_moves_to_that_phone(
    tmp_path: Path,
) -> None:
    backends = FakeBackends(**{ADDRESS: phone("FIRST1")})
    recorded = RecordedDiscovery(tmp_path, backends, routes=[ADDRESS])
    recorded.discovery.look()
    assert recorded.discovery.devices["FIRST1"].look()
    backends.at[ADDRESS] = phone("SECOND")
    recorded.discovery.devices["FIRST1"].disconnect()
    assert not recorded.discovery.devices["FIRST1"].look()
    recorded.discovery.look()
    assert recorded.routes == {"FIRST1": (), "SECOND": (ADDRESS,)}
    for _ in range(2):
        assert "SECOND" in (recorded.discovery.devices["FIRST1"].link.reason or "")
        assert not recorded.discovery.devices["FIRST1"].look()


def test_pulling_the_cable_removes_the_route_and_keeps_the_device(
    tmp_path: Path,
) -> None:
    backends = FakeBackends(PHONE0001=phone())
    backends.names = {"PHONE0001": "device"}
    recorded = RecordedDiscovery(tmp_path, backends)
    recorded.discovery.look()
    (device,) = recorded.found
    assert device.look()
    backends.names = {}
    recorded.discovery.look()
    assert (recorded.routes, recorded.changed) == ({"PHONE0001": ()}, ["PHONE0001"])
    backends.names = {"PHONE0001": "device"}
    recorded.discovery.look()
    assert (recorded.routes, len(recorded.found)) == ({"PHONE0001": ("PHONE0001",)}, 1)


def test_a_route_where_nobody_answers_is_kept_with_its_reason(tmp_path: Path) -> None:
    backends = FakeBackends()
    recorded = RecordedDiscovery(tmp_path, backends, routes=[ADDRESS])
    recorded.discovery.look()
    assert recorded.discovery.unknown[TCP].state == "absent"
    assert recorded.discovery.unknown[TCP].reason
    backends.at[ADDRESS] = phone()
    recorded.discovery.look()
    assert recorded.discovery.unknown == {}
    assert len(recorded.found) == 1


def test_discovery_opens_no_connection_on_the_route_of_a_known_device(
    tmp_path: Path,
) -> None:
    backends = FakeBackends(**{ADDRESS: phone()})
    recorded = RecordedDiscovery(tmp_path, backends, routes=[ADDRESS])
    recorded.discovery.look()
    opened = len(backends.opened)
    recorded.discovery.look()
    assert len(backends.opened) == opened


def test_simulated_devices_are_labelled(tmp_path: Path) -> None:
    recorded = RecordedDiscovery(
        tmp_path, FakeBackends(**{ADDRESS: phone()}), simulated=[ADDRESS]
    )
    recorded.discovery.look()
    assert recorded.found[0].simulated


def test_a_survey_looks_again_at_a_device_that_answers_slowly(tmp_path: Path) -> None:
    with Peer(tmp_path / "peer", serial="SLOW0001") as peer:
        peer.faults.stls = True
        peer.faults.slow_bps = 200  # 52 bytes of greeting: about 0.3 s
        settings = DeviceSettings(routes=[peer.address])
        backends = AdbBackends("127.0.0.1:1", tmp_path / "keys")
        (device,) = survey(settings, backends, tmp_path, first_look_s=0.05)
    assert device.state == "unauthorized"
    assert "adb pair" in (device.advice or "")
