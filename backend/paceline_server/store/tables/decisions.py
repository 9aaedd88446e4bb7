"""Findings (immutable facts, I16), the comparisons and gates they came from, alerts and their history."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp


class JobReport(Base):
    """The analysis of a job's newest look: checks, measurements, derived, gates, as `JobReportOut` has
    them."""

    __tablename__ = "job_report"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    batch: Mapped[int] = mapped_column(primary_key=True)
    report: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class Comparison(Base):
    """One arm against the reference at one point of the params, of a job's final look."""

    __tablename__ = "comparison"
    __table_args__ = (
        Index("ix_comparison_latest", "suite", "benchmark", "target_id", "measured_at"),
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


class Finding(Base):
    __tablename__ = "finding"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    kind: Mapped[str]
    role: Mapped[str]
    alert_id: Mapped[str | None] = mapped_column(ForeignKey("alert.id"), index=True)
    comparison_id: Mapped[str | None] = mapped_column(ForeignKey("comparison.id"))
    """What an arm finding, and the A/B confirmation of a change, were made from."""
    series_id: Mapped[str | None] = mapped_column(String, index=True)
    change_id: Mapped[str | None]
    """What a history finding is about."""
    numbers: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """Of a history finding, frozen: effect, lower, upper, p_value, levels, n before and after, index,
    commits, and a sentence."""
    run_id: Mapped[str]
    job_id: Mapped[str] = mapped_column(String, index=True)
    method: Mapped[str]
    parameters: Mapped[dict[str, Any]] = mapped_column(Json)
    filters: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    window: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Timestamp)


_live_sql = "state IN ('suspected','inconclusive','open','acknowledged')"


class Alert(Base):
    """One alert per cause; `cause_key` is unique among alerts that still live."""

    __tablename__ = "alert"
    __table_args__ = (
        Index(
            "uq_alert_live_cause",
            "cause_key",
            unique=True,
            sqlite_where=text(_live_sql),
            postgresql_where=text(_live_sql),
        ),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    cause_key: Mapped[str]
    state: Mapped[str] = mapped_column(String, index=True)
    title: Mapped[str]
    suite: Mapped[str]
    kind: Mapped[str]
    """arm_slower | history | environment | policy: which kind of finding it is about."""
    cause: Mapped[str | None]
    """code | environment | target (I15); null: not known, or one revision's arms were compared."""
    benchmark: Mapped[str]
    arm: Mapped[str]
    reference: Mapped[str]
    """Of a history alert: `base`."""
    metric: Mapped[str]
    """benchmark, arm and metric of a history alert are those of its worst finding."""
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"))
    demonstration: Mapped[bool]
    base_commit: Mapped[str | None]
    head_commit: Mapped[str | None]
    """The range a history alert blames: after `base_commit`, up to and with `head_commit`."""
    baseline_commit: Mapped[str | None]
    """Called expected: the level from this commit on is the new baseline."""
    culprit: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """`{commit, author, at, subject, ratio, lower, upper}`, from a finished bisection."""
    rule_id: Mapped[str | None] = mapped_column(String, index=True)
    rule_version: Mapped[int | None]
    shadow: Mapped[bool]
    """Raised by a rule in shadow mode: kept, counted, told to nobody."""
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


class AlertEvent(Base):
    __tablename__ = "alert_event"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    alert_id: Mapped[str] = mapped_column(ForeignKey("alert.id"), index=True)
    at: Mapped[datetime] = mapped_column(Timestamp)
    actor: Mapped[str]
    action: Mapped[str]
    from_state: Mapped[str | None]
    to_state: Mapped[str | None]
    note: Mapped[str | None]
