"""Shares between tests what is costly to make: a migrated database, which is emptied after each test instead of being
created again, and compiled SQL statements.

Emptying takes a hundredth of the time of copying and dropping. Each test finds no rows, fresh sequences, no other
session and the template's schema; a test that changes the schema makes the next one start from a new database. The
name changes each time, so that leftovers of an earlier test cannot reach it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import sql
from sqlalchemy import Dialect, Engine, create_engine
from sqlalchemy.util import LRUCache

from paceline_server.store.migrations import VERSION_TABLE
from paceline_server.testing.servers import PostgreSQL


def shared_directory(own: Path) -> Path:
    """Return the directory of all workers of this run; `own`: this process's base directory for temporary files."""
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def made_once(path: Path, make: Callable[[Path], object]) -> Path:
    """`path`, made by `make` unless another process has made it. What is only half made has another name."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            unfinished = path.with_name(f"{path.name}.unfinished-{os.getpid()}")
            make(unfinished)
            unfinished.rename(path)
    return path


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
"""A digest of every object and the transaction that last wrote it; deleting rows does not change it."""
TOUCHED = """
SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
AND relname <> %s AND pg_relation_size(oid) > 0
"""
COUNTED = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL"


class ReusedDatabase:
    """`take()` it, use it, `give_back()`; one test at a time."""

    def __init__(self, server: PostgreSQL, template: str) -> None:
        self._server, self._template = server, template
        self._name: str | None = None
        self._schema = ""
        self._projects: list[tuple[Any, ...]] = []
        """The rows that a new database has; all other tables are empty."""

    def take(self) -> str:
        """Return the name of a database that has the template's schema and no rows."""
        if self._name is None:
            self._name = _new_name()
            self._server.create_database(self._name, template=self._template)
            with self._connect(self._name) as connection:
                self._schema = _schema(connection)
                self._projects = connection.execute("SELECT * FROM project").fetchall()
        return self._name

    def give_back(self) -> None:
        """Rename and empty it; drop it if that is impossible or its schema has changed."""
        before, self._name = self._name, None
        assert before is not None, "it was taken"  # noqa: S101 - a misuse by a fixture
        after = _new_name()
        try:
            self._server.end_sessions(before)
            with self._connect("postgres") as connection:
                connection.execute(
                    sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
                        sql.Identifier(before), sql.Identifier(after)
                    )
                )
        except psycopg.errors.ObjectInUse:  # a session has connected again
            self._server.drop_database(before)
            return
        with self._connect(after) as connection:
            same = _schema(connection) == self._schema
            if same:
                _empty(connection)
                for row in self._projects:
                    values = sql.SQL(", ").join(map(sql.Literal, row))
                    connection.execute(
                        sql.SQL("INSERT INTO project VALUES ({})").format(values)
                    )
        if same:
            self._name = after
        else:
            self._server.drop_database(after)

    def drop(self) -> None:
        """Drop the database at the end of the session."""
        if self._name is not None:
            self._server.drop_database(self._name)

    def _connect(self, database: str) -> psycopg.Connection:
        url = self._server.url(database).replace("postgresql+psycopg:", "postgresql:")
        return psycopg.connect(url, autocommit=True)


def _new_name() -> str:
    return f"test_{uuid4().hex[:12]}"


def _schema(connection: psycopg.Connection) -> str:
    """Return a digest of the schema; it differs if the version table is missing."""
    try:
        digest = connection.execute(
            sql.SQL(SCHEMA).format(version=sql.Identifier(VERSION_TABLE))
        ).fetchone()
    except psycopg.errors.UndefinedTable:
        return "no version"
    return str(digest)


def _empty(connection: psycopg.Connection) -> None:
    """Delete every row and restart every sequence. VACUUM frees the pages, so that new rows lie in the order
    of insertion, as in a new table."""
    tables = [
        sql.Identifier(name)
        for (name,) in connection.execute(TOUCHED, (VERSION_TABLE,))
    ]
    if tables:
        # Disables foreign keys and triggers, because rows refer to each other.
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


STATEMENTS = 20_000
"""More statements than all tests have together."""


def make_engine_factory() -> Callable[..., Engine]:
    """Return a `create_engine` whose engines share their compiled statements."""
    dialects: dict[str, Dialect] = {}
    compiled: LRUCache[Any, Any] = LRUCache(STATEMENTS)

    def create(url: str, **options: Any) -> Engine:
        engine = create_engine(url, **options)
        shared = dialects.get(engine.dialect.name)
        if shared is None or shared.server_version_info is None:
            dialects[engine.dialect.name] = engine.dialect
        else:
            engine.dialect = shared
        engine._compiled_cache = compiled  # no option accepts an existing cache
        return engine

    return create
