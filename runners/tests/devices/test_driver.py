"""One device's turns: orders, checks, the ladder, gates and leases, against a server on a socket."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from paceline.adb.port import Route
from paceline.devices.attached_device import AttachedDevice
from paceline.devices.driver import DeviceDriver, DriverIntervals, DriverServices
from paceline.devices.heartbeat_report import fit_for_wire
from paceline.stop import Stop

from .driving import SERIAL, WORK, Broken, Making, Mended, Stammering
from .support import battery, phone, thermal
from .test_check import GOOD


def test_an_idle_device_says_who_it_is_how_it_is_and_by_which_route(
    drive: Making,
) -> None:
    one = drive()
    one.driver.turn()
    said = one.beat()
    assert (said["kind"], said["serial"], said["name"]) == (
        "device",
        SERIAL,
        "Phone 7 · 0001",
    )
    assert said["connection"] == {
        "state": "online",
        "reason": None,
        "advice": None,
        "route": "home",
    }
    assert said["boot_id"] == one.there.boot_id
    assert said["factors"]["soc"] == "SOC1"
    assert len(said["fingerprint"]) == 64
    assert one.beat()["refuses"] is None


def test_a_check_that_is_due_is_run_once_and_said_until_it_was_heard(
    drive: Making,
) -> None:
    one = drive()
    one.server.checks_due = {SERIAL}
    one.server.health[SERIAL] = "checking"
    one.beat()
    one.driver.turn()
    one.server.broken = {"/heartbeat": 0}
    said = one.driver.entry()
    assert said["check"]["ok"], said["check"]
    assert said["check"]["started_at_ms_ago"] >= said["check"]["took_ms"] - 1
    assert one.driver.entry()["check"]["id"] == said["check"]["id"]
    one.beat()
    assert "check" not in one.driver.entry()
    one.driver.turn()
    assert len(one.server.checks) == 1
    assert one.cleaned == [SERIAL]


def test_sha_instructions_are_told_by_each_check_and_are_no_factor_of_the_fingerprint(
    drive: Making, tmp_path: Path
) -> None:
    one = drive()
    one.driver.turn()
    found = [one.beat()]
    for hardware in (
        None,
        True,
        False,
    ):  # no self-test is built yet; then by two programs, of two launches
        if hardware is not None:
            one.self_test = tmp_path / f"self-test-{hardware}"
            one.self_test.write_text(
                f"echo '{json.dumps({**GOOD, 'hardware_sha': hardware})}'"
            )
        one.server.checks_due = {SERIAL}
        one.beat()
        one.turns(lambda: not one.server.checks_due)
        found.append(one.beat())
    told = [
        step
        for check in one.server.checks
        for step in check["steps"]
        if step["name"] == "self_test"
    ]
    assert [(step["value"], step["unit"]) for step in told] == [
        (None, None),
        (1.0, "hardware_sha"),
        (0.0, "hardware_sha"),
    ]
    assert len({said["fingerprint"] for said in found}) == 1, (
        "a series is not cut by what a check learns"
    )
    assert all("sha" not in name for said in found for name in said["factors"])


def test_a_good_device_leases_for_itself_alone(drive: Making) -> None:
    one = drive()
    other = one.server.add_job("other", WORK, "SOMEBODY")
    mine = one.server.add_job("mine", WORK, SERIAL)
    one.server.health[SERIAL] = "suspect"
    one.beat()
    for _ in range(3):
        one.driver.turn()
    assert mine.attempt == 0
    one.server.health[SERIAL] = "good"
    one.turns(lambda: mine.finish)
    assert mine.finish is not None
    assert (
        mine.finish["cause"] == "checkout_failed"
    )  # this agent has no repository at all
    assert other.attempt == 0


def test_gates_that_hold_keep_jobs_away_and_say_why(drive: Making) -> None:
    one = drive()
    battery(one.there, 80, 36.0)
    one.turns(lambda: one.server.heartbeats[-1]["targets"][0].get("gates"))
    said = one.beat()
    assert "36.0 °C" in said["refuses"]
    assert said["gates"]["battery_c"] == 36.0
    assert [finding["code"] for finding in said["preflight"]] == ["hot"]
    battery(one.there, 80, 33.0)  # between the limits: it still rests
    one.driver.turn()
    assert one.beat()["refuses"]
    battery(one.there, 80, 31.5)
    one.driver.turn()
    assert one.beat()["refuses"] is None


def test_a_throttling_device_is_unfit_and_no_rung_is_climbed_for_it(
    drive: Making,
) -> None:
    one = drive()
    thermal(one.there, 3)
    one.server.checks_due = {SERIAL}
    one.beat()
    one.turns(lambda: one.server.checks)
    (check,) = one.server.checks
    assert (check["ok"], check["infrastructure"]) == (False, False)
    assert one.server.recovery == []


def test_what_a_restart_mends_is_reported_good_with_the_rungs_it_took(
    drive: Making,
) -> None:
    one = drive(phone(kind=Mended))
    one.server.checks_due = {SERIAL}
    one.beat()
    one.turns(lambda: one.server.checks)
    assert [check["ok"] for check in one.server.checks] == [True]
    steps = [said["step"] for said in one.server.recovery]
    assert steps == [
        "reconnect",
        "reconnect",
        "new_connection",
        "new_connection",
        "reboot",
    ]
    assert one.there.calls.count(["reboot"]) == 1


def test_what_nothing_mends_ends_in_giving_up_with_its_evidence(drive: Making) -> None:
    route = Route("server", "127.0.0.1:5037", SERIAL)
    one = drive(phone(kind=Broken), route)
    one.server.checks_due = {SERIAL}
    one.beat()
    one.turns(lambda: one.server.checks)
    (check,) = one.server.checks
    assert (check["ok"], check["infrastructure"]) == (False, True)
    last = one.server.recovery[-1]
    assert last["step"] == "give_up"
    assert "digests differ" in last["text"]
    assert [said["step"] for said in one.server.recovery].count("adb_reconnect") == 1
    assert one.ways.reconnects == [route]
    before = len(one.server.recovery)
    for _ in range(5):
        one.driver.turn()
        one.beat()
    assert len(one.server.recovery) == before


def test_what_an_earlier_life_left_is_cleaned_away_once_before_the_first_job(
    drive: Making,
) -> None:
    one = drive()
    job = one.server.add_job("mine", WORK, SERIAL)
    one.beat()
    one.driver.turn()
    assert (one.cleaned, job.attempt) == ([SERIAL], 0)
    one.turns(lambda: job.finish)
    assert one.cleaned == [SERIAL]


def test_a_person_who_asks_for_a_check_after_giving_up_gets_a_new_episode(
    drive: Making,
) -> None:
    there = phone(kind=Broken)
    one = drive(there)
    one.server.checks_due = {SERIAL}
    one.beat()
    one.turns(lambda: one.server.checks)
    assert isinstance(there, Broken)
    there.wrong = False
    one.server.orders[SERIAL] = [{"id": "ord-1", "kind": "check"}]
    one.beat()
    one.turns(lambda: len(one.server.checks) == 2)
    assert one.server.checks[-1]["ok"]
    one.beat()
    assert one.server.orders[SERIAL] == []


def test_a_restart_that_was_ordered_is_carried_out_once_and_checked(
    drive: Making,
) -> None:
    one = drive()
    one.server.orders[SERIAL] = [{"id": "ord-1", "kind": "reboot"}]
    one.driver.turn()
    one.beat()
    before = one.there.boot_id
    one.turns(lambda: one.server.checks)
    assert one.there.boot_id != before
    assert one.there.calls.count(["reboot"]) == 1
    assert one.server.orders[SERIAL] == []
    assert [(said["step"], said["ok"]) for said in one.server.recovery] == [
        ("reboot", True)
    ]


def test_silence_climbs_the_low_rungs_once_and_never_gives_up(drive: Making) -> None:
    one = drive(phone(), Route("server", "127.0.0.1:5037", SERIAL))
    one.driver.turn()
    one.beat()
    one.there.faults.offline = True
    one.there.cut()
    for _ in range(12):
        one.driver.turn()
    said = one.beat()
    assert said["connection"]["state"] == "offline"
    steps = [rung["step"] for rung in said["recovery"]]
    assert steps == [
        "reconnect",
        "reconnect",
        "new_connection",
        "new_connection",
        "adb_reconnect",
    ]
    one.there.faults.offline = False
    one.driver.turn()
    assert one.beat()["connection"]["state"] == "online"


def test_an_absent_device_is_said_to_be_and_found_again(drive: Making) -> None:
    one = drive()
    one.driver.turn()
    one.there.faults.absent = True
    one.there.cut()
    one.driver.turn()
    said = one.beat()
    assert said["connection"]["state"] == "absent"
    assert said["connection"]["advice"]
    assert said["recovery"] == []
    assert said["factors"]["model"] == "Phone 7"
    one.there.faults.absent = False
    one.driver.turn()
    assert one.beat()["connection"]["state"] == "online"


def test_a_device_that_restarted_by_itself_is_checked_before_anything_else(
    drive: Making,
) -> None:
    one = drive()
    one.driver.turn()
    one.there.reboot()
    one.turns(lambda: one.server.checks)
    assert one.server.checks[0]["ok"]


def test_a_device_in_other_hands_is_left_alone(drive: Making, tmp_path: Path) -> None:
    one = drive()
    one.driver.turn()
    hand = AttachedDevice(
        SERIAL, tmp_path / "hand", one.ways.open, one.device.routes, locks=tmp_path
    )
    one.server.checks_due = {SERIAL}
    one.beat()
    with hand.claim(Stop()):
        before = len([call for call in one.there.calls if call[:1] == ["dumpsys"]])
        for _ in range(3):
            one.driver.turn()
            one.beat()
        assert (
            len([call for call in one.there.calls if call[:1] == ["dumpsys"]]) == before
        )
        assert one.server.checks == []
    one.turns(lambda: one.server.checks)


def test_leaving_ends_a_wait_at_once(drive: Making) -> None:
    one = drive()
    one.there.faults.absent = True
    slow = DeviceDriver(
        one.device,
        one.driver.lane,
        DriverServices(one.ways, one._clean),
        one.leaving,
        DriverIntervals(retry_s=1e6),
    )
    thread = threading.Thread(target=slow.run)
    thread.start()
    one.leaving.set()
    slow.leave()
    thread.join(120)
    assert not thread.is_alive()


def test_words_of_a_device_that_the_wire_does_not_take_are_replaced(
    drive: Making,
) -> None:
    one = drive(phone(kind=Stammering))
    one.server.checks_due = {SERIAL}
    one.beat()
    one.turns(lambda: one.server.checks)
    said = "".join(step["text"] for step in one.server.checks[0]["steps"])
    assert "\0" not in said
    assert all(len(step["text"]) <= 1000 for step in one.server.checks[0]["steps"])
    assert fit_for_wire("a\0b\udc80" + "x" * 2000) == "a\ufffdb?" + "x" * 996
