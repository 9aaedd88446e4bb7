"""Defines bisections: searches for the commit that caused a change."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, OrderedJson, Timestamp
from paceline_server.store.owned import ProjectOwned


class Bisection(ProjectOwned, Base):
    """The search for the commit that caused a change, by A/B jobs on one target."""

    __tablename__ = "bisection"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    alert_id: Mapped[str] = mapped_column(ForeignKey("alert.id"), index=True)
    state: Mapped[str]
    """running | found | exhausted (the budget ended) | undecided (an A/B job gave no verdict) | failed."""
    base_commit: Mapped[str]
    """The revision known to be good; every step is compared with it."""
    commits: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`[{commit, author, at, subject}]`, oldest first, without the base; the head is the last."""
    good: Mapped[int]
    bad: Mapped[int]
    """`good` and `bad` are indexes into `commits`, minus one the base. The culprit is in (good, bad]."""
    budget: Mapped[int]
    """The number of A/B jobs it may request."""
    steps: Mapped[list[dict[str, Any]]] = mapped_column(OrderedJson)
    """`[{index, commit, run_id, job_id, verdict, ratio, lower, upper, words}]` in order of request."""
    culprit: Mapped[dict[str, Any] | None] = mapped_column(OrderedJson)
    """`{commit, author, at, subject, ratio, lower, upper}`."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
