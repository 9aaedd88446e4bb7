"""Comparisons, findings (immutable, I16), and alerts with their history."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, JsonOrNull, Timestamp
from paceline_server.store.owned import ProjectOwned, ProjectRoot


class JobReport(ProjectOwned, Base):
    """The analysis of a job's newest look, in the shape of `JobReportOut`."""

    __tablename__ = "job_report"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    batch: Mapped[int] = mapped_column(primary_key=True)
    report: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class Comparison(ProjectOwned, Base):
    """One arm against the reference at one point of the params, of a job's final look."""

    __tablename__ = "comparison"
    __table_args__ = (
        Index(
            "ix_comparison_latest",
            "project_id",
            "suite",
            "benchmark",
            "target_id",
            "measured_at",
        ),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), index=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("run.id"), index=True)
    target_id: Mapped[str]
    suite: Mapped[str]
    benchmark: Mapped[str]
    arm: Mapped[str]
    reference: Mapped[str]
    metric: Mapped[str]
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    params_key: Mapped[str]
    demonstration: Mapped[bool]
    sides: Mapped[str]
    """arms: `arm` against `reference` at one revision; revisions: head against base, both of `arm`."""
    ratio: Mapped[float | None] = mapped_column(Float)
    lower: Mapped[float | None] = mapped_column(Float)
    upper: Mapped[float | None] = mapped_column(Float)
    share_slower: Mapped[float | None] = mapped_column(Float)
    launches: Mapped[int]
    blocks: Mapped[int]
    verdict: Mapped[str]
    reason: Mapped[str]
    evidence: Mapped[dict[str, Any]] = mapped_column(Json)
    """words, margin, launch ratios, p, q, filters, method and parameters: enough to re-derive (I16)."""
    measured_at: Mapped[datetime] = mapped_column(Timestamp)


class Finding(ProjectOwned, Base):
    __tablename__ = "finding"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    kind: Mapped[str]
    role: Mapped[str]
    alert_id: Mapped[str | None] = mapped_column(ForeignKey("alert.id"), index=True)
    comparison_id: Mapped[str | None] = mapped_column(ForeignKey("comparison.id"))
    """The source of an arm finding, or of the A/B confirmation of a change."""
    series_id: Mapped[str | None] = mapped_column(String, index=True)
    change_id: Mapped[str | None]
    """The subject of a history finding."""
    numbers: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """Numbers of a history finding: effect, lower, upper, p_value, levels, n before and after, index, commits,
    and a sentence.
    """
    run_id: Mapped[str]
    job_id: Mapped[str] = mapped_column(String, index=True)
    method: Mapped[str]
    parameters: Mapped[dict[str, Any]] = mapped_column(Json)
    filters: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    window: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Timestamp)


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
    """arm_slower | history | environment | policy: the kind of its findings."""
    cause: Mapped[str | None]
    """code | environment | target (I15); null: not known, or the alert compares arms of one revision."""
    benchmark: Mapped[str]
    arm: Mapped[str]
    reference: Mapped[str]
    """`base` in a history alert."""
    metric: Mapped[str]
    """In a history alert, benchmark, arm and metric are those of its worst finding."""
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"))
    demonstration: Mapped[bool]
    base_commit: Mapped[str | None]
    head_commit: Mapped[str | None]
    """A history alert blames the commits after `base_commit`, up to and including `head_commit`."""
    baseline_commit: Mapped[str | None]
    """Set when the alert was called expected: the level from this commit on is the new baseline."""
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
    run_id: Mapped[str]
    confirmation_run_id: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class Waiver(ProjectRoot, Base):
    """A person's dated permission for what fails to pass visibly. Its fields are those of `WaiverIn`."""

    __tablename__ = "waiver"
    __table_args__ = (Index("ix_waiver_suite", "project_id", "suite", "expires_at"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    suite: Mapped[str]
    kind: Mapped[str]
    """regression | gate | arm"""
    benchmark: Mapped[str]
    arm: Mapped[str]
    metric: Mapped[str]
    """Patterns, as are benchmark and arm."""
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    target_id: Mapped[str | None]
    commits: Mapped[list[str] | None] = mapped_column(JsonOrNull)
    pull_request: Mapped[int | None]
    worst_ratio: Mapped[float | None] = mapped_column(Float)
    worst_actual: Mapped[float | None] = mapped_column(Float)
    """Beyond these it ends by itself: what became worse was not waived."""
    reason: Mapped[str]
    run_id: Mapped[str | None]
    """The run it was given for, which it lets pass whatever its commit."""
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    revoked_by: Mapped[str | None]
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)


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
