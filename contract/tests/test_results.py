"""Tests of the canonical result: golden vectors, the schema for others, and limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from paceline_contract import results
from paceline_contract.results import (
    MeasuredCase,
    ResultError,
    encode_result,
    join_params,
    read_result,
    result_id,
)

PROTOCOL = Path(__file__).parents[2] / "native/protocol"
GOLDEN = json.loads((PROTOCOL / "vectors/results.golden.json").read_bytes())
SCHEMA = json.loads((PROTOCOL / "result.schema.json").read_bytes())
BEYOND_A_SCHEMA = {
    "one name twice",
    "one case under two names",
    "neither samples nor summary",
    "samples and a summary",
    "no metrics",
    "a metric twice",
    "figures of a failed case",
    "a time without a zone",
    "a line end after the commit",
}
"""What the contract refuses and a schema cannot say, or this validator, whose `$` matches before a line end."""


def name_of_vector(vector: Any) -> str:
    return str(vector["name"])


def data_of(document: Any) -> bytes:
    return json.dumps(document).encode()


@pytest.mark.parametrize("vector", GOLDEN["accepted"], ids=name_of_vector)
def test_a_golden_result_is_read_with_its_id_and_written_as_it_was(vector: Any) -> None:
    result = read_result(data_of(vector["document"]))
    assert result_id(result) == vector["id"]
    assert read_result(encode_result(result)) == result


@pytest.mark.parametrize("vector", GOLDEN["refused"], ids=name_of_vector)
def test_a_document_out_of_contract_is_refused_with_its_place(vector: Any) -> None:
    with pytest.raises(ResultError) as refused:
        read_result(data_of(vector["document"]))
    assert vector["why"] in str(refused.value)


def test_the_schema_agrees_with_the_vectors() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    schema = Draft202012Validator(SCHEMA)
    for vector in GOLDEN["accepted"]:
        schema.validate(vector["document"])
    accepted = {
        vector["name"]
        for vector in GOLDEN["refused"]
        if schema.is_valid(vector["document"])
    }
    assert accepted == BEYOND_A_SCHEMA


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b'{"format":"paceline.result/1",', b"[" * 100_000],
    ids=["nothing", "not UTF-8", "truncated", "deep"],
)
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ResultError, match=r"expected a paceline.result/1 in JSON"):
        read_result(data)


def test_a_document_beyond_a_limit_is_refused_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cases = [{"name": str(at), "benchmark": str(at)} for at in range(100_001)]
    document = {"format": results.FORMAT, "tool": "go", "cases": cases}
    with pytest.raises(ResultError, match=r"<= 100000.*cases"):
        read_result(data_of(document))
    monkeypatch.setattr(results, "MAX_BYTES", 10)
    with pytest.raises(ResultError, match="it has 11 bytes: expected at most 10"):
        read_result(b" " * 11)


@pytest.mark.parametrize(
    ("params", "value"),
    [
        ({}, None),
        ({"value": "64"}, "64"),
        ({"size": "64"}, "64"),
        ({"size": ""}, None),
        ({"size": 64, "order": "random"}, "size=64 order=random"),
    ],
)
def test_params_of_a_case_are_one_text(params: dict[str, Any], value: Any) -> None:
    assert join_params(params) == MeasuredCase("x", "x", params).value == value
