"""What the tests of the scaled shape stand on: a database that was used is given out again as if new."""

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


def place(postgresql: PostgreSQL, name: str) -> int:
    """Which database it is, whatever it is called."""
    with connected(postgresql, name) as connection:
        return int(
            one(
                connection.execute(
                    "SELECT oid FROM pg_database WHERE datname = %s", (name,)
                )
            )
        )


def one(cursor: psycopg.Cursor) -> Any:
    found = cursor.fetchone()
    assert found is not None
    return found[0]


def write(connection: psycopg.Connection, *kinds: str) -> list[int]:
    """Events and an incident; the events' ids."""
    connection.execute(
        "INSERT INTO incident VALUES ('i', now(), 'code', '{}') ON CONFLICT DO NOTHING"
    )
    return [one(connection.execute(EVENT, (kind,))) for kind in kinds]


def rows(connection: psycopg.Connection) -> dict[str, int]:
    """Of every table that has some."""
    named = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
    counts = {
        name: one(
            connection.execute(
                sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name))
            )
        )
        for (name,) in connection.execute(named).fetchall()
    }
    return {name: count for name, count in counts.items() if count}


def test_the_next_test_finds_the_same_database_without_a_row_or_a_used_number(
    postgresql: PostgreSQL, emptied: ReusedDatabase
) -> None:
    before = emptied.take()
    with connected(postgresql, before) as connection:
        assert write(connection, "a", "b") == [1, 2]
        assert rows(connection) == {VERSION_TABLE: 1, "incident": 1, "live_event": 2}
        connection.execute("DELETE FROM live_event")
    was = place(postgresql, before)
    emptied.give_back()
    after = emptied.take()
    try:
        assert place(postgresql, after) == was
        with connected(postgresql, after) as connection:
            assert rows(connection) == {VERSION_TABLE: 1}
            assert write(connection, "c", "d") == [1, 2]
            found = connection.execute("SELECT kind FROM live_event").fetchall()
            assert found == [("c",), ("d",)], (
                "in the order they came in, as in a new table"
            )
    finally:
        emptied.give_back()


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
def test_what_touched_the_schema_is_given_to_nobody(
    postgresql: PostgreSQL, emptied: ReusedDatabase, touch: str
) -> None:
    before = emptied.take()
    with connected(postgresql, before) as connection:
        connection.execute(touch.encode())
    was = place(postgresql, before)
    emptied.give_back()
    after = emptied.take()
    try:
        assert place(postgresql, after) != was
        with connected(postgresql, after) as connection:
            assert rows(connection) == {VERSION_TABLE: 1}
            assert write(connection, "a") == [1]
    finally:
        emptied.give_back()


def test_what_still_runs_of_an_earlier_test_is_cut_off(
    postgresql: PostgreSQL, emptied: ReusedDatabase
) -> None:
    before = emptied.take()
    with connected(postgresql, before) as late:
        late.execute("BEGIN")
        write(late, "late")
        emptied.give_back()
        after = emptied.take()
        try:
            with pytest.raises(psycopg.OperationalError):
                write(late, "later")
            with (
                pytest.raises(psycopg.OperationalError, match="does not exist"),
                connected(postgresql, before),
            ):
                pass
            with connected(postgresql, after) as connection:
                assert rows(connection) == {VERSION_TABLE: 1}
        finally:
            emptied.give_back()
