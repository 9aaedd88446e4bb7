"""Defines waivers: dated permissions for failures."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, JsonOrNull, Timestamp
from paceline_server.store.owned import ProjectRoot


class Waiver(ProjectRoot, Base):
    """A person's dated permission that lets a failure pass visibly. Its fields are those of `WaiverIn`."""

    __tablename__ = "waiver"
    __table_args__ = (Index("ix_waiver_suite", "project_id", "suite", "expires_at"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    suite: Mapped[str]
    kind: Mapped[str]
    """regression | gate | arm"""
    benchmark: Mapped[str]
    arm: Mapped[str]
    metric: Mapped[str]
    """Benchmark, arm and metric are patterns."""
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    target_id: Mapped[str | None]
    commits: Mapped[list[str] | None] = mapped_column(JsonOrNull)
    pull_request: Mapped[int | None]
    worst_ratio: Mapped[float | None] = mapped_column(Float)
    worst_actual: Mapped[float | None] = mapped_column(Float)
    """It does not cover figures worse than `worst_ratio` or `worst_actual`."""
    reason: Mapped[str]
    run_id: Mapped[str | None]
    """The run for which it was given; it lets that run pass whatever its commit."""
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    revoked_by: Mapped[str | None]
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)
