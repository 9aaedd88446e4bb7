"""Defines schedules: runs that the server requests by itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp
from paceline_server.store.owned import ProjectRoot


class Schedule(ProjectRoot, Base):
    """A run that the server requests periodically: A/A jobs, nightly measurements."""

    __tablename__ = "schedule"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    kind: Mapped[str]
    """a_a | measure."""
    suite: Mapped[str]
    target_id: Mapped[str | None] = mapped_column(ForeignKey("target.id"))
    """Null: every target that can run the suite and is online at that time."""
    request: Mapped[dict[str, Any]] = mapped_column(Json)
    """benchmarks, params, launches, rounds, min_time_ns."""
    every_s: Mapped[int]
    enabled: Mapped[bool]
    next_at: Mapped[datetime] = mapped_column(Timestamp, index=True)
    last_run_id: Mapped[str | None]
    missed_at: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    """When the first run was due that did not happen, since one did; null: the newest happened."""
    missed_because: Mapped[str | None] = mapped_column(default=None)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
