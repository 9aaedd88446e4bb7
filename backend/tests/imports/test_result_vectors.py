"""The golden results as a request body or a JSON column of the store gives them back: with other spaces and orders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from paceline_contract.results import read_result, result_id

GOLDEN = json.loads(
    (
        Path(__file__).parents[3] / "native/protocol/vectors/results.golden.json"
    ).read_bytes()
)


def turned(value: Any) -> Any:
    """The same JSON with the names of its objects in the opposite order."""
    if isinstance(value, list):
        return [turned(inner) for inner in value]
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return value


@pytest.mark.parametrize(
    "vector", GOLDEN["accepted"], ids=lambda vector: vector["name"]
)
def test_a_result_keeps_its_id_in_the_store(vector: Any) -> None:
    """What was imported before is recognised by it."""
    data = json.dumps(turned(vector["document"]), indent=3).encode()
    assert result_id(read_result(data)) == vector["id"]
