"""Defines alerts and their events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp
from paceline_server.store.owned import ProjectOwned, ProjectRoot

_live_sql = "state IN ('suspected','inconclusive','open','acknowledged')"


class Alert(ProjectRoot, Base):
    """An alert. `cause_key` is unique among alerts that are not closed."""

    __tablename__ = "alert"
    __table_args__ = (
        Index(
            "uq_alert_live_cause",
            "project_id",
            "cause_key",
            unique=True,
            sqlite_where=text(_live_sql),
            postgresql_where=text(_live_sql),
        ),
        Index("ix_alert_state", "project_id", "state"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    cause_key: Mapped[str]
    state: Mapped[str]
    title: Mapped[str]
    suite: Mapped[str]
    kind: Mapped[str]
    """A name of a kind of `alerts/kinds`, which is also the kind of its findings."""
    cause: Mapped[str | None]
    """code | environment | target (I15); null: not known, or the alert compares arms of one revision."""
    benchmark: Mapped[str]
    arm: Mapped[str]
    reference: Mapped[str]
    """`base` in a history alert."""
    metric: Mapped[str]
    """Benchmark, arm and metric of a history alert are those of its worst finding."""
    target_id: Mapped[str | None] = mapped_column(ForeignKey("target.id"))
    """Null: it is about no single target, such as an agent that fell silent."""
    demonstration: Mapped[bool]
    base_commit: Mapped[str | None]
    head_commit: Mapped[str | None]
    """A history alert blames the commits after `base_commit`, up to and including `head_commit`."""
    baseline_commit: Mapped[str | None]
    """Set once the alert was called expected: the level from this commit on is the new baseline."""
    culprit: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """`{commit, author, at, subject, ratio, lower, upper}`, from a finished bisection."""
    rule_id: Mapped[str | None] = mapped_column(String, index=True)
    rule_version: Mapped[int | None]
    shadow: Mapped[bool]
    """Raised by a rule in shadow mode: stored and counted, but nobody is notified."""
    due_at: Mapped[datetime | None] = mapped_column(Timestamp)
    issue_url: Mapped[str | None]
    rule: Mapped[dict[str, Any]] = mapped_column(Json)
    words: Mapped[str]
    ratio: Mapped[float | None] = mapped_column(Float)
    lower: Mapped[float | None] = mapped_column(Float)
    upper: Mapped[float | None] = mapped_column(Float)
    assignee_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    run_id: Mapped[str | None]
    """The run that shows it. Null: no run shows it, such as a target that was quarantined."""
    confirmation_run_id: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)

    @property
    def measured_run_id(self) -> str:
        """The run of an alert that a measurement raised. Raises ValueError for another."""
        if self.run_id is None:
            raise ValueError(f"no run shows the alert {self.id} of kind {self.kind}")
        return self.run_id

    @property
    def measured_target_id(self) -> str:
        """The target of an alert that a measurement raised. Raises ValueError for another."""
        if self.target_id is None:
            raise ValueError(f"the alert {self.id} of kind {self.kind} has no target")
        return self.target_id


class AlertEvent(ProjectOwned, Base):
    __tablename__ = "alert_event"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    alert_id: Mapped[str] = mapped_column(ForeignKey("alert.id"), index=True)
    at: Mapped[datetime] = mapped_column(Timestamp)
    actor: Mapped[str]
    action: Mapped[str]
    from_state: Mapped[str | None]
    to_state: Mapped[str | None]
    note: Mapped[str | None]
