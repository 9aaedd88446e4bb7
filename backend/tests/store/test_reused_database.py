"""Tests that a used database is as good as new for the next test on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from paceline_server.store.migrations import VERSION_TABLE
from paceline_server.testing.reused_database import ReusedDatabase
from paceline_server.testing.servers import PostgreSQL
from psycopg import sql

EVENT = "INSERT INTO live_event (kind, at, data) VALUES (%s, now(), '{}') RETURNING id"


@contextmanager
def connected(postgresql: PostgreSQL, name: str) -> Iterator[psycopg.Connection]:
    where = postgresql.url(name).replace("postgresql+psycopg:", "postgresql:")
    with psycopg.connect(where, autocommit=True) as connection:
        yield connection


def location_of(postgresql: PostgreSQL, name: str) -> int:
    """Which database it is, whatever it is called."""
    with connected(postgresql, name) as connection:
        return int(
            single_value(
                connection.execute(
                    "SELECT oid FROM pg_database WHERE datname = %s", (name,)
                )
            )
        )


def single_value(cursor: psycopg.Cursor) -> Any:
    row = cursor.fetchone()
    assert row is not None
    return row[0]


def write(connection: psycopg.Connection, *kinds: str) -> list[int]:
    """Events and an incident; the events' ids."""
    connection.execute(
        "INSERT INTO incident VALUES ('i', now(), 'code', '{}') ON CONFLICT DO NOTHING"
    )
    return [single_value(connection.execute(EVENT, (kind,))) for kind in kinds]


MIGRATED = {VERSION_TABLE: 1, "project": 1}
"""Rows that a database has from its migrations."""


def rows(connection: psycopg.Connection) -> dict[str, int]:
    """The number of rows of each table that has some."""
    named = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
    counts = {
        name: single_value(
            connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))
            )
        )
        for (name,) in connection.execute(named).fetchall()
    }
    return {name: count for name, count in counts.items() if count}


def test_a_reused_database_has_no_rows_and_fresh_sequences(
    postgresql: PostgreSQL, reused_database: ReusedDatabase
) -> None:
    before = reused_database.take()
    with connected(postgresql, before) as connection:
        assert write(connection, "a", "b") == [1, 2]
        assert rows(connection) == {
            **MIGRATED,
            "incident": 1,
            "live_event": 2,
        }
        connection.execute("DELETE FROM live_event")
    was = location_of(postgresql, before)
    reused_database.give_back()
    after = reused_database.take()
    try:
        assert location_of(postgresql, after) == was
        with connected(postgresql, after) as connection:
            assert rows(connection) == MIGRATED
            assert write(connection, "c", "d") == [1, 2]
            kinds = connection.execute("SELECT kind FROM live_event").fetchall()
            assert kinds == [("c",), ("d",)], (
                "in the order they came in, as in a new table"
            )
    finally:
        reused_database.give_back()


@pytest.mark.parametrize(
    "touch",
    [
        "ALTER TABLE incident ADD COLUMN more text",
        "DROP TABLE incident",
        "CREATE INDEX more ON incident (code)",
        "ALTER TABLE incident ALTER COLUMN code DROP NOT NULL",
        "UPDATE alembic_version SET version_num = '0001'",
        "DROP TABLE alembic_version",
        "CREATE SCHEMA more",
    ],
)
def test_a_database_with_a_changed_schema_is_not_reused(
    postgresql: PostgreSQL, reused_database: ReusedDatabase, touch: str
) -> None:
    before = reused_database.take()
    with connected(postgresql, before) as connection:
        connection.execute(touch.encode())
    was = location_of(postgresql, before)
    reused_database.give_back()
    after = reused_database.take()
    try:
        assert location_of(postgresql, after) != was
        with connected(postgresql, after) as connection:
            assert rows(connection) == MIGRATED
            assert write(connection, "a") == [1]
    finally:
        reused_database.give_back()


def test_connections_of_an_earlier_test_are_closed(
    postgresql: PostgreSQL, reused_database: ReusedDatabase
) -> None:
    before = reused_database.take()
    with connected(postgresql, before) as late:
        late.execute("BEGIN")
        write(late, "late")
        reused_database.give_back()
        after = reused_database.take()
        try:
            with pytest.raises(psycopg.OperationalError):
                write(late, "later")
            with (
                pytest.raises(psycopg.OperationalError, match="does not exist"),
                connected(postgresql, before),
            ):
                pass
            with connected(postgresql, after) as connection:
                assert rows(connection) == MIGRATED
        finally:
            reused_database.give_back()
