"""Tests of failures around a device, each of which is reported: orders, leftovers, restarts, readings."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from paceline.adb.port import CommandResult, Route
from paceline.devices import conditions
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.driver import DeviceDriver, DriverIntervals, DriverServices
from paceline.devices.heartbeat_report import HeartbeatReport, IdleReadings
from paceline.devices.leftovers import LeftOverError
from paceline.devices.reboots import PER_DAY
from paceline.stop import Stop
from paceline.testing.fake_device import FakeDevice
from paceline.testing.fake_device_shell import Execution
from paceline_contract.testing.waiting import WITHIN_S

from .driving import SERIAL, WORK, Broken, Drive, Making
from .support import Clock, free, phone

REBOOT = {"id": "ord-1", "kind": "reboot"}


def order_of(drive: Drive, order: dict[str, str]) -> None:
    drive.server.orders[SERIAL] = [order]
    drive.beat()


# --- orders ---


def test_a_third_restart_is_refused_with_its_reason_and_not_reported_as_one(
    drive: Making,
) -> None:
    rig = drive()
    rig.driver.turn()
    for _ in range(PER_DAY):
        rig.device.reboots.record()
    order_of(rig, REBOOT)
    rig.driver.turn()
    (refused,) = rig.driver.entry()["orders_refused"]
    assert refused["id"] == "ord-1"
    assert "twice in 24 hours" in refused["why"]
    assert rig.there.calls.count(["reboot"]) == 0
    assert rig.driver.entry()["recovery"] == []
    rig.server.orders[SERIAL] = []  # it has heard
    rig.beat()
    assert rig.driver.entry()["orders_refused"] == []


def test_an_order_this_agent_does_not_know_is_refused(drive: Making) -> None:
    rig = drive()
    rig.driver.turn()
    order_of(rig, {"id": "ord-2", "kind": "dance"})
    rig.driver.turn()
    assert "dance" in rig.driver.entry()["orders_refused"][0]["why"]


def test_a_restart_that_a_moments_loss_prevented_is_tried_again(drive: Making) -> None:
    rig = drive()
    rig.driver.turn()
    order_of(rig, REBOOT)
    rig.there.faults.lost_after = (
        4  # three questions of the look before it, and one of its own
    )
    rig.driver.turn()
    assert rig.there.calls.count(["reboot"]) == 0
    assert (
        rig.driver.entry()["orders_refused"] == rig.driver.entry()["orders_done"] == []
    )
    rig.turns(lambda: rig.server.orders[SERIAL] == [])
    assert rig.there.calls.count(["reboot"]) == 1


def test_a_restart_says_which_order_asked_for_it_and_a_rung_says_none(
    drive: Making,
) -> None:
    rig = drive()
    rig.driver.turn()
    order_of(rig, REBOOT)
    rig.turns(lambda: rig.server.recovery)
    assert [step["order_id"] for step in rig.server.recovery] == ["ord-1"]
    other = drive(phone(kind=Broken))
    other.server.checks_due = {SERIAL}
    other.beat()
    other.turns(lambda: len(other.server.recovery) > 1)
    assert other.server.recovery[-1]["order_id"] is None


def test_an_old_answer_that_names_an_order_again_does_not_repeat_it(
    drive: Making,
) -> None:
    rig = drive()
    rig.driver.turn()
    old = rig.server.orders[SERIAL] = [REBOOT]
    rig.beat()
    rig.turns(lambda: rig.server.orders[SERIAL] == [])
    rig.beat()  # an answer without it: it is not said to be done any more
    rig.server.orders[SERIAL] = old
    rig.beat()
    for _ in range(3):
        rig.driver.turn()
        rig.beat()
    assert rig.there.calls.count(["reboot"]) == 1


def test_a_device_in_other_hands_is_neither_restarted_nor_asked_who_it_is(
    drive: Making, tmp_path: Path
) -> None:
    rig = drive()
    rig.driver.turn()
    order_of(rig, REBOOT)
    hand = AttachedDevice(
        SERIAL, tmp_path / "hand", rig.backends.open, rig.device.routes, locks=tmp_path
    )
    with hand.claim(Stop()):
        asked = len(rig.there.calls)
        for _ in range(3):
            rig.driver.turn()
        assert rig.there.calls[asked:] == []
        assert rig.device.link.state == "online"
    rig.turns(lambda: rig.server.recovery)


# --- leftovers ---


def test_what_cannot_be_cleaned_away_is_a_failed_check_with_rungs_and_no_lost_device(
    drive: Making,
) -> None:
    rig = drive()
    rig.left_over = LeftOverError(
        "Processes of run x cannot be killed.", "Restart the device."
    )
    job = rig.server.add_job("mine", WORK, SERIAL)
    rig.beat()
    states = set()

    def confirmations_of() -> bool:
        states.add(rig.device.link.state)
        return bool(rig.server.checks)

    rig.turns(confirmations_of)
    (check,) = rig.server.checks
    assert (check["ok"], check["infrastructure"]) == (False, True)
    stale = next(step for step in check["steps"] if step["name"] == "stale_runs")
    assert "cannot be killed" in stale["text"]
    assert check["steps"][-1]["name"] == "readiness"  # the rest was asked all the same
    assert [step["step"] for step in rig.server.recovery][-2:] == ["reboot", "give_up"]
    assert states == {"online"}
    rungs = len(rig.server.recovery)
    for _ in range(5):
        rig.driver.take_turn_safely()
        rig.beat()
    assert len(rig.server.recovery) == rungs  # given up until somebody asks
    assert job.attempt == 0


# --- restarts ---


def test_a_phone_that_listens_only_until_it_restarts_is_not_restarted_by_the_ladder(
    drive: Making,
) -> None:
    rig = drive(phone(kind=Broken))
    del rig.there.props["persist.adb.tcp.port"]
    rig.server.checks_due = {SERIAL}
    rig.beat()
    rig.turns(lambda: rig.server.checks)
    assert rig.there.calls.count(["reboot"]) == 0
    assert "adb tcpip 5555" in rig.server.recovery[-1]["text"]
    reported = {finding["code"]: finding for finding in rig.beat()["preflight"]}
    assert {code: finding["level"] for code, finding in reported.items()} == {
        "restart_loses_it": "info",
        "unknown_conditions": "info",
    }


# --- readings ---


def test_readings_say_how_old_they_are_in_every_heartbeat() -> None:
    report = HeartbeatReport(clock := Clock())
    report.note_readings(IdleReadings({"battery_c": 30.0}, at_s=clock.now_s))
    clock.now_s += 2.5
    assert report.entry()["gates"] == {"battery_c": 30.0, "ms_ago": 2500}
    clock.now_s += 3600.0
    assert report.entry()["gates"]["ms_ago"] == 3_602_500


def test_free_space_is_as_new_as_the_other_readings(drive: Making) -> None:
    rig = drive()
    rig.turns(lambda: rig.server.heartbeats[-1]["targets"][0].get("gates"))
    free(rig.there, 1000)
    rig.turns(lambda: rig.server.heartbeats[-1]["targets"][0]["refuses"])
    entry = rig.beat()
    assert entry["gates"]["free_bytes"] == 1000 << 10
    rig.there.answers["df", "-k", "/data/local/tmp"] = CommandResult(1, b"")
    rig.driver.turn()
    assert rig.beat()["gates"]["free_bytes"] is None


class Sensors(FakeDevice):
    """A device without thermal status and battery temperature; its zones are at the given temperature."""

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
    rig = drive(there)
    rig.driver.turn()
    rig.turns(lambda: rig.server.heartbeats[-1]["targets"][0]["refuses"])
    assert "95.0 °C" in rig.beat()["refuses"]
    there.degrees = 40
    rig.turns(lambda: rig.server.heartbeats[-1]["targets"][0]["refuses"] is None)


# --- the agent's own errors ---


class Odd(FakeDevice):
    """Raises an unforeseen error in every call while `odd`."""

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
    rig = drive(there)
    rig.driver.turn()
    there.odd = True
    rig.driver.take_turn_safely()
    (confirmations_of,) = rig.beat()["preflight"]
    assert confirmations_of["code"] == "agent_error"
    assert "nobody foresaw this" in confirmations_of["text"]
    there.odd = False
    rig.driver.take_turn_safely()
    assert rig.beat()["preflight"] == []


def test_leaving_ends_a_driver_whether_or_not_the_agent_leaves(drive: Making) -> None:
    rig = drive()
    alone = DeviceDriver(
        rig.device,
        rig.driver.lane,
        DriverServices(rig.backends, rig._clean),
        threading.Event(),
        DriverIntervals(),
    )
    thread = threading.Thread(target=alone.run)
    thread.start()
    alone.leave()
    thread.join(WITHIN_S)
    assert not thread.is_alive()


def test_a_device_only_a_name_speaks_of_is_said_when_it_is_there_and_not_when_another_is(
    drive: Making,
) -> None:
    route = Route("server", "127.0.0.1:5037", SERIAL)
    rig = drive(phone(), route)
    assert not rig.driver.is_announced
    rig.there.props["ro.serialno"] = "OTHER"
    rig.driver.turn()
    assert not rig.driver.is_announced
    rig.device.add_route(route)
    rig.there.faults.unauthorized = True
    rig.driver.turn()
    assert rig.driver.is_announced
