"""Tests the canonical form of params, and params given as options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paceline_contract.params import (
    ParamError,
    join_values,
    params_key,
    params_text,
    parse_key,
    split_pair,
    split_values,
    typed_value,
    untyped_value,
)

VALUES = st.integers(0, 2**63 - 1) | st.text(max_size=6)
PARAMS = st.dictionaries(st.text(min_size=1, max_size=6), VALUES, max_size=4)


@given(PARAMS, PARAMS)
def test_params_are_equal_exactly_when_their_keys_are(
    params: dict[str, int | str], others: dict[str, int | str]
) -> None:
    assert (params_key(params) == params_key(others)) == (params == others)
    assert params_key(dict(reversed(params.items()))) == params_key(params)


@given(PARAMS)
def test_a_key_is_read_back(params: dict[str, int | str]) -> None:
    assert parse_key(params_key(params)) == params


def test_a_number_is_another_value_than_its_text() -> None:
    assert params_key({"n": 1}) == '{"n":1}'
    assert params_key({"n": "1"}) == '{"n":"1"}'


@pytest.mark.parametrize(
    "text", ["", "n=1", "[]", '{"n":1.5}', '{"n":true}', '{"n":null}', "[" * 100_000]
)
def test_a_key_that_is_no_object_of_params_is_refused(text: str) -> None:
    with pytest.raises(ParamError, match="JSON object"):
        parse_key(text)


def test_params_are_read_as_pairs() -> None:
    assert params_text({"batch": 1000, "order": "random"}) == "batch=1000, order=random"
    assert params_text({}) == ""


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=4))
def test_values_of_an_option_are_read_back(values: list[int]) -> None:
    assert [typed_value("int", text) for text in split_values(join_values(values))] == (
        values
    )


@pytest.mark.parametrize("text", ["", "n", "=1", "n="])
def test_an_option_without_name_or_value_is_refused(text: str) -> None:
    with pytest.raises(ParamError, match="NAME=VALUE"):
        split_pair(text)
    assert split_pair("n=a=b") == ("n", "a=b")


def test_a_value_is_read_by_its_kind_and_else_by_its_digits() -> None:
    assert (typed_value("int", "7"), typed_value("enum", "7")) == (7, "7")
    assert (untyped_value("7"), untyped_value("-7"), untyped_value("\u0667")) == (
        7,
        "-7",
        "\u0667",
    )
    with pytest.raises(ParamError, match="whole number"):
        typed_value("int", "seven")
