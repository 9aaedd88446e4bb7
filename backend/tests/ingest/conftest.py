"""Fixtures of uploads: a leased job, and the rows stored for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.store.session import Database, read_scope
from paceline_server.store.tables.samples import Item
from paceline_server.testing.scripted_agent import (
    LeasedJob,
    ScriptedAgent,
    announce,
)
from sqlalchemy import func, select

PREFIX = "/api/v1"
Make = Callable[..., Any]


@pytest.fixture
def ci(token: Make) -> dict[str, str]:
    return dict(token("ingest", "read"))


@pytest.fixture
def leased(client: TestClient, enrolled: Make, ci: dict[str, str]) -> LeasedJob:
    """A job that is being measured."""
    lab = enrolled("lab-1")
    announce(lab.agent_id)
    assert (
        client.post(f"{PREFIX}/runs", json={"suite": "demo"}, headers=ci).status_code
        == 201
    )
    job = ScriptedAgent(client, lab.headers).lease()
    assert job.report("measuring").status_code == 204
    return job


@pytest.fixture
def stored(database: Database) -> Make:
    """`stored()` counts items, `stored(Table)` rows of a table."""

    def count(table: type[Any] = Item) -> int:
        with read_scope() as session:
            return session.scalars(select(func.count()).select_from(table)).one()

    return count
