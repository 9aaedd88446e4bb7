"""Tests that accepted items keep their content, and that every limit is enforced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from paceline_contract.item_reader import ItemError, NotJsonError, read_items
from paceline_contract.items import UNNUMBERED, LogItem

GOLDEN = json.loads(
    (
        Path(__file__).parents[2] / "native/protocol/vectors/items.golden.json"
    ).read_bytes()
)
ACCEPTED = {vector["name"]: vector["item"] for vector in GOLDEN["accepted"]}
REFUSED = {
    vector["name"]: (vector["item"], vector["field"]) for vector in GOLDEN["refused"]
}


def body(*items: Any) -> bytes:
    return json.dumps({"items": items}).encode()


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_item_of_the_golden_vectors_is_read_and_encoded_as_it_was(name: str) -> None:
    (item,) = read_items(body(ACCEPTED[name]))
    assert msgspec.to_builtins(item) == ACCEPTED[name]


@pytest.mark.parametrize("name", REFUSED)
def test_an_item_out_of_contract_is_refused_by_field(name: str) -> None:
    wrong, field = REFUSED[name]
    with pytest.raises(ItemError) as refused:
        read_items(body(ACCEPTED["log"], wrong))
    assert (refused.value.index, refused.value.field) == (1, field)


OUTPUT = ACCEPTED["conditions of a device"]["raw"][0]
LIMITS: dict[str, tuple[str, str, Any, Any]] = {
    "values of an item": ("samples", "values", [1.0], 1_000),
    "counters": ("samples", "work", {}, 16),
    "outputs": ("conditions of a device", "raw", [OUTPUT], 64),
    "lines": ("log", "lines", ["x"], 1_000),
    "fields": ("reported line", "fields", {}, 32),
}
"""Limit → item, field, unit of its size, and the largest permitted number."""


@pytest.mark.parametrize("name", LIMITS)
def test_lists_and_maps_are_accepted_up_to_their_limit(
    name: str,
) -> None:
    item, field, part, most = LIMITS[name]

    def of(count: int) -> Any:
        if isinstance(part, list):
            return {**ACCEPTED[item], field: part * count}
        entry = [1] if field == "work" else 1
        return {**ACCEPTED[item], field: {f"n{at}": entry for at in range(count)}}

    read_items(body(of(most)))
    with pytest.raises(ItemError) as refused:
        read_items(body(of(most + 1)))
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("item", "field", "most"),
    [("log", "lines", 65_536), ("reported line", "text", 1_000)],
)
def test_a_text_longer_than_its_limit_is_refused(
    item: str, field: str, most: int
) -> None:
    def of(length: int) -> Any:
        text = "x" * length
        return {**ACCEPTED[item], field: [text] if field == "lines" else text}

    read_items(body(of(most)))
    with pytest.raises(ItemError):
        read_items(body(of(most + 1)))


def test_an_item_without_a_number_is_refused() -> None:
    item = LogItem(seq=UNNUMBERED, stream="agent", lines=[])
    with pytest.raises(ItemError, match="seq"):
        read_items(body(msgspec.to_builtins(item)))


@pytest.mark.parametrize("raw", [b"", b"\xff", b'{"items":[', b'{"items":[NaN]}'])
def test_a_body_that_is_no_json_is_refused(raw: bytes) -> None:
    with pytest.raises(NotJsonError):
        read_items(raw)
