"""Defines reports, comparisons and findings, which never change (I16)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp
from paceline_server.store.owned import ProjectOwned


class JobReport(ProjectOwned, Base):
    """The analysis of a job after a batch, in the shape of `JobReportOut`."""

    __tablename__ = "job_report"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    batch: Mapped[int] = mapped_column(primary_key=True)
    report: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class Comparison(ProjectOwned, Base):
    """The comparison of an arm with the reference for one combination of params, from a job's final analysis."""

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
    """arms (`arm` against `reference` at one revision) | revisions (`arm` at head against `arm` at base)."""
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
    """Of a history finding: effect, lower, upper, p_value, levels, n before and after, index, commits and a sentence.
    Of a finding from a run's end: a sentence, the points that fail, and the `GateFigure`s of a gate.
    Of a standing fact: a sentence and the episode of the fact.
    """
    run_id: Mapped[str | None]
    job_id: Mapped[str | None] = mapped_column(String, index=True)
    """Null, like the run: no measurement shows it, but the state of an agent, a target, a schedule or an import."""
    method: Mapped[str]
    parameters: Mapped[dict[str, Any]] = mapped_column(Json)
    filters: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    window: Mapped[dict[str, Any]] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
