"""One PostgreSQL database for test after test, each of which finds it as if it had just been made.

Place: under the tests of the scaled shape. To copy and drop a database of so many files costs a hundred times
what emptying it does. Invariants: whoever gets it finds no row, no used sequence, no other session, and the
schema the template has, object by object (what touched the schema makes the next one anew); its name is new
each time, so that what still runs of an earlier test finds no database. It judges no test: sessions that were
left open are ended, as dropping the database would.
"""

from __future__ import annotations

from uuid import uuid4

import psycopg
from psycopg import sql

from paceline_server.store.migrations import VERSION_TABLE
from paceline_server.testing.servers import PostgreSQL

ENDS_WITHIN_MS = 5_000
SCHEMA = """
SELECT md5(string_agg(one, ' ' ORDER BY one)) FROM (
  SELECT concat_ws('.', 'class', oid, xmin) FROM pg_class WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws('.', 'column', attrelid, attnum, a.xmin) FROM pg_attribute a
    JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws('.', 'constraint', oid, xmin) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws('.', 'trigger', oid, xmin) FROM pg_trigger
  UNION ALL SELECT concat_ws('.', 'function', oid, xmin) FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws('.', 'type', oid, xmin) FROM pg_type WHERE typnamespace = 'public'::regnamespace
  UNION ALL SELECT concat_ws('.', 'schema', oid, xmin) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp'
  UNION ALL SELECT concat_ws('.', 'extension', oid, xmin) FROM pg_extension
  UNION ALL SELECT concat_ws('.', 'version', version_num, xmin) FROM {version}
) AS objects (one)
"""
"""Every object with the transaction that last wrote it: deleting rows writes none of them."""
TOUCHED = """
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
AND relname <> %s AND pg_relation_size(oid) > 0
"""
COUNTED = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL"


class EmptiedDatabase:
    """`take()` it, use it, `give_back()`; one test at a time."""

    def __init__(self, server: PostgreSQL, template: str) -> None:
        self._server, self._template = server, template
        self._name: str | None = None
        self._schema = ""

    def take(self) -> str:
        """The name of a database with nothing in it but the template's schema."""
        if self._name is None:
            self._name = _new_name()
            self._server.create_database(self._name, template=self._template)
            with self._connected(self._name) as connection:
                self._schema = _schema(connection)
        return self._name

    def give_back(self) -> None:
        """Empty it under another name; dropped where that cannot be, or its schema is no longer the same."""
        before, self._name = self._name, None
        assert before is not None, "it was taken"  # noqa: S101 - a misuse by a fixture
        after = _new_name()
        try:
            with self._connected("postgres") as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity WHERE datname = %s",
                    (ENDS_WITHIN_MS, before),
                )
                connection.execute(
                    sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                        sql.Identifier(before), sql.Identifier(after)
                    )
                )
        except psycopg.errors.ObjectInUse:  # somebody came again meanwhile
            self._server.drop_database(before)
            return
        with self._connected(after) as connection:
            same = _schema(connection) == self._schema
            if same:
                _empty(connection)
        if same:
            self._name = after
        else:
            self._server.drop_database(after)

    def drop(self) -> None:
        """At the end."""
        if self._name is not None:
            self._server.drop_database(self._name)

    def _connected(self, database: str) -> psycopg.Connection:
        where = self._server.url(database).replace("postgresql+psycopg:", "postgresql:")
        return psycopg.connect(where, autocommit=True)


def _new_name() -> str:
    return f"test_{uuid4().hex[:12]}"


def _schema(connection: psycopg.Connection) -> str:
    """What the schema is, as one text; another one where a table of the version is missing."""
    try:
        found = connection.execute(
            sql.SQL(SCHEMA).format(version=sql.Identifier(VERSION_TABLE))
        ).fetchone()
    except psycopg.errors.UndefinedTable:
        return "no version"
    return str(found)


def _empty(connection: psycopg.Connection) -> None:
    """Delete every row and start every sequence anew. VACUUM gives the pages back, so that rows lie in the
    order they came in again, as in tables just made."""
    tables = [
        sql.Identifier(name)
        for (name,) in connection.execute(TOUCHED, (VERSION_TABLE,))
    ]
    if tables:
        # Rows that refer to each other go together, and nothing of it is to be checked or triggered.
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            sql.SQL("; ").join(
                sql.SQL("DELETE FROM {}").format(table) for table in tables
            )
        )
        connection.execute(sql.SQL("VACUUM {}").format(sql.SQL(", ").join(tables)))
    for (name,) in connection.execute(COUNTED).fetchall():
        connection.execute(
            "SELECT setval(%s::regclass, 1, false)", (f'public."{name}"',)
        )
