"""Defines benchmarks that a person retired."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Timestamp
from paceline_server.store.owned import ProjectKeyed


class RetiredBenchmark(ProjectKeyed, Base):
    """A benchmark that a person retired, so that it is no longer reported as missing."""

    __tablename__ = "retired_benchmark"
    suite: Mapped[str] = mapped_column(String, primary_key=True)
    benchmark: Mapped[str] = mapped_column(String, primary_key=True)
    reason: Mapped[str]
    retired_by: Mapped[str]
    retired_at: Mapped[datetime] = mapped_column(Timestamp)
