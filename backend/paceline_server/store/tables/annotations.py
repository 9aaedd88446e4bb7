"""Defines annotations: people's notes on points."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Timestamp
from paceline_server.store.owned import ProjectRoot


class Annotation(ProjectRoot, Base):
    """A person's note on the points of a series, or of every series of a target."""

    __tablename__ = "annotation"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    series_id: Mapped[str | None] = mapped_column(ForeignKey("series.id"), index=True)
    target_id: Mapped[str | None] = mapped_column(ForeignKey("target.id"), index=True)
    """Exactly one of series_id and target_id is set."""
    at: Mapped[datetime] = mapped_column(Timestamp)
    commit: Mapped[str | None]
    text: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
