"""Defines the audit log, which says who changed what."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, OrderedJson, Timestamp
from paceline_server.store.owned import PerhapsOwned
from paceline_server.store.tables.messages import NEVER_REUSED, Serial


class AuditEntry(PerhapsOwned, Base):
    """An entry of the audit log, added in the transaction of the change."""

    __tablename__ = "audit_entry"
    __table_args__ = (
        Index("ix_audit_entry_project_id", "project_id", "id"),
        NEVER_REUSED,
    )
    id: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    at: Mapped[datetime] = mapped_column(Timestamp)
    actor: Mapped[str]
    """The author's name at that time."""
    actor_kind: Mapped[str]
    """account | token | agent | system | anonymous."""
    actor_id: Mapped[str | None]
    action: Mapped[str]
    object_kind: Mapped[str]
    object_id: Mapped[str] = mapped_column(String, index=True)
    detail: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
