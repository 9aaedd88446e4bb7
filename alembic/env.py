"""Runs migrations for `paceline_server.store.migrations`, which passes the connection.

One history of migrations serves SQLite and PostgreSQL; an advisory lock lets one process migrate PostgreSQL at a
time. There is no alembic.ini, and no `__init__.py`, which would shadow the library.
"""

from __future__ import annotations

from typing import Any, Literal

from paceline_server.store import tables  # noqa: F401 - fills the metadata
from paceline_server.store.base import Base, FloatVector, Timestamp
from sqlalchemy import Connection, text

from alembic import context

MIGRATION_LOCK = 0x7061636C  # "pacl"; any constant no other user of the database takes


def render_item(kind: str, item: Any, autogen_context: Any) -> str | Literal[False]:
    """Our own column types, written short in generated migrations."""
    if kind == "type" and isinstance(item, (Timestamp, FloatVector)):
        autogen_context.imports.add("from paceline_server.store import base")
        return f"base.{type(item).__name__}()"
    return False


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
        render_item=render_item,
    )
    with context.begin_transaction():
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
        context.run_migrations()


migrate(context.config.attributes["connection"])
