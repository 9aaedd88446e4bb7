"""Readings are of when they were taken, and only of a device that could be asked."""

from __future__ import annotations

import pytest
from paceline_server.fleet.heartbeats import READING_EVERY
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import read_scope
from paceline_server.store.tables.fleet import TargetReading
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.testing.scripted_device import COOL, ScriptedDevice
from sqlalchemy import func, select

from .conftest import Person

pytestmark = pytest.mark.shapes("embedded")

ABSENT = {"state": "absent", "reason": None, "advice": None, "route": None}


def kept() -> int:
    with read_scope() as session:
        return session.scalar(select(func.count()).select_from(TargetReading)) or 0


def told() -> int:
    with read_scope() as session:
        return session.scalar(select(func.count()).select_from(LiveEvent)) or 0


def test_a_reading_that_is_repeated_for_an_hour_is_one_reading_of_when_it_was_taken(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    """What an agent sends while a job runs: it reads nothing and repeats what it knows."""
    target_id = phone.healthy()
    taken = person.target(target_id)["gates"]["at"]
    for beat in range(1, 361):
        clock.advance(10)
        jitter = beat % 3 * 200
        phone.heartbeat(gates={**COOL, "ms_ago": beat * 10_000 + jitter})
    assert kept() == 1
    assert person.target(target_id)["gates"]["at"] == taken
    phone.heartbeat(gates={**COOL, "ms_ago": 0})
    assert kept() == 2
    found = person.get(f"/targets/{target_id}/conditions")
    (track,) = [one for one in found["tracks"] if one["key"] == "battery_percent"]
    again = person.target(target_id)["gates"]["at"]
    assert [point["at"] for point in track["points"]] == [taken, again]
    assert found["gaps"] == [{"after": taken, "until": again}]
    clock.advance(2 * READING_EVERY.total_seconds())
    phone.heartbeat()
    assert len(person.get(f"/targets/{target_id}/conditions")["gaps"]) == 1, (
        "one late reading is no gap"
    )


def test_an_agent_that_does_not_tell_the_age_of_a_reading_has_its_repeats_taken_for_repeats(
    phone: ScriptedDevice, clock: FrozenClock
) -> None:
    phone.healthy()
    for _ in range(3):
        clock.advance(READING_EVERY.total_seconds())
        phone.heartbeat(gates=COOL)
    assert kept() == 1
    phone.heartbeat(gates={**COOL, "battery_c": 30.0})
    assert kept() == 2


def test_what_an_agent_knew_of_a_device_that_is_gone_is_not_taken_for_what_it_is(
    phone: ScriptedDevice, person: Person, clock: FrozenClock
) -> None:
    """It repeats boot id, gates and configuration of before while the device is away."""
    target_id = phone.healthy()
    before = person.target(target_id)
    clock.advance(READING_EVERY.total_seconds())
    hot = {**COOL, "battery_c": 48.0, "ms_ago": 0}
    heard = phone.heartbeat(
        connection=ABSENT, gates=hot, boot_id="boot-0", configuration=["emulator"]
    )
    shown = person.target(target_id)
    assert [shown[key] for key in ("gates", "boot_id", "configuration", "health")] == [
        before[key] for key in ("gates", "boot_id", "configuration", "health")
    ]
    assert (heard["health"], kept()) == ("good", 1)


def test_a_heartbeat_that_changes_nothing_tells_nobody(
    phone: ScriptedDevice, clock: FrozenClock
) -> None:
    """Also of a device that is away, whose agent knows no finding of before."""
    finding = {"code": "turbo", "level": "info", "text": "boost is on", "advice": None}
    phone.healthy()
    phone.heartbeat(preflight=[finding])
    phone.heartbeat(connection=ABSENT, preflight=[])
    before = told()
    clock.advance(10)
    phone.heartbeat(connection=ABSENT, preflight=[])
    phone.heartbeat(connection=ABSENT, preflight=[], gates=None, boot_id=None)
    assert told() == before
    phone.heartbeat(preflight=[finding])
    assert told() == before + 1
