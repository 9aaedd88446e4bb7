"""A value of a request is one that the param or knob declares."""

from __future__ import annotations

import pytest
from paceline_contract.manifest import Param
from paceline_server.jobs.declarations import MAX_TEXT_VALUE, value_fault

DIGITS = Param("regex", ["1"], pattern="[0-9]+")


@pytest.mark.parametrize("low", [None, 10])
@pytest.mark.parametrize("high", [None, 100])
@pytest.mark.parametrize("value", [0, 9, 10, 20, 100, 101, 10_000, "20"])
def test_an_int_lies_between_its_bounds_or_is_declared_where_it_has_none(
    low: int | None, high: int | None, value: int | str
) -> None:
    refused = value_fault(Param("int", [20], low, high), value)
    if isinstance(value, str):
        assert refused is not None
    elif low is None and high is None:
        assert (refused is None) == (value == 20)
    else:
        within = (low is None or value >= low) and (high is None or value <= high)
        assert (refused is None) == within


def test_a_refused_int_names_the_bound_it_missed() -> None:
    assert "at least 10" in str(value_fault(Param("int", [20], minimum=10), 9))
    assert "at most 100" in str(value_fault(Param("int", [20], maximum=100), 101))


def test_a_value_is_a_number_or_a_text_of_bounded_length() -> None:
    assert value_fault(DIGITS, "4" * MAX_TEXT_VALUE) is None
    assert "longer than" in str(value_fault(DIGITS, "4" * (MAX_TEXT_VALUE + 1)))
    for value in (True, 1.5, None, [1]):
        assert (
            value_fault(Param("int", [1]), value) == "expected a whole number or text"
        )
