"""Tests of a driver's turns against a server on a socket: orders, checks, recovery, readiness and leases."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from paceline.adb.port import Route
from paceline.devices import conditions
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.driver import DeviceDriver, DriverIntervals, DriverServices
from paceline.devices.heartbeat_report import fit_for_wire
from paceline.stop import Stop
from paceline_contract.testing.waiting import WITHIN_S

from .driving import SERIAL, WORK, Broken, BrokenEcho, Making, Mended
from .parsers.test_thermal import zone
from .support import battery, phone, thermal
from .test_check import GOOD


def test_an_idle_device_says_who_it_is_how_it_is_and_by_which_route(
    drive: Making,
) -> None:
    rig = drive()
    rig.driver.turn()
    entry = rig.beat()
    assert (entry["kind"], entry["serial"], entry["name"]) == (
        "device",
        SERIAL,
        "Phone 7 · 0001",
    )
    assert entry["connection"] == {
        "state": "online",
        "reason": None,
        "advice": None,
        "route": "home",
    }
    assert entry["boot_id"] == rig.there.boot_id
    assert entry["factors"]["soc"] == "SOC1"
    assert len(entry["fingerprint"]) == 64
    assert rig.beat()["refuses"] is None


def test_a_check_that_is_due_is_run_once_and_said_until_it_was_heard(
    drive: Making,
) -> None:
    rig = drive()
    rig.server.checks_due = {SERIAL}
    rig.server.health[SERIAL] = "checking"
    rig.beat()
    rig.driver.turn()
    rig.server.broken = {"/heartbeat": 0}
    output = rig.driver.entry()
    assert output["check"]["ok"], output["check"]
    assert output["check"]["started_at_ms_ago"] >= output["check"]["took_ms"] - 1
    assert rig.driver.entry()["check"]["id"] == output["check"]["id"]
    rig.beat()
    assert "check" not in rig.driver.entry()
    rig.driver.turn()
    assert len(rig.server.checks) == 1
    assert rig.cleaned == [SERIAL]


def test_sha_instructions_are_told_by_each_check_and_are_no_factor_of_the_fingerprint(
    drive: Making, tmp_path: Path
) -> None:
    rig = drive()
    rig.driver.turn()
    result = [rig.beat()]
    for hardware in (
        None,
        True,
        False,
    ):  # no self-test is built yet; then by two programs, of two launches
        if hardware is not None:
            rig.self_test = tmp_path / f"self-test-{hardware}"
            rig.self_test.write_text(
                f"echo '{json.dumps({**GOOD, 'hardware_sha': hardware})}'"
            )
        rig.server.checks_due = {SERIAL}
        rig.beat()
        rig.turns(lambda: not rig.server.checks_due)
        result.append(rig.beat())
    told = [
        step
        for check in rig.server.checks
        for step in check["steps"]
        if step["name"] == "self_test"
    ]
    assert [(step["value"], step["unit"]) for step in told] == [
        (None, None),
        (1.0, "hardware_sha"),
        (0.0, "hardware_sha"),
    ]
    assert len({item["fingerprint"] for item in result}) == 1, (
        "a series is not cut by what a check learns"
    )
    assert all("sha" not in name for item in result for name in item["factors"])


def test_a_good_device_leases_for_itself_alone(drive: Making) -> None:
    rig = drive()
    other = rig.server.add_job("other", WORK, "SOMEBODY")
    mine = rig.server.add_job("mine", WORK, SERIAL)
    rig.server.health[SERIAL] = "suspect"
    rig.beat()
    for _ in range(3):
        rig.driver.turn()
    assert mine.attempt == 0
    rig.server.health[SERIAL] = "good"
    rig.turns(lambda: mine.finish)
    assert mine.finish is not None
    assert (
        mine.finish["cause"] == "checkout_failed"
    )  # this agent has no repository at all
    assert other.attempt == 0


def test_gates_that_hold_keep_jobs_away_and_say_why(drive: Making) -> None:
    rig = drive()
    battery(rig.there, 80, 36.0)
    rig.turns(lambda: rig.server.heartbeats[-1]["targets"][0].get("gates"))
    entry = rig.beat()
    assert "36.0 °C" in entry["refuses"]
    assert entry["gates"]["battery_c"] == 36.0
    assert [finding["code"] for finding in entry["preflight"]] == [
        "hot",
        "unknown_conditions",
    ]
    battery(rig.there, 80, 33.0)  # between the limits: it still rests
    rig.driver.turn()
    assert rig.beat()["refuses"]
    battery(rig.there, 80, 31.5)
    rig.driver.turn()
    assert rig.beat()["refuses"] is None


def test_texts_that_are_not_understood_are_logged_once_and_stay_in_the_heartbeat(
    drive: Making, caplog: pytest.LogCaptureFixture
) -> None:
    rig = drive()
    rig.there.answers[conditions.ZONES] = zone("modem", "Error: -22")
    battery(rig.there, 80, 29.0)
    text = rig.there.answers[conditions.BATTERY]
    assert isinstance(text, str)
    rig.there.answers[conditions.BATTERY] = text.replace("290", "mild")
    rig.server.checks_due = {SERIAL}
    rig.beat()
    rig.turns(lambda: not rig.server.checks_due)
    for _ in range(3):  # short readings, which leave out the thermal zones
        rig.driver.turn()
    found = {finding["code"]: finding for finding in rig.beat()["preflight"]}
    assert found["not_understood"]["level"] == "info"
    assert found["not_understood"]["text"] == (
        "2 texts are not understood and count as unknown: dumpsys battery says "
        "'temperature: mild'; thermal zones says 'modem: Error: -22'."
    )
    assert "its battery's temperature" in found["unknown_conditions"]["text"]
    assert rig.beat()["gates"]["battery_c"] is None
    assert caplog.text.count("2 texts are not understood") == 1


def test_a_throttling_device_is_unfit_and_no_rung_is_climbed_for_it(
    drive: Making,
) -> None:
    rig = drive()
    thermal(rig.there, 3)
    rig.server.checks_due = {SERIAL}
    rig.beat()
    rig.turns(lambda: rig.server.checks)
    (check,) = rig.server.checks
    assert (check["ok"], check["infrastructure"]) == (False, False)
    assert rig.server.recovery == []


def test_what_a_restart_mends_is_reported_good_with_the_rungs_it_took(
    drive: Making,
) -> None:
    rig = drive(phone(kind=Mended))
    rig.server.checks_due = {SERIAL}
    rig.beat()
    rig.turns(lambda: rig.server.checks)
    assert [check["ok"] for check in rig.server.checks] == [True]
    steps = [step["step"] for step in rig.server.recovery]
    assert steps == [
        "reconnect",
        "reconnect",
        "new_connection",
        "new_connection",
        "reboot",
    ]
    assert rig.there.calls.count(["reboot"]) == 1


def test_what_nothing_mends_ends_in_giving_up_with_its_evidence(drive: Making) -> None:
    route = Route("server", "127.0.0.1:5037", SERIAL)
    rig = drive(phone(kind=Broken), route)
    rig.server.checks_due = {SERIAL}
    rig.beat()
    rig.turns(lambda: rig.server.checks)
    (check,) = rig.server.checks
    assert (check["ok"], check["infrastructure"]) == (False, True)
    last = rig.server.recovery[-1]
    assert last["step"] == "give_up"
    assert "digests differ" in last["text"]
    assert [step["step"] for step in rig.server.recovery].count("adb_reconnect") == 1
    assert rig.backends.reconnects == [route]
    before = len(rig.server.recovery)
    for _ in range(5):
        rig.driver.turn()
        rig.beat()
    assert len(rig.server.recovery) == before


def test_what_an_earlier_life_left_is_cleaned_away_once_before_the_first_job(
    drive: Making,
) -> None:
    rig = drive()
    job = rig.server.add_job("mine", WORK, SERIAL)
    rig.beat()
    rig.driver.turn()
    assert (rig.cleaned, job.attempt) == ([SERIAL], 0)
    rig.turns(lambda: job.finish)
    assert rig.cleaned == [SERIAL]


def test_a_person_who_asks_for_a_check_after_giving_up_gets_a_new_episode(
    drive: Making,
) -> None:
    there = phone(kind=Broken)
    rig = drive(there)
    rig.server.checks_due = {SERIAL}
    rig.beat()
    rig.turns(lambda: rig.server.checks)
    assert isinstance(there, Broken)
    there.wrong = False
    rig.server.orders[SERIAL] = [{"id": "ord-1", "kind": "check"}]
    rig.beat()
    rig.turns(lambda: len(rig.server.checks) == 2)
    assert rig.server.checks[-1]["ok"]
    rig.beat()
    assert rig.server.orders[SERIAL] == []


def test_a_restart_that_was_ordered_is_carried_out_once_and_checked(
    drive: Making,
) -> None:
    rig = drive()
    rig.server.orders[SERIAL] = [{"id": "ord-1", "kind": "reboot"}]
    rig.driver.turn()
    rig.beat()
    before = rig.there.boot_id
    rig.turns(lambda: rig.server.checks)
    assert rig.there.boot_id != before
    assert rig.there.calls.count(["reboot"]) == 1
    assert rig.server.orders[SERIAL] == []
    assert [(step["step"], step["ok"]) for step in rig.server.recovery] == [
        ("reboot", True)
    ]


def test_silence_climbs_the_low_rungs_once_and_never_gives_up(drive: Making) -> None:
    rig = drive(phone(), Route("server", "127.0.0.1:5037", SERIAL))
    rig.driver.turn()
    rig.beat()
    rig.there.faults.offline = True
    rig.there.cut()
    for _ in range(12):
        rig.driver.turn()
    entry = rig.beat()
    assert entry["connection"]["state"] == "offline"
    steps = [rung["step"] for rung in entry["recovery"]]
    assert steps == [
        "reconnect",
        "reconnect",
        "new_connection",
        "new_connection",
        "adb_reconnect",
    ]
    rig.there.faults.offline = False
    rig.driver.turn()
    assert rig.beat()["connection"]["state"] == "online"


def test_an_absent_device_is_said_to_be_and_found_again(drive: Making) -> None:
    rig = drive()
    rig.driver.turn()
    rig.there.faults.absent = True
    rig.there.cut()
    rig.driver.turn()
    entry = rig.beat()
    assert entry["connection"]["state"] == "absent"
    assert entry["connection"]["advice"]
    assert entry["recovery"] == []
    assert entry["factors"]["model"] == "Phone 7"
    rig.there.faults.absent = False
    rig.driver.turn()
    assert rig.beat()["connection"]["state"] == "online"


def test_a_device_that_restarted_by_itself_is_checked_before_anything_else(
    drive: Making,
) -> None:
    rig = drive()
    rig.driver.turn()
    rig.there.reboot()
    rig.turns(lambda: rig.server.checks)
    assert rig.server.checks[0]["ok"]


def test_a_device_in_other_hands_is_left_alone(drive: Making, tmp_path: Path) -> None:
    rig = drive()
    rig.driver.turn()
    hand = AttachedDevice(
        SERIAL, tmp_path / "hand", rig.backends.open, rig.device.routes, locks=tmp_path
    )
    rig.server.checks_due = {SERIAL}
    rig.beat()
    with hand.claim(Stop()):
        before = len([call for call in rig.there.calls if call[:1] == ["dumpsys"]])
        for _ in range(3):
            rig.driver.turn()
            rig.beat()
        assert (
            len([call for call in rig.there.calls if call[:1] == ["dumpsys"]]) == before
        )
        assert rig.server.checks == []
    rig.turns(lambda: rig.server.checks)


def test_leaving_ends_a_wait_at_once(drive: Making) -> None:
    rig = drive()
    rig.there.faults.absent = True
    slow = DeviceDriver(
        rig.device,
        rig.driver.lane,
        DriverServices(rig.backends, rig._clean),
        rig.leaving,
        DriverIntervals(retry_s=1e6),
    )
    thread = threading.Thread(target=slow.run)
    thread.start()
    rig.leaving.set()
    slow.leave()
    thread.join(WITHIN_S)
    assert not thread.is_alive()


def test_words_of_a_device_that_the_wire_does_not_take_are_replaced(
    drive: Making,
) -> None:
    rig = drive(phone(kind=BrokenEcho))
    rig.server.checks_due = {SERIAL}
    rig.beat()
    rig.turns(lambda: rig.server.checks)
    output = "".join(step["text"] for step in rig.server.checks[0]["steps"])
    assert "\0" not in output
    assert all(len(step["text"]) <= 1000 for step in rig.server.checks[0]["steps"])
    assert fit_for_wire("a\0b\udc80" + "x" * 2000) == "a\ufffdb?" + "x" * 996
