"""Tests that a statement is compiled once per process, which keeps the tests of both shapes fast."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline_server.store.session import Database
from paceline_server.store.tables.messages import Incident
from sqlalchemy import select
from sqlalchemy.engine.interfaces import CacheStats

pytestmark = pytest.mark.shapes("embedded", "scaled")

SELDOM = select(Incident.code.label("seldom")).where(Incident.id == "seldom")


@pytest.mark.parametrize("scope", ["reading", "writing"])
def test_compiled_statements_are_shared_between_databases(
    database: Database, scope: str
) -> None:
    """A second engine uses the statement, as the next test would."""
    with database.reading() as session:
        session.execute(SELDOM)
    following = Database(database.url)
    with getattr(following, scope)() as session:
        done = session.connection().execute(SELDOM)
        assert done.context.cache_hit is CacheStats.CACHE_HIT
    following.dispose()


def test_two_databases_share_no_connection_and_no_row(
    database: Database, tmp_path: Path
) -> None:
    other = Database(f"sqlite:///{tmp_path / 'other.sqlite'}")
    with other.writing() as session:
        Incident.metadata.create_all(session.connection())
        assert session.execute(select(Incident.id)).all() == []
    assert other.engine.pool is not database.engine.pool
    assert other.url != database.url
    other.dispose()
