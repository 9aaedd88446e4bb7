"""Defines suites as agents announced them, with the whole manifest."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, OrderedJson, Timestamp
from paceline_server.store.owned import ProjectKeyed


class Suite(ProjectKeyed, Base):
    """The newest announcement of a suite. Jobs freeze the manifest they ran with (`Run.manifest`)."""

    __tablename__ = "suite"
    name: Mapped[str] = mapped_column(String, primary_key=True)
    repository: Mapped[str]
    """The name that the first agent to announce it gives its repository; another agent may use another name."""
    location: Mapped[str | None]
    """The location of the repository that the suite belongs to (`paceline_contract/locations.py`). Null: an older
    agent announced it, which names no location."""
    manifest_path: Mapped[str]
    manifest: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    manifest_hash: Mapped[str]
    commit: Mapped[str]
    branch: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class SuiteAgent(ProjectKeyed, Base):
    """An agent that can run a suite, because its allow-list has the suite's repository and its grant the location."""

    __tablename__ = "suite_agent"
    suite: Mapped[str] = mapped_column(String, primary_key=True)
    agent_id: Mapped[str] = mapped_column(String, primary_key=True)
    repository: Mapped[str | None]
    """The name that this agent gives the suite's repository; null: that of `Suite.repository`."""
    seen_at: Mapped[datetime] = mapped_column(Timestamp)
