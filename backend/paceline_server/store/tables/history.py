"""Defines series with their points, changes and noise floors.

Points are facts. `SeriesState` and `Change` are derived from them and can be derived again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp
from paceline_server.store.owned import ProjectOwned, ProjectRoot


class Fingerprint(Base):
    """The factors of a target by their hash. Points with equal fingerprints are comparable."""

    __tablename__ = "fingerprint"
    hash: Mapped[str] = mapped_column(String, primary_key=True)
    factors: Mapped[dict[str, Any]] = mapped_column(Json)
    first_seen_at: Mapped[datetime] = mapped_column(Timestamp)


class Series(ProjectRoot, Base):
    """The history of one (benchmark, arm, params, metric) on one target and branch, under its newest name."""

    __tablename__ = "series"
    __table_args__ = (
        UniqueConstraint(
            "project_id",
            "suite",
            "benchmark",
            "arm",
            "params_key",
            "metric",
            "target_id",
            "branch",
            name="series_key",
        ),
        Index("ix_series_target", "project_id", "target_id", "suite", "benchmark"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    suite: Mapped[str]
    benchmark: Mapped[str]
    arm: Mapped[str]
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    params_key: Mapped[str]
    metric: Mapped[str]
    unit: Mapped[str]
    direction: Mapped[str]
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"))
    branch: Mapped[str]
    """Results of a commit without a known branch go into no series, because they have no common history."""
    title: Mapped[str | None]
    """The original name of an imported series whose names here are a digest of it."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_at: Mapped[datetime] = mapped_column(Timestamp)


class SeriesPoint(ProjectOwned, Base):
    """A job's value in a series: the median of its warm samples, with a 99 % interval."""

    __tablename__ = "series_point"
    __table_args__ = (Index("ix_series_point_order", "series_id", "at", "job_id"),)
    series_id: Mapped[str] = mapped_column(ForeignKey("series.id"), primary_key=True)
    job_id: Mapped[str] = mapped_column(
        ForeignKey("job.id"), primary_key=True, index=True
    )
    run_id: Mapped[str]
    at: Mapped[datetime] = mapped_column(Timestamp)
    commit: Mapped[str]
    artifact_hash: Mapped[str | None]
    fingerprint: Mapped[str] = mapped_column(ForeignKey("fingerprint.hash"))
    value: Mapped[float] = mapped_column(Float)
    """In the metric's base unit."""
    lower: Mapped[float] = mapped_column(Float)
    upper: Mapped[float] = mapped_column(Float)
    n: Mapped[int]
    launches: Mapped[int]
    declaration: Mapped[str | None]
    """Unit, direction and work of an iteration, as `series.declarations` writes them. Null in older points, whose unit
    and direction are those of the series."""
    excluded: Mapped[str | None]
    """Why this point is shown but not judged (void conditions, a failed check); null if it counts."""
    conditions: Mapped[dict[str, Any]] = mapped_column(Json)
    """Summary of the job's conditions: `{"load": {"median": …, "max": …}, …}`."""


class SeriesState(ProjectOwned, Base):
    """The result of the newest detection in a series, computed when a point arrives."""

    __tablename__ = "series_state"
    series_id: Mapped[str] = mapped_column(ForeignKey("series.id"), primary_key=True)
    evaluated_at: Mapped[datetime] = mapped_column(Timestamp)
    last_job_id: Mapped[str]
    points: Mapped[int]
    segments: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`[{start_job_id, stop_job_id, level, lower, upper, fingerprint, starts_because}]`, oldest first."""
    baseline_job_id: Mapped[str | None]
    """Earlier points are not judged, because an alert about this one was called expected."""


TARGET_SHIFT = "incident"
"""The key in `Change.evidence` of the shift of a whole target that a change belongs to; rows of before have it."""


class Change(ProjectOwned, Base):
    """A change point of a series. Later evaluations may confirm, move or drop it."""

    __tablename__ = "change"
    __table_args__ = (Index("ix_change_series", "series_id", "state"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    series_id: Mapped[str] = mapped_column(ForeignKey("series.id"))
    state: Mapped[str]
    """suspect | standing | vanished | accepted (an alert about it was called expected) | superseded (it stood until
    the target's environment changed or the examined window moved on)."""
    job_id: Mapped[str]
    """The first point of the new regime; a later evaluation may move it within the location's interval."""
    before_commit: Mapped[str]
    commit: Mapped[str]
    direction: Mapped[str]
    """slower | faster for times, worse | better for other metrics."""
    level_before: Mapped[float] = mapped_column(Float)
    level_after: Mapped[float] = mapped_column(Float)
    effect: Mapped[float] = mapped_column(Float)
    lower: Mapped[float] = mapped_column(Float)
    upper: Mapped[float] = mapped_column(Float)
    p_value: Mapped[float] = mapped_column(Float)
    evaluations: Mapped[int]
    """Consecutive evaluations that found it within ± 2 points."""
    cause: Mapped[str | None]
    """code | environment | target (I15); null: not known yet."""
    evidence: Mapped[dict[str, Any]] = mapped_column(Json)
    """method, parameters, filters, window (job ids of the points, oldest first), location (I16)."""
    alert_id: Mapped[str | None] = mapped_column(ForeignKey("alert.id"), index=True)
    found_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class NoiseFloor(ProjectOwned, Base):
    """The minimum detectable effect of a series on a target, from an A/A job."""

    __tablename__ = "noise_floor"
    __table_args__ = (
        Index(
            "ix_noise_floor_key",
            "project_id",
            "target_id",
            "suite",
            "benchmark",
            "measured_at",
        ),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"))
    suite: Mapped[str]
    benchmark: Mapped[str]
    arm: Mapped[str]
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    params_key: Mapped[str]
    metric: Mapped[str]
    mde: Mapped[float] = mapped_column(Float)
    """A share: 0.031 means that effects below 3.1 % are not resolved."""
    lower: Mapped[float] = mapped_column(Float)
    upper: Mapped[float] = mapped_column(Float)
    """Interval of the A/A ratio; it should include 1."""
    blocks: Mapped[int]
    launches: Mapped[int]
    evidence: Mapped[dict[str, Any]] = mapped_column(Json)
    run_id: Mapped[str]
    job_id: Mapped[str] = mapped_column(String, index=True)
    measured_at: Mapped[datetime] = mapped_column(Timestamp)
