"""Defines outbox messages (I5), live events and incidents."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Index, Integer, String, text
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp
from paceline_server.store.owned import AboutTarget, project_of_session

Serial = BigInteger().with_variant(Integer(), "sqlite")
"""The type of ascending keys; SQLite autoincrements only INTEGER."""
NEVER_REUSED = {"sqlite_autoincrement": True}
"""Ids are not reused even if the newest rows were deleted, because readers resume after an id."""


class OutboxMessage(Base):
    """A message to carry out, added in the transaction of its cause; `done_at` is set in that of its effect."""

    __tablename__ = "outbox"
    __table_args__ = (
        Index(
            "ix_outbox_pending",
            "due_at",
            sqlite_where=text("done_at IS NULL"),
            postgresql_where=text("done_at IS NULL"),
        ),
        NEVER_REUSED,
    )
    id: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    project_id: Mapped[str] = mapped_column(String, default=project_of_session)
    """The project in which its effect runs. Sessions are not limited to it, because no person reads messages."""
    topic: Mapped[str]
    key: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    due_at: Mapped[datetime] = mapped_column(Timestamp)
    attempts: Mapped[int]
    last_error: Mapped[str | None]
    done_at: Mapped[datetime | None] = mapped_column(Timestamp)


class LiveEvent(AboutTarget, Base):
    """A change of a project's row, or of a target, which every project sees that the target is granted to."""

    __tablename__ = "live_event"
    __table_args__ = NEVER_REUSED
    id: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    kind: Mapped[str]
    at: Mapped[datetime] = mapped_column(Timestamp)
    run_id: Mapped[str | None] = mapped_column(String, index=True)
    job_id: Mapped[str | None]
    data: Mapped[dict[str, Any]] = mapped_column(Json)


class Incident(Base):
    """Something an operator of Paceline should know, such as two contents with the same identity (I7)."""

    __tablename__ = "incident"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    at: Mapped[datetime] = mapped_column(Timestamp)
    code: Mapped[str]
    detail: Mapped[dict[str, Any]] = mapped_column(Json)
