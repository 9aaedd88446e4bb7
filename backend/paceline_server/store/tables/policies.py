"""Defines advice about usage policies, derived from measurements."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, OrderedJson, Timestamp
from paceline_server.store.owned import ProjectOwned


class PolicyAdvice(ProjectOwned, Base):
    """The size from which an arm is faster on a target (stats/README.md §3), with the policy in force at that time."""

    __tablename__ = "policy_advice"
    __table_args__ = (
        Index(
            "ix_policy_advice_key",
            "project_id",
            "target_id",
            "suite",
            "policy",
            "measured_at",
        ),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"))
    suite: Mapped[str]
    policy: Mapped[str]
    """Name of the manifest's `[[policies]]` entry."""
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    params_key: Mapped[str]
    advice: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    """A part of `PolicyAdviceOut`: warm and cold crossover with intervals, warm-up rounds, words."""
    in_force: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    holds: Mapped[bool | None]
    """Whether the policy in force is right; null if the data does not decide."""
    run_id: Mapped[str]
    job_id: Mapped[str] = mapped_column(String, index=True)
    measured_at: Mapped[datetime] = mapped_column(Timestamp)
