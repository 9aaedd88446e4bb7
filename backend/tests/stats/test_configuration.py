"""Configuration errors void by name, are suppressed by name, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from paceline_server.stats.configuration import (
    CONFIGURATION_ERRORS,
    describe_error,
    found_in,
    suppressed_in,
)
from paceline_server.stats.voids import Reading, find_voids


def readings(*values: dict[str, Any]) -> list[Reading]:
    return [
        Reading("before" if at == 0 else "during", at, one)
        for at, one in enumerate(values)
    ]


@pytest.mark.parametrize("name", CONFIGURATION_ERRORS)
def test_each_error_voids_unless_it_is_suppressed_by_its_own_name(name: str) -> None:
    found = readings({"configuration": [name]}, {})
    (void,) = find_voids(found)
    assert void.code == name
    assert describe_error(name).text in void.text
    assert find_voids(found, suppress=[name]) == []
    assert find_voids(found, suppress=["another"]) == [void]
    assert suppressed_in([{"configuration": [name]}], [name, "another"]) == [name], (
        "only what was there"
    )


def test_an_error_this_server_does_not_know_voids_and_can_be_suppressed() -> None:
    found = readings({"configuration": ["method_tracing"]})
    (void,) = find_voids(found)
    assert "method tracing" in void.text
    assert find_voids(found, suppress=["method_tracing"]) == []


def test_an_error_that_appears_only_once_counts_and_is_named_once() -> None:
    values: list[dict[str, Any]] = [
        {},
        {"configuration": ["low_battery", "emulator"]},
        {"configuration": ["emulator"]},
    ]
    assert found_in(values) == ["emulator", "low_battery"]
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
def test_what_is_no_list_of_names_is_no_error(odd: Any) -> None:
    assert found_in([{"configuration": odd}]) == []
