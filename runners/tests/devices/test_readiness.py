"""Tests of the readiness and the configuration errors of a device."""

from __future__ import annotations

from typing import Any

import pytest
from paceline.devices.parsers.battery import Battery
from paceline.devices.parsers.frequencies import Policy
from paceline.devices.readiness import (
    ReadinessCheck,
    ReadinessInputs,
    check_readiness,
    configuration_errors,
    heartbeat_values,
)

GIB = 2**30


def readings(  # noqa: PLR0917 - what a device tells, each on its own
    celsius: float | None = 27.0,
    percent: float | None = 80.0,
    status: int | None = 0,
    hottest: float | None = 40.0,
    free: int | None = 8 * GIB,
    booted: bool | None = True,
) -> ReadinessInputs:
    battery = Battery(percent=percent, celsius=celsius, powered=True)
    return ReadinessInputs(status, battery, hottest, free, booted)


def blocked_by(seen: ReadinessInputs, before: set[str] | None = None) -> set[str]:
    return {
        check.name for check in check_readiness(seen, before or set()) if check.blocks
    }


def find_check(seen: ReadinessInputs, name: str) -> ReadinessCheck:
    return next(check for check in check_readiness(seen) if check.name == name)


def test_a_cool_charged_device_with_room_is_fit() -> None:
    assert blocked_by(readings()) == set()


@pytest.mark.parametrize(
    ("celsius", "before", "holds"),
    [
        (34.9, False, False),
        (35.0, False, True),
        (34.0, True, True),
        (32.1, True, True),
        (32.0, True, False),
    ],
)
def test_a_hot_battery_holds_from_35_degrees_until_32(
    celsius: float, before: bool, holds: bool
) -> None:
    assert blocked_by(readings(celsius), {"hot"} if before else set()) == (
        {"hot"} if holds else set()
    )


@pytest.mark.parametrize(
    ("percent", "before", "holds"),
    [
        (30.0, False, False),
        (29.9, False, True),
        (30.0, True, True),
        (34.9, True, True),
        (35.0, True, False),
    ],
)
def test_a_low_battery_holds_below_30_percent_until_35(
    percent: float, before: bool, holds: bool
) -> None:
    assert blocked_by(readings(percent=percent), {"battery"} if before else set()) == (
        {"battery"} if holds else set()
    )


@pytest.mark.parametrize(
    ("status", "before", "holds"),
    [(1, False, False), (2, False, True), (1, True, True), (0, True, False)],
)
def test_throttling_holds_from_moderate_until_none(
    status: int, before: bool, holds: bool
) -> None:
    seen = readings(status=status)
    assert blocked_by(seen, {"thermal"} if before else set()) == (
        {"thermal"} if holds else set()
    )


def test_a_device_that_hovers_at_one_limit_does_not_flicker() -> None:
    before: set[str] = set()
    seen = []
    for celsius in (34.5, 35.2, 34.8, 35.1, 33.0, 32.0, 34.5):
        before = blocked_by(readings(celsius), before)
        seen.append("hot" in before)
    assert seen == [False, True, True, True, True, False, False]


def test_thermal_unknown_is_not_cool_where_nothing_else_is_known() -> None:
    nothing = readings(celsius=None, status=None, hottest=None)
    assert blocked_by(nothing) == {"thermal"}
    assert not find_check(nothing, "thermal").known
    assert "unknown is not cool" in find_check(nothing, "thermal").text


def test_an_unknown_status_is_said_where_a_temperature_stands_in_for_it() -> None:
    seen = readings(status=None)
    assert blocked_by(seen) == set()
    assert not find_check(seen, "thermal").known
    assert blocked_by(readings(status=None, celsius=41.0)) == {"hot"}


@pytest.mark.parametrize(
    ("hottest", "before", "holds"),
    [
        (59.9, False, False),
        (60.0, False, True),
        (95.0, False, True),
        (50.1, True, True),
        (50.0, True, False),
    ],
)
def test_where_nothing_else_tells_the_hottest_sensor_does(
    hottest: float, before: bool, holds: bool
) -> None:
    seen = readings(celsius=None, status=None, hottest=hottest)
    assert ("hot" in blocked_by(seen, {"hot"} if before else set())) == holds
    assert find_check(seen, "hot").known


@pytest.mark.parametrize("told", [{"status": 0}, {"celsius": 27.0}])
def test_a_core_may_be_hot_where_status_or_battery_say_that_the_device_is_not(
    told: dict[str, Any],
) -> None:
    assert (
        blocked_by(
            readings(**{"celsius": None, "status": None, "hottest": 95.0, **told})
        )
        == set()
    )


def test_what_is_not_told_is_unknown_in_the_facts_and_holds_nothing_else() -> None:
    seen = ReadinessInputs(thermal_status=0)
    assert blocked_by(seen) == set()
    assert heartbeat_values(seen) == {
        "battery_c": None,
        "battery_percent": None,
        "charging": None,
        "thermal_status": 0,
        "free_bytes": None,
    }
    assert heartbeat_values(readings())["battery_c"] == 27.0


def test_a_device_that_has_not_started_or_has_no_room_is_held_with_words() -> None:
    assert blocked_by(readings(booted=False)) == {"booted"}
    full = readings(free=100 << 20)
    assert blocked_by(full) == {"space"}
    assert find_check(full, "space").text == "100 MiB are free, 512 MiB are needed."
    assert {
        check.name
        for check in check_readiness(readings(free=GIB), free_bytes_needed=2 * GIB)
        if check.blocks
    } == {"space"}


PROPS = {"ro.build.type": "user", "ro.product.model": "Pixel 8", "ro.secure": "1"}
MOVING = [Policy(cpus=(0, 1), cap_khz=1800000, floor_khz=300000)]
LOCKED = [Policy(cpus=(0, 1), cap_khz=1800000, floor_khz=1800000)]


def names(*args: object, **more: bool) -> list[str]:
    problems = configuration_errors(*args, **more)  # type: ignore[arg-type]
    return [problem.name for problem in problems]


def test_a_users_phone_has_no_configuration_error() -> None:
    assert names(PROPS, MOVING, Battery(percent=80.0)) == []


def test_each_configuration_error_has_its_name() -> None:
    root = PROPS | {"service.adb.root": "1"}
    assert names(PROPS | {"ro.hardware": "ranchu"}) == ["emulator"]
    assert names(PROPS | {"ro.debuggable": "1"}) == ["debuggable"]
    assert names(root, MOVING) == ["unlocked_clocks"]
    assert names(PROPS, (), Battery(percent=24.0)) == ["low_battery"]
    assert names(PROPS, simulated=True) == ["simulated"]


def test_clocks_count_as_unlocked_only_where_they_could_be_locked_and_are_known_to_move() -> (
    None
):
    root = PROPS | {"service.adb.root": "1"}
    assert names(root, LOCKED) == []
    assert names(root, [Policy(cpus=(0,))]) == []
    assert names(PROPS, MOVING) == []


def test_an_unknown_charge_is_no_low_battery() -> None:
    assert names(PROPS, (), Battery()) == []
    assert names(PROPS, (), Battery(percent=25.0)) == []
