"""Discovery: whoever answers is who is there; two routes to one serial are one device."""

from __future__ import annotations

from pathlib import Path

from paceline.adb.port import Route
from paceline.config import DeviceSettings
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.discovery import Discovery

from .support import FakeWays, phone

ADDRESS = "10.0.0.7:5555"
TCP = Route("tcp", ADDRESS)


class RecordedDiscovery:
    """A discovery over fake routes, and what it called."""

    def __init__(self, root: Path, ways: FakeWays, **config: object) -> None:
        self.found: list[AttachedDevice] = []
        self.changed: list[str] = []
        self.refuted: list[AttachedDevice] = []
        settings = DeviceSettings(**config)  # type: ignore[arg-type]
        self.discovery = Discovery(
            settings,
            ways,
            root,
            self.found.append,
            lambda device: self.changed.append(device.serial),
            refuted=self.refuted.append,
        )

    @property
    def routes(self) -> dict[str, tuple[str, ...]]:
        return {
            serial: tuple(route.name or route.address for route in device.routes)
            for serial, device in self.discovery.devices.items()
        }


def test_a_device_by_tcp_is_who_answers_there(tmp_path: Path) -> None:
    seen = RecordedDiscovery(tmp_path, FakeWays(**{ADDRESS: phone()}), routes=[ADDRESS])
    seen.discovery.look()
    seen.discovery.look()
    assert seen.routes == {"PHONE0001": (ADDRESS,)}
    assert [device.serial for device in seen.found] == ["PHONE0001"]
    assert not seen.found[0].simulated


def test_two_routes_to_one_serial_are_one_device(tmp_path: Path) -> None:
    there = phone()
    ways = FakeWays(**{ADDRESS: there, "PHONE0001": there, "10.0.0.8:5555": there})
    ways.names = {"PHONE0001": "device"}
    seen = RecordedDiscovery(tmp_path, ways, routes=[ADDRESS, "10.0.0.8:5555"])
    seen.discovery.look()
    assert seen.routes == {"PHONE0001": ("PHONE0001", ADDRESS, "10.0.0.8:5555")}
    assert len(seen.found) == 1


def test_a_phone_by_usb_that_does_not_let_us_in_is_shown_by_its_name(
    tmp_path: Path,
) -> None:
    there = phone()
    there.faults.unauthorized = True
    ways = FakeWays(PHONE0001=there)
    ways.names = {"PHONE0001": "unauthorized"}
    seen = RecordedDiscovery(tmp_path, ways)
    seen.discovery.look()
    (device,) = seen.found
    assert not device.look()
    assert device.link.state == "unauthorized"


def test_a_name_that_presumed_wrongly_is_corrected_by_who_answers(
    tmp_path: Path,
) -> None:
    ways = FakeWays(ODDNAME=phone("REAL01"))
    ways.names = {"ODDNAME": "device"}
    seen = RecordedDiscovery(tmp_path, ways)
    seen.discovery.look()
    assert not seen.found[0].look()
    seen.discovery.look()
    seen.discovery.look()
    assert seen.routes == {"REAL01": ("ODDNAME",)}
    assert [device.serial for device in seen.refuted] == ["ODDNAME"]
    assert seen.discovery.devices["REAL01"].look()
    for names in ({}, ways.names):  # unplugged and back: it is not presumed again
        ways.names = names
        seen.discovery.look()
    assert seen.routes == {"REAL01": ("ODDNAME",)}
    assert [device.serial for device in seen.found] == ["ODDNAME", "REAL01"]


def test_a_route_that_now_leads_to_another_phone_becomes_that_phones(
    tmp_path: Path,
) -> None:
    ways = FakeWays(**{ADDRESS: phone("FIRST1")})
    seen = RecordedDiscovery(tmp_path, ways, routes=[ADDRESS])
    seen.discovery.look()
    assert seen.discovery.devices["FIRST1"].look()
    ways.at[ADDRESS] = phone("SECOND")
    seen.discovery.devices["FIRST1"].let_go()
    assert not seen.discovery.devices["FIRST1"].look()
    seen.discovery.look()
    assert seen.routes == {"FIRST1": (), "SECOND": (ADDRESS,)}
    for _ in range(2):
        assert "SECOND" in (seen.discovery.devices["FIRST1"].link.reason or "")
        assert not seen.discovery.devices["FIRST1"].look()


def test_a_cable_that_is_pulled_takes_the_route_and_keeps_the_device(
    tmp_path: Path,
) -> None:
    ways = FakeWays(PHONE0001=phone())
    ways.names = {"PHONE0001": "device"}
    seen = RecordedDiscovery(tmp_path, ways)
    seen.discovery.look()
    (device,) = seen.found
    assert device.look()
    ways.names = {}
    seen.discovery.look()
    assert (seen.routes, seen.changed) == ({"PHONE0001": ()}, ["PHONE0001"])
    ways.names = {"PHONE0001": "device"}
    seen.discovery.look()
    assert (seen.routes, len(seen.found)) == ({"PHONE0001": ("PHONE0001",)}, 1)


def test_a_route_where_nobody_answers_is_kept_with_its_reason(tmp_path: Path) -> None:
    ways = FakeWays()
    seen = RecordedDiscovery(tmp_path, ways, routes=[ADDRESS])
    seen.discovery.look()
    assert seen.discovery.unknown[TCP].state == "absent"
    assert seen.discovery.unknown[TCP].reason
    ways.at[ADDRESS] = phone()
    seen.discovery.look()
    assert seen.discovery.unknown == {}
    assert len(seen.found) == 1


def test_a_route_of_a_device_is_never_spoken_on_by_discovery(tmp_path: Path) -> None:
    ways = FakeWays(**{ADDRESS: phone()})
    seen = RecordedDiscovery(tmp_path, ways, routes=[ADDRESS])
    seen.discovery.look()
    opened = len(ways.opened)
    seen.discovery.look()
    assert len(ways.opened) == opened


def test_simulated_devices_are_labelled(tmp_path: Path) -> None:
    seen = RecordedDiscovery(
        tmp_path, FakeWays(**{ADDRESS: phone()}), simulated=[ADDRESS]
    )
    seen.discovery.look()
    assert seen.found[0].simulated
