"""The server accepts exactly the golden manifests that the contract accepts."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paceline_server.catalog import service as catalog
from paceline_server.catalog.schemas import SuiteAnnounceIn
from paceline_server.store.session import session_scope

PROTOCOL = Path(__file__).parents[3] / "native" / "protocol"
VECTORS: dict[str, Any] = json.loads(
    (PROTOCOL / "vectors" / "manifests.golden.json").read_text("utf-8")
)


def test_the_server_takes_the_manifests_that_the_agent_takes(
    enrolled: Callable[..., Any],
) -> None:
    agent_id = enrolled("lab").agent_id
    for vector in VECTORS["manifests"]:
        text = "\n".join(VECTORS["base"]) + "\n"
        for old, new in vector["replace"]:
            assert old in text
            text = text.replace(old, new, 1)
        announcement = SuiteAnnounceIn(
            repository="mine",
            manifest_path="suite.toml",
            manifest=tomllib.loads(text),
            commit="0123456789ab",
        )
        with session_scope() as session:
            outcome = catalog.store_announcement(
                session, agent_id, catalog.read_announcement([announcement]), ["**"]
            )
        assert bool(outcome.names) is vector["ok"], vector["says"]
        assert bool(outcome.refused) is not vector["ok"], vector["says"]
