"""What goes wrong around a device, and that a person hears of each: orders, leftovers, restarts, readings."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from paceline.adb.fake import FakeDevice
from paceline.adb.fake_shell import Execution
from paceline.adb.port import CommandResult, Route
from paceline.devices import conditions
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.driver import DeviceDriver, DriverIntervals, DriverServices
from paceline.devices.heartbeat_report import HeartbeatReport, IdleReadings
from paceline.devices.leftovers import LeftOverError
from paceline.devices.reboots import PER_DAY
from paceline.stop import Stop

from .driving import SERIAL, WORK, Broken, Drive, Making
from .support import Clock, free, phone

REBOOT = {"id": "ord-1", "kind": "reboot"}


def ordered(one: Drive, order: dict[str, str]) -> None:
    one.server.orders[SERIAL] = [order]
    one.beat()


# --- orders ---


def test_a_third_restart_is_refused_with_its_reason_and_not_reported_as_one(
    drive: Making,
) -> None:
    one = drive()
    one.driver.turn()
    for _ in range(PER_DAY):
        one.device.reboots.note()
    ordered(one, REBOOT)
    one.driver.turn()
    (refused,) = one.driver.entry()["orders_refused"]
    assert refused["id"] == "ord-1"
    assert "twice in 24 hours" in refused["why"]
    assert one.there.calls.count(["reboot"]) == 0
    assert one.driver.entry()["recovery"] == []
    one.server.orders[SERIAL] = []  # it has heard
    one.beat()
    assert one.driver.entry()["orders_refused"] == []


def test_an_order_this_agent_does_not_know_is_refused(drive: Making) -> None:
    one = drive()
    one.driver.turn()
    ordered(one, {"id": "ord-2", "kind": "dance"})
    one.driver.turn()
    assert "dance" in one.driver.entry()["orders_refused"][0]["why"]


def test_a_restart_that_a_moments_loss_prevented_is_tried_again(drive: Making) -> None:
    one = drive()
    one.driver.turn()
    ordered(one, REBOOT)
    one.there.faults.lost_after = (
        4  # three questions of the look before it, and one of its own
    )
    one.driver.turn()
    assert one.there.calls.count(["reboot"]) == 0
    assert (
        one.driver.entry()["orders_refused"] == one.driver.entry()["orders_done"] == []
    )
    one.turns(lambda: one.server.orders[SERIAL] == [])
    assert one.there.calls.count(["reboot"]) == 1


def test_a_restart_says_which_order_asked_for_it_and_a_rung_says_none(
    drive: Making,
) -> None:
    one = drive()
    one.driver.turn()
    ordered(one, REBOOT)
    one.turns(lambda: one.server.recovery)
    assert [said["order_id"] for said in one.server.recovery] == ["ord-1"]
    other = drive(phone(kind=Broken))
    other.server.checks_due = {SERIAL}
    other.beat()
    other.turns(lambda: len(other.server.recovery) > 1)
    assert other.server.recovery[-1]["order_id"] is None


def test_an_old_answer_that_names_an_order_again_does_not_repeat_it(
    drive: Making,
) -> None:
    one = drive()
    one.driver.turn()
    old = one.server.orders[SERIAL] = [REBOOT]
    one.beat()
    one.turns(lambda: one.server.orders[SERIAL] == [])
    one.beat()  # an answer without it: it is not said to be done any more
    one.server.orders[SERIAL] = old
    one.beat()
    for _ in range(3):
        one.driver.turn()
        one.beat()
    assert one.there.calls.count(["reboot"]) == 1


def test_a_device_in_other_hands_is_neither_restarted_nor_asked_who_it_is(
    drive: Making, tmp_path: Path
) -> None:
    one = drive()
    one.driver.turn()
    ordered(one, REBOOT)
    hand = AttachedDevice(
        SERIAL, tmp_path / "hand", one.ways.open, one.device.routes, locks=tmp_path
    )
    with hand.claim(Stop()):
        asked = len(one.there.calls)
        for _ in range(3):
            one.driver.turn()
        assert one.there.calls[asked:] == []
        assert one.device.link.state == "online"
    one.turns(lambda: one.server.recovery)


# --- leftovers ---


def test_what_cannot_be_cleaned_away_is_a_failed_check_with_rungs_and_no_lost_device(
    drive: Making,
) -> None:
    one = drive()
    one.left_over = LeftOverError(
        "Processes of run x cannot be killed.", "Restart the device."
    )
    job = one.server.add_job("mine", WORK, SERIAL)
    one.beat()
    states = set()

    def told() -> bool:
        states.add(one.device.link.state)
        return bool(one.server.checks)

    one.turns(told)
    (check,) = one.server.checks
    assert (check["ok"], check["infrastructure"]) == (False, True)
    stale = next(step for step in check["steps"] if step["name"] == "stale_runs")
    assert "cannot be killed" in stale["text"]
    assert check["steps"][-1]["name"] == "gates"  # the rest was asked all the same
    assert [said["step"] for said in one.server.recovery][-2:] == ["reboot", "give_up"]
    assert states == {"online"}
    rungs = len(one.server.recovery)
    for _ in range(5):
        one.driver.safe_turn()
        one.beat()
    assert len(one.server.recovery) == rungs  # given up until somebody asks
    assert job.attempt == 0


# --- restarts ---


def test_a_phone_that_listens_only_until_it_restarts_is_not_restarted_by_the_ladder(
    drive: Making,
) -> None:
    one = drive(phone(kind=Broken))
    del one.there.props["persist.adb.tcp.port"]
    one.server.checks_due = {SERIAL}
    one.beat()
    one.turns(lambda: one.server.checks)
    assert one.there.calls.count(["reboot"]) == 0
    assert "adb tcpip 5555" in one.server.recovery[-1]["text"]
    said = {finding["code"]: finding for finding in one.beat()["preflight"]}
    assert [(code, finding["level"]) for code, finding in said.items()] == [
        ("restart_loses_it", "info")
    ]


# --- readings ---


def test_readings_say_how_old_they_are_in_every_heartbeat() -> None:
    report = HeartbeatReport(clock := Clock())
    report.read(IdleReadings({"battery_c": 30.0}, at_s=clock.now_s))
    clock.now_s += 2.5
    assert report.entry()["gates"] == {"battery_c": 30.0, "ms_ago": 2500}
    clock.now_s += 3600.0
    assert report.entry()["gates"]["ms_ago"] == 3_602_500


def test_free_space_is_as_new_as_the_other_readings(drive: Making) -> None:
    one = drive()
    one.turns(lambda: one.server.heartbeats[-1]["targets"][0].get("gates"))
    free(one.there, 1000)
    one.turns(lambda: one.server.heartbeats[-1]["targets"][0]["refuses"])
    said = one.beat()
    assert said["gates"]["free_bytes"] == 1000 << 10
    one.there.answers["df", "-k", "/data/local/tmp"] = CommandResult(1, b"")
    one.driver.turn()
    assert one.beat()["gates"]["free_bytes"] is None


class Sensors(FakeDevice):
    """Tells neither a thermal status nor a battery's temperature, and what its zones are at."""

    degrees = 95

    def execute(self, argv: Sequence[str]) -> Execution:
        if tuple(argv) == conditions.ZONES:
            zone = "/sys/class/thermal/thermal_zone0"
            return CommandResult(
                0, f"{zone}/type:cpu-0\n{zone}/temp:{self.degrees * 1000}\n".encode()
            )
        return CommandResult(1, b"") if argv[0] == "dumpsys" else super().execute(argv)


def test_a_device_with_sensors_alone_is_judged_by_them_also_when_idle(
    drive: Making,
) -> None:
    there = phone(kind=Sensors)
    assert isinstance(there, Sensors)
    one = drive(there)
    one.driver.turn()
    one.turns(lambda: one.server.heartbeats[-1]["targets"][0]["refuses"])
    assert "95.0 °C" in one.beat()["refuses"]
    there.degrees = 40
    one.turns(lambda: one.server.heartbeats[-1]["targets"][0]["refuses"] is None)


# --- the agent's own errors ---


class Odd(FakeDevice):
    """Makes whoever asks it meet an error nobody foresaw, while `odd`."""

    odd = False

    def execute(self, argv: Sequence[str]) -> Execution:
        if self.odd:
            raise RuntimeError("nobody foresaw this")
        return super().execute(argv)


def test_an_error_of_the_agents_own_is_told_until_a_turn_goes_well(
    drive: Making,
) -> None:
    there = phone(kind=Odd)
    assert isinstance(there, Odd)
    one = drive(there)
    one.driver.turn()
    there.odd = True
    one.driver.safe_turn()
    (told,) = one.beat()["preflight"]
    assert told["code"] == "agent_error"
    assert "nobody foresaw this" in told["text"]
    there.odd = False
    one.driver.safe_turn()
    assert one.beat()["preflight"] == []


def test_leaving_ends_a_driver_whether_or_not_the_agent_leaves(drive: Making) -> None:
    one = drive()
    alone = DeviceDriver(
        one.device,
        one.driver.lane,
        DriverServices(one.ways, one._clean),
        threading.Event(),
        DriverIntervals(),
    )
    thread = threading.Thread(target=alone.run)
    thread.start()
    alone.leave()
    thread.join(120)
    assert not thread.is_alive()


def test_a_device_only_a_name_speaks_of_is_said_when_it_is_there_and_not_when_another_is(
    drive: Making,
) -> None:
    route = Route("server", "127.0.0.1:5037", SERIAL)
    one = drive(phone(), route)
    assert not one.driver.is_announced
    one.there.props["ro.serialno"] = "OTHER"
    one.driver.turn()
    assert not one.driver.is_announced
    one.device.add_route(route)
    one.there.faults.unauthorized = True
    one.driver.turn()
    assert one.driver.is_announced
