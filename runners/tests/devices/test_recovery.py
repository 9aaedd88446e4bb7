"""Tests of recovery steps: what each does to a connection, and how long a restart may take."""

from __future__ import annotations

from pathlib import Path

from paceline.adb.port import Connection, Route
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.connection_state import BOOT_LIMIT_S
from paceline.devices.health import Rung
from paceline.devices.recovery import RECONNECT_LOOKS, reboot, try_rung
from paceline.stop import Stop

from .support import Clock, FakeBackends, phone

USB, TCP = Route("server", "127.0.0.1:5037", "PHONE0001"), Route("tcp", "home")


class SlowBackends(FakeBackends):
    """Every route takes `each_s` seconds to answer or to fail."""

    each_s = 10.0

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def open(self, route: Route) -> Connection:
        self.clock.now_s += self.each_s
        return super().open(route)


def test_a_restart_is_waited_for_by_the_clock_not_by_the_number_of_looks(
    tmp_path: Path,
) -> None:
    clock, fake_phone = Clock(), phone()
    backends = SlowBackends(clock)
    backends.at = {"home": fake_phone}
    device = AttachedDevice(
        fake_phone.serial, tmp_path, backends.open, [TCP], locks=tmp_path
    )
    assert device.look()
    del backends.at["home"]
    began_s = clock.now_s
    attempt = reboot(device, "a test", Stop(), 0.0, clock)
    assert not attempt.ok
    assert BOOT_LIMIT_S <= clock.now_s - began_s <= BOOT_LIMIT_S + backends.each_s


def test_the_seconds_reported_are_those_it_took(tmp_path: Path) -> None:
    clock, fake_phone = Clock(), phone()
    backends = SlowBackends(clock)
    backends.at, backends.each_s = {"home": fake_phone}, 7.0
    device = AttachedDevice(
        fake_phone.serial, tmp_path, backends.open, [TCP], locks=tmp_path
    )
    device.look()
    assert "after about 7 s" in reboot(device, "a test", Stop(), 0.0, clock).text


def test_each_low_rung_does_another_thing(tmp_path: Path) -> None:
    fake_phone = phone()
    backends = FakeBackends(home=fake_phone, PHONE0001=fake_phone)
    device = AttachedDevice(
        fake_phone.serial, tmp_path, backends.open, [TCP], locks=tmp_path
    )
    device.look()
    device.add_route(USB)
    opened = len(backends.opened)
    assert try_rung(Rung.RECONNECT, device, backends, Stop(), why="").ok
    assert (device.route, backends.opened[opened:]) == (TCP, [])
    assert try_rung(Rung.NEW_CONNECTION, device, backends, Stop(), why="").ok
    assert (device.route, backends.opened[opened:]) == (USB, [USB])
    assert try_rung(
        Rung.ADB_RECONNECT, device, backends, Stop(), why="", boot_look_s=0.0
    ).ok
    assert backends.reconnects == [USB]


def test_an_adb_server_is_asked_again_for_what_it_forgot_meanwhile(
    tmp_path: Path,
) -> None:
    fake_phone = phone()
    backends = FakeBackends(PHONE0001=fake_phone)
    device = AttachedDevice(
        fake_phone.serial, tmp_path, backends.open, [USB], locks=tmp_path
    )
    device.look()
    fake_phone.faults.offline = True
    fake_phone.cut()
    opened = len(backends.opened)
    assert not try_rung(
        Rung.ADB_RECONNECT, device, backends, Stop(), why="", boot_look_s=0.0
    ).ok
    assert backends.reconnects == [USB, USB]
    assert len(backends.opened) - opened == RECONNECT_LOOKS + 1
