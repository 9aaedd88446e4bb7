"""Builds INSERT statements with ON CONFLICT for either database."""

from __future__ import annotations

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from paceline_server.store.base import Base


def insert_into(
    session: Session, table: type[Base] | Table
) -> postgresql.Insert | sqlite.Insert:
    """Return an INSERT into a table, in the dialect of the session's database."""
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
