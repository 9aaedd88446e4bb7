"""Suites as their agents announced them; the manifest is kept whole, by hash."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, OrderedJson, Timestamp


class Suite(Base):
    """The newest announcement of a suite. Jobs freeze the manifest they ran with (`Run.manifest`)."""

    __tablename__ = "suite"
    name: Mapped[str] = mapped_column(String, primary_key=True)
    repository: Mapped[str]
    manifest_path: Mapped[str]
    manifest: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    manifest_hash: Mapped[str]
    commit: Mapped[str]
    branch: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class SuiteAgent(Base):
    """Which agents can run a suite (have its repository in their allow-list)."""

    __tablename__ = "suite_agent"
    suite: Mapped[str] = mapped_column(String, primary_key=True)
    agent_id: Mapped[str] = mapped_column(String, primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(Timestamp)
