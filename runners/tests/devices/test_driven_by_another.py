"""Tests of a device that another agent drives, or may drive: it is announced and gets no other command."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline.adb.port import Route
from paceline.devices.attached_device import AttachedDevice
from paceline.stop import Stop
from paceline.testing.fake_device import FakeDevice

from .driving import SERIAL, WORK, Broken, Drive, Making
from .support import battery, phone

LOOKED = {"getprop", "cat"}
"""The calls that read its serial, its boot id and, once, its facts."""


def calls_made(drive: Making, there: FakeDevice | None = None, *routes: Route) -> Drive:
    rig = drive(there or phone(), *routes)
    rig.driver.turn()
    rig.server.driven_by[SERIAL] = "lab-2"
    rig.beat()
    rig.there.calls.clear()
    return rig


def run_turns(drive: Drive, times: int = 8) -> set[str]:
    """The programs that ran on the device meanwhile."""
    for _ in range(times):
        drive.driver.take_turn_safely()
        drive.beat()
    return {argv[0] for argv in drive.there.calls}


def test_nothing_is_read_checked_cleaned_or_leased_and_it_stays_announced(
    drive: Making,
) -> None:
    item = calls_made(drive)
    job = item.server.add_job("mine", WORK, SERIAL)
    item.server.checks_due = {SERIAL}
    item.server.orders[SERIAL] = [
        {"id": "ord_1", "kind": "reboot"},
        {"id": "ord_2", "kind": "check"},
    ]
    assert run_turns(item) <= LOOKED
    entry = item.beat()
    assert entry["connection"]["state"] == "online"
    assert (entry["orders_done"], entry["orders_refused"], entry["recovery"]) == (
        [],
        [],
        [],
    )
    assert not {"gates", "check"} & entry.keys()
    assert (item.cleaned, job.attempt, item.server.checks) == ([], 0, [])


def test_it_is_asked_who_it_is_no_more_often_than_others_are(drive: Making) -> None:
    rig = drive()
    rig.driver._intervals = type(rig.driver._intervals)(
        retry_s=0.0, look_s=0.0, others_s=1e6
    )
    rig.driver.turn()
    rig.server.driven_by[SERIAL] = "lab-2"
    rig.beat()
    rig.there.calls.clear()
    assert run_turns(rig) == set()


def test_an_episode_of_recovery_ends_where_another_agent_takes_over(
    drive: Making,
) -> None:
    rig = drive(phone(kind=Broken), Route("server", "127.0.0.1:5037", SERIAL))
    rig.server.checks_due = {SERIAL}
    rig.turns(lambda: rig.server.recovery)
    rig.server.driven_by[SERIAL] = "lab-2"
    rig.beat()
    rungs, reconnects = len(rig.server.recovery), len(rig.backends.reconnects)
    rig.there.calls.clear()
    assert run_turns(rig, 20) <= LOOKED
    assert (len(rig.server.recovery), len(rig.backends.reconnects)) == (
        rungs,
        reconnects,
    )
    assert rig.server.checks == []


def test_no_rung_is_climbed_for_its_silence(drive: Making) -> None:
    item = calls_made(drive, None, Route("server", "127.0.0.1:5037", SERIAL))
    item.there.faults.offline = True
    item.there.cut()
    run_turns(item)
    assert item.beat()["connection"]["state"] == "offline"
    assert (item.server.recovery, item.backends.reconnects) == ([], [])


def test_what_was_read_before_is_not_said_when_it_is_this_agents_again(
    drive: Making,
) -> None:
    rig = drive()
    battery(rig.there, 80, 36.0)
    rig.turns(lambda: rig.server.heartbeats[-1]["targets"][0]["refuses"])
    rig.server.driven_by[SERIAL] = "lab-2"
    rig.beat()
    run_turns(rig, 1)
    entry = rig.beat()
    assert entry["refuses"] is None
    assert "gates" not in entry
    battery(rig.there, 80, 30.0)
    del rig.server.driven_by[SERIAL]
    rig.beat()
    rig.turns(lambda: rig.server.heartbeats[-1]["targets"][0].get("gates"))
    assert rig.beat()["gates"]["battery_c"] == 30.0
    assert rig.cleaned[-1:] == [SERIAL]


@pytest.mark.parametrize("turns", [1, 3])
def test_gates_are_not_read_before_the_server_said_whose_the_device_is(
    drive: Making, turns: int
) -> None:
    rig = drive()
    for _ in range(turns):
        rig.driver.turn()
    assert {argv[0] for argv in rig.there.calls} <= {*LOOKED, "uname"}


def test_no_rung_is_climbed_for_silence_before_the_server_said_whose_the_device_is(
    drive: Making,
) -> None:
    rig = drive(phone(), Route("server", "127.0.0.1:5037", SERIAL))
    rig.there.faults.offline = True
    for _ in range(8):
        rig.driver.take_turn_safely()
    assert rig.device.link.state == "offline"
    assert rig.driver.entry()["recovery"] == []
    assert rig.backends.reconnects == []
    rig.turns(lambda: rig.backends.reconnects)  # it is this agent's
    steps = [rung["step"] for rung in rig.server.recovery]
    assert steps == [
        "reconnect",
        "reconnect",
        "new_connection",
        "new_connection",
        "adb_reconnect",
    ]


def test_a_restart_before_the_server_said_whose_the_device_is_is_checked_after_that(
    drive: Making,
) -> None:
    rig = drive()
    rig.driver.take_turn_safely()
    rig.there.reboot()
    for _ in range(4):
        rig.driver.take_turn_safely()
    assert {argv[0] for argv in rig.there.calls} <= {*LOOKED, "uname", "reboot"}
    rig.turns(lambda: rig.server.checks)


def test_no_rung_is_climbed_for_the_silence_of_a_device_in_other_hands(
    drive: Making, tmp_path: Path
) -> None:
    rig = drive(phone(), Route("server", "127.0.0.1:5037", SERIAL))
    rig.there.faults.offline = True
    rig.driver.take_turn_safely()
    assert rig.device.link.state == "offline"
    hand = AttachedDevice(
        SERIAL, tmp_path / "hand", rig.backends.open, rig.device.routes, locks=tmp_path
    )
    with hand.claim(Stop()):
        run_turns(rig)
        assert (rig.server.recovery, rig.backends.reconnects) == ([], [])
    rig.turns(lambda: rig.backends.reconnects)
