"""What the tests of both shapes stand on: a statement is compiled once per process."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline_server.store.session import Database
from paceline_server.store.tables.messages import Incident
from sqlalchemy import select
from sqlalchemy.engine.interfaces import CacheStats

SELDOM = select(Incident.code.label("seldom")).where(Incident.id == "seldom")


@pytest.mark.parametrize("scope", ["reading", "writing"])
def test_what_one_database_compiled_the_next_one_finds(
    database: Database, scope: str
) -> None:
    """As the next test would: an engine of its own."""
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
