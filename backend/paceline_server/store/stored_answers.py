"""Claims the idempotency keys of requests, and stores the answers in the transaction of what the requests made.

Of two requests with one key, the second waits for the transaction of the first: on PostgreSQL for the primary key, on
SQLite for the only writer.
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
"""Answers are kept longer than any client retries."""


@dataclass(frozen=True)
class RequestKey:
    """An idempotency key of a principal in a project, with the digest of its request."""

    project_id: str
    principal: str
    key: str
    request_sha256: str


def claim(session: Session, wanted: RequestKey, at: datetime) -> StoredAnswer | None:
    """Claim a key for this transaction; returns the stored answer if the key is taken. Deletes old answers."""
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
    insert_once = insert.on_conflict_do_nothing().returning(StoredAnswer.key)
    if session.execute(insert_once).first() is not None:
        return None
    query = select(StoredAnswer).where(*_matches(wanted))
    return session.scalars(query).one()


def store_answer(
    session: Session, key: RequestKey, status: int | None, answer: dict[str, Any]
) -> None:
    """Store the answer of a key that this transaction has claimed."""
    session.execute(
        update(StoredAnswer)
        .where(*_matches(key))
        .values(status=status, answer=answer)
        .execution_options(synchronize_session=False)
    )


def _matches(wanted: RequestKey) -> tuple[Any, ...]:
    return (
        StoredAnswer.project_id == wanted.project_id,
        StoredAnswer.principal == wanted.principal,
        StoredAnswer.key == wanted.key,
    )
