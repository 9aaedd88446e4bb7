"""Defines bulk decisions about alerts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp
from paceline_server.store.owned import ProjectOwned


class TriageBatch(ProjectOwned, Base):
    """A bulk decision about alerts; `before` holds what undoing it needs."""

    __tablename__ = "triage_batch"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    actor: Mapped[str]
    action: Mapped[str]
    note: Mapped[str | None]
    before: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`[{alert_id, state, assignee_id, due_at, after_event_id}]`."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    undone_at: Mapped[datetime | None] = mapped_column(Timestamp)
    undone_by: Mapped[str | None]
