"""The golden items through ingest: accepted with the digest they always had, refused by the same field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from paceline_contract.item_reader import ItemError
from paceline_server.ingest import uploads

GOLDEN = json.loads(
    (
        Path(__file__).parents[3] / "native/protocol/vectors/items.golden.json"
    ).read_bytes()
)


def body(item: Any) -> bytes:
    return json.dumps({"items": [item]}).encode()


@pytest.mark.parametrize(
    "vector", GOLDEN["accepted"], ids=lambda vector: vector["name"]
)
def test_an_accepted_item_has_the_digest_it_always_had(vector: Any) -> None:
    """A spool that outlives an update is delivered again, and what was stored is recognised by its digest."""
    (checked,) = uploads.decode(body(vector["item"]))
    assert checked.digest.hex() == vector["digest"]


@pytest.mark.parametrize("vector", GOLDEN["refused"], ids=lambda vector: vector["name"])
def test_a_refused_item_is_refused_by_field(vector: Any) -> None:
    with pytest.raises(ItemError) as refused:
        uploads.decode(body(vector["item"]))
    assert refused.value.field == vector["field"]
