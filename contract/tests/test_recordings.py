"""Tests of the document of a measurement without a server: golden vectors, and the schema for others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from paceline_contract.item_reader import ItemError, read_items
from paceline_contract.items import AnyItem
from paceline_contract.recordings import (
    Recording,
    RecordingError,
    encode_recording,
    read_recording,
)

PROTOCOL = Path(__file__).parents[2] / "native/protocol"
GOLDEN = json.loads((PROTOCOL / "vectors/recordings.golden.json").read_bytes())
SCHEMA = json.loads((PROTOCOL / "recording.schema.json").read_bytes())
BEYOND_A_SCHEMA = {
    "a time without a zone",
    "unaffected of one revision",
    "commits of one revision",
    "a base of no commit",
}
"""Lines that the contract refuses, and a schema or this validator cannot."""


def name_of_vector(vector: Any) -> str:
    return str(vector["name"])


def data_of(lines: Sequence[Any]) -> bytes:
    texts = [json.dumps(line, separators=(",", ":")) + "\n" for line in lines]
    return "".join(texts).encode()


def read_lines(data: bytes) -> tuple[Recording, list[AnyItem]]:
    recording, bodies = read_recording(data)
    return recording, [item for body in bodies for item in read_items(body)]


def is_described(line: Any, kind: str) -> bool:
    """Return whether the schema accepts a line as this kind, `Recording` or `Items`."""
    schema = {"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}
    return Draft202012Validator(schema).is_valid(line)


@pytest.mark.parametrize("vector", GOLDEN["accepted"], ids=name_of_vector)
def test_a_golden_recording_is_read_with_its_id_and_written_as_it_was(
    vector: Any,
) -> None:
    data = data_of(vector["lines"])
    assert sha256(data).hexdigest() == vector["sha256"]
    recording, items = read_lines(data)
    batches = []
    for count in recording.items:
        batches.append(items[:count])
        del items[:count]
    again = read_recording(encode_recording(recording, batches))
    assert (again.recording, items) == (recording, [])
    assert [json.loads(body) for body in again.bodies] == vector["lines"][1:]


@pytest.mark.parametrize(
    "vector",
    [vector for vector in GOLDEN["refused"] if "line" in vector],
    ids=name_of_vector,
)
def test_a_line_out_of_contract_is_refused_with_its_place(vector: Any) -> None:
    """Vectors without a line are refused by a server, which counts and checks items."""
    with pytest.raises((RecordingError, ItemError)) as refused:
        read_lines(data_of(vector["lines"]))
    assert vector["why"] in str(refused.value)
    assert isinstance(refused.value, ItemError) == (vector["line"] > 1)


def test_the_schema_agrees_with_the_vectors_line_by_line() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    accepted = set()
    for vector in (*GOLDEN["accepted"], *GOLDEN["refused"]):
        wrong = vector.get("line")
        for number, line in enumerate(vector["lines"], 1):
            described = is_described(line, "Recording" if number == 1 else "Items")
            if number == wrong and described:
                accepted.add(vector["name"])
            assert described or number == wrong, vector["name"]
    assert accepted == BEYOND_A_SCHEMA
