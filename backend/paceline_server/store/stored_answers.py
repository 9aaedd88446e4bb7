"""Claims keys of requests, and stores their answers beside what the requests made.

Of two requests with one key, the second waits for the transaction of the first: on PostgreSQL at the primary key, on
SQLite for the writer.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from paceline_server.store import access
from paceline_server.store.insert import insert_into
from paceline_server.store.tables.requests import StoredAnswer

KEEP = timedelta(days=7)
"""Longer than any client goes on trying."""


@dataclass(frozen=True)
class RequestKey:
    """A key with whose it is, and the digest of the request that it stands for."""

    project_id: str
    principal: str
    key: str
    request_sha256: str


def claim(session: Session, wanted: RequestKey, at: datetime) -> StoredAnswer | None:
    """Claim a key for this transaction; returns the stored answer if it is taken. Old answers are forgotten."""
    session.execute(delete(StoredAnswer).where(StoredAnswer.created_at < at - KEEP))
    values = {
        "principal": wanted.principal,
        "key": wanted.key,
        "request_sha256": wanted.request_sha256,
        "created_at": at,
    }
    if access.of_session(session).projects is None:
        values["project_id"] = wanted.project_id
    insert = insert_into(session, StoredAnswer).values(**values)
    claimed = insert.on_conflict_do_nothing().returning(StoredAnswer.key)
    if session.execute(claimed).first() is not None:
        return None
    query = select(StoredAnswer).where(*_is(wanted))
    return session.scalars(query).one()


def keep(
    session: Session, claimed: RequestKey, status: int | None, answer: dict[str, Any]
) -> None:
    """Store the answer of a claimed key."""
    session.execute(
        update(StoredAnswer)
        .where(*_is(claimed))
        .values(status=status, answer=answer)
        .execution_options(synchronize_session=False)
    )


def _is(wanted: RequestKey) -> tuple[Any, ...]:
    return (
        StoredAnswer.project_id == wanted.project_id,
        StoredAnswer.principal == wanted.principal,
        StoredAnswer.key == wanted.key,
    )
