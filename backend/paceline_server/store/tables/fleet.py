"""Agents, the targets they drive, and enrolment codes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp


class EnrolmentCode(Base):
    __tablename__ = "enrolment_code"
    code_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_by: Mapped[str | None]


class Agent(Base):
    __tablename__ = "agent"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    version: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_seen_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Target(Base):
    """Identity is `(kind, serial)`; the route (agent) and the fingerprint may change and are kept current."""

    __tablename__ = "target"
    __table_args__ = (UniqueConstraint("kind", "serial"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    kind: Mapped[str]
    serial: Mapped[str]
    name: Mapped[str]
    agent_id: Mapped[str] = mapped_column(ForeignKey("agent.id"), index=True)
    hold: Mapped[str | None]
    hold_reason: Mapped[str | None]
    refuses: Mapped[str | None]
    factors: Mapped[dict[str, Any]] = mapped_column(Json)
    fingerprint: Mapped[str]
    preflight: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    simulated: Mapped[bool]
    last_seen_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
