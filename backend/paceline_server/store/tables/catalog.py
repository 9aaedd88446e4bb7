"""Suites as agents announced them, with the whole manifest."""

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
    """What the agent that announced it first calls its repository; another one may call it otherwise."""
    location: Mapped[str | None]
    """Where its repository is (`paceline_contract/locations.py`): the suite belongs to it. Null: announced by an
    agent of before, which names no location."""
    manifest_path: Mapped[str]
    manifest: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    manifest_hash: Mapped[str]
    commit: Mapped[str]
    branch: Mapped[str | None]
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class SuiteAgent(ProjectKeyed, Base):
    """An agent that can run a suite: its allow-list has the suite's repository, and its grant its location."""

    __tablename__ = "suite_agent"
    suite: Mapped[str] = mapped_column(String, primary_key=True)
    agent_id: Mapped[str] = mapped_column(String, primary_key=True)
    repository: Mapped[str | None]
    """What this agent calls the suite's repository; null: as the suite says."""
    seen_at: Mapped[datetime] = mapped_column(Timestamp)
