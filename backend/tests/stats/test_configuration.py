"""Configuration errors void by name, are suppressed by name, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_server.stats.configuration import (
    CONFIGURATION_ERRORS,
    describe_error,
    list_errors,
    list_suppressed,
)
from paceline_server.stats.voids import Reading, find_voids


def readings(*values: dict[str, Any]) -> list[Reading]:
    return [
        Reading("before" if at == 0 else "during", at, reading)
        for at, reading in enumerate(values)
    ]


@pytest.mark.parametrize("name", CONFIGURATION_ERRORS)
def test_each_error_voids_unless_it_is_suppressed_by_its_own_name(name: str) -> None:
    voids = readings({"configuration": [name]}, {})
    (void,) = find_voids(voids)
    assert void.code == name
    assert describe_error(name).text in void.text
    assert find_voids(voids, suppress=[name]) == []
    assert find_voids(voids, suppress=["another"]) == [void]
    assert list_suppressed([{"configuration": [name]}], [name, "another"]) == [name], (
        "only what was there"
    )


def test_an_error_this_server_does_not_know_voids_and_can_be_suppressed() -> None:
    voids = readings({"configuration": ["method_tracing"]})
    (void,) = find_voids(voids)
    assert "method tracing" in void.text
    assert find_voids(voids, suppress=["method_tracing"]) == []


def test_an_error_that_appears_only_once_counts_and_is_named_once() -> None:
    values: list[dict[str, Any]] = [
        {},
        {"configuration": ["low_battery", "emulator"]},
        {"configuration": ["emulator"]},
    ]
    assert list_errors(values) == ["emulator", "low_battery"]
    assert [void.code for void in find_voids(readings(*values))] == [
        "emulator",
        "low_battery",
    ]


def test_nothing_but_a_configuration_error_can_be_suppressed() -> None:
    (void,) = find_voids(
        readings({"thermal_status": 4}), suppress=["thermal", "thermal_status"]
    )
    assert void.code == "thermal"


@pytest.mark.parametrize("odd", [None, "emulator", {"emulator": True}, [1, None, ""]])
def test_a_value_that_is_no_list_of_names_is_ignored(odd: Any) -> None:
    assert list_errors([{"configuration": odd}]) == []
