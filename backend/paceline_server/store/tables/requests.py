"""Defines stored answers to requests that may be sent again."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, OrderedJson, Timestamp
from paceline_server.store.owned import ProjectKeyed


class StoredAnswer(ProjectKeyed, Base):
    """The answer to a request with an `Idempotency-Key`, stored in the transaction of what the request made."""

    __tablename__ = "stored_answer"
    principal: Mapped[str] = mapped_column(String, primary_key=True)
    """Kind and id of the actor that sent it."""
    key: Mapped[str] = mapped_column(String, primary_key=True)
    request_sha256: Mapped[str]
    """The digest of method, path, query and body."""
    status: Mapped[int | None]
    """The HTTP status; null: that of the route."""
    answer: Mapped[dict[str, Any] | None] = mapped_column(OrderedJson)
    """Null until the transaction that makes it ends, and for an answer with a secret, which is shown only once."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, index=True)
