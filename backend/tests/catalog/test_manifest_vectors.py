"""The server's reader of manifests says of every golden manifest what the agent's does: neither imports the
other, so `native/protocol/vectors/manifests.golden.json` holds both to the same answers."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from paceline_server.catalog.manifest import ManifestError, read

VECTORS: dict[str, Any] = json.loads(
    (
        Path(__file__).parents[3]
        / "native"
        / "protocol"
        / "vectors"
        / "manifests.golden.json"
    ).read_text("utf-8")
)


@pytest.mark.parametrize(
    "vector", VECTORS["manifests"], ids=lambda vector: vector["says"]
)
def test_the_server_takes_the_manifests_that_the_agent_takes(
    vector: dict[str, Any],
) -> None:
    text = "\n".join(VECTORS["base"]) + "\n"
    for old, new in vector["replace"]:
        assert old in text
        text = text.replace(old, new, 1)
    if vector["ok"]:
        read(tomllib.loads(text))
        return
    with pytest.raises(ManifestError):
        read(tomllib.loads(text))
