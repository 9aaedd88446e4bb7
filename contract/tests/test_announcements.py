"""A manifest has one digest, on every side and in every version."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import msgspec
from paceline_contract.announcements import manifest_digest

VECTORS: dict[str, Any] = json.loads(
    (
        Path(__file__).parents[2] / "native/protocol/vectors/manifests.golden.json"
    ).read_text("utf-8")
)


def test_the_digest_of_a_golden_manifest_is_what_it_was() -> None:
    """Another value would let every agent send every manifest again, and older agents for ever."""
    raw = tomllib.loads("\n".join(VECTORS["base"]) + "\n")
    assert manifest_digest(raw) == VECTORS["base_sha256"]


def test_the_digest_survives_the_way_to_the_server_and_any_order_of_names() -> None:
    raw = {"b": [1, 2.0, True, "é\u2028"], "a": {"y": 1e22, "x": -0.5}}
    sent = json.loads(msgspec.json.encode(raw))
    assert manifest_digest(sent) == manifest_digest(raw)
    assert manifest_digest(dict(reversed(raw.items()))) == manifest_digest(raw)
    assert manifest_digest({**raw, "c": None}) != manifest_digest(raw)
