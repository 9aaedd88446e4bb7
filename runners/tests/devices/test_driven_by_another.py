"""A device that another agent drives, or may drive: it is announced, and nothing more is done with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline.adb.fake import FakeDevice
from paceline.adb.port import Route
from paceline.devices.attached_device import AttachedDevice
from paceline.stop import Stop

from .driving import SERIAL, WORK, Broken, Drive, Making
from .support import battery, phone

LOOKED = {"getprop", "cat"}
"""Who it is, which boot, and once what it is."""


def taken(drive: Making, there: FakeDevice | None = None, *routes: Route) -> Drive:
    one = drive(there or phone(), *routes)
    one.driver.turn()
    one.server.driven_by[SERIAL] = "lab-2"
    one.beat()
    one.there.calls.clear()
    return one


def turned(one: Drive, times: int = 8) -> set[str]:
    """The programs that ran there meanwhile."""
    for _ in range(times):
        one.driver.safe_turn()
        one.beat()
    return {argv[0] for argv in one.there.calls}


def test_nothing_is_read_checked_cleaned_or_leased_and_it_stays_announced(
    drive: Making,
) -> None:
    one = taken(drive)
    job = one.server.add_job("mine", WORK, SERIAL)
    one.server.checks_due = {SERIAL}
    one.server.orders[SERIAL] = [
        {"id": "ord_1", "kind": "reboot"},
        {"id": "ord_2", "kind": "check"},
    ]
    assert turned(one) <= LOOKED
    said = one.beat()
    assert said["connection"]["state"] == "online"
    assert (said["orders_done"], said["orders_refused"], said["recovery"]) == (
        [],
        [],
        [],
    )
    assert not {"gates", "check"} & said.keys()
    assert (one.cleaned, job.attempt, one.server.checks) == ([], 0, [])


def test_it_is_asked_who_it_is_no_more_often_than_others_are(drive: Making) -> None:
    one = drive()
    one.driver._pace = type(one.driver._pace)(retry_s=0.0, look_s=0.0, others_s=1e6)
    one.driver.turn()
    one.server.driven_by[SERIAL] = "lab-2"
    one.beat()
    one.there.calls.clear()
    assert turned(one) == set()


def test_an_episode_of_recovery_ends_where_another_agent_takes_over(
    drive: Making,
) -> None:
    one = drive(phone(kind=Broken), Route("server", "127.0.0.1:5037", SERIAL))
    one.server.checks_due = {SERIAL}
    one.turns(lambda: one.server.recovery)
    one.server.driven_by[SERIAL] = "lab-2"
    one.beat()
    rungs, reconnects = len(one.server.recovery), len(one.ways.reconnects)
    one.there.calls.clear()
    assert turned(one, 20) <= LOOKED
    assert (len(one.server.recovery), len(one.ways.reconnects)) == (rungs, reconnects)
    assert one.server.checks == []


def test_no_rung_is_climbed_for_its_silence(drive: Making) -> None:
    one = taken(drive, None, Route("server", "127.0.0.1:5037", SERIAL))
    one.there.faults.offline = True
    one.there.cut()
    turned(one)
    assert one.beat()["connection"]["state"] == "offline"
    assert (one.server.recovery, one.ways.reconnects) == ([], [])


def test_what_was_read_before_is_not_said_when_it_is_this_agents_again(
    drive: Making,
) -> None:
    one = drive()
    battery(one.there, 80, 36.0)
    one.turns(lambda: one.server.heartbeats[-1]["targets"][0]["refuses"])
    one.server.driven_by[SERIAL] = "lab-2"
    one.beat()
    turned(one, 1)
    said = one.beat()
    assert said["refuses"] is None
    assert "gates" not in said
    battery(one.there, 80, 30.0)
    del one.server.driven_by[SERIAL]
    one.beat()
    one.turns(lambda: one.server.heartbeats[-1]["targets"][0].get("gates"))
    assert one.beat()["gates"]["battery_c"] == 30.0
    assert one.cleaned[-1:] == [SERIAL]


@pytest.mark.parametrize("turns", [1, 3])
def test_gates_are_not_read_before_the_server_said_whose_the_device_is(
    drive: Making, turns: int
) -> None:
    one = drive()
    for _ in range(turns):
        one.driver.turn()
    assert {argv[0] for argv in one.there.calls} <= {*LOOKED, "uname"}


def test_no_rung_is_climbed_for_silence_before_the_server_said_whose_the_device_is(
    drive: Making,
) -> None:
    one = drive(phone(), Route("server", "127.0.0.1:5037", SERIAL))
    one.there.faults.offline = True
    for _ in range(8):
        one.driver.safe_turn()
    assert one.device.link.state == "offline"
    assert one.driver.entry()["recovery"] == []
    assert one.ways.reconnects == []
    one.turns(lambda: one.ways.reconnects)  # it is this agent's
    steps = [rung["step"] for rung in one.server.recovery]
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
    one = drive()
    one.driver.safe_turn()
    one.there.reboot()
    for _ in range(4):
        one.driver.safe_turn()
    assert {argv[0] for argv in one.there.calls} <= {*LOOKED, "uname", "reboot"}
    one.turns(lambda: one.server.checks)


def test_no_rung_is_climbed_for_the_silence_of_a_device_in_other_hands(
    drive: Making, tmp_path: Path
) -> None:
    one = drive(phone(), Route("server", "127.0.0.1:5037", SERIAL))
    one.there.faults.offline = True
    one.driver.safe_turn()
    assert one.device.link.state == "offline"
    hand = AttachedDevice(
        SERIAL, tmp_path / "hand", one.ways.open, one.device.routes, locks=tmp_path
    )
    with hand.claim(Stop()):
        turned(one)
        assert (one.server.recovery, one.ways.reconnects) == ([], [])
    one.turns(lambda: one.ways.reconnects)
