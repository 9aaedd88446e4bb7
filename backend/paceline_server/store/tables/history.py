"""Series (the history of one measurement), what detection says of them, noise floors, advice, schedules.

Points are facts; `SeriesState` and `Change` are derived from them and can be made again by one command.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, OrderedJson, Timestamp


class Fingerprint(Base):
    """What a target was when it measured: the factors that make two points comparable, by their hash."""

    __tablename__ = "fingerprint"
    hash: Mapped[str] = mapped_column(String, primary_key=True)
    factors: Mapped[dict[str, Any]] = mapped_column(Json)
    first_seen_at: Mapped[datetime] = mapped_column(Timestamp)


class Series(Base):
    """One (benchmark, arm, params, metric) on one target and branch, under its newest name."""

    __tablename__ = "series"
    __table_args__ = (
        UniqueConstraint(
            "suite",
            "benchmark",
            "arm",
            "params_key",
            "metric",
            "target_id",
            "branch",
            name="series_key",
        ),
        Index("ix_series_target", "target_id", "suite", "benchmark"),
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
    """Never of a commit of no known branch: those have no common past."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_at: Mapped[datetime] = mapped_column(Timestamp)


class SeriesPoint(Base):
    """What one job says of one series: the median of its warm samples, with a 99 % interval of it."""

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
    excluded: Mapped[str | None]
    """Why this point is shown and never judged (conditions void, a check failed); null: it counts."""
    conditions: Mapped[dict[str, Any]] = mapped_column(Json)
    """Summary of the job's conditions, by track: `{"load": {"median": …, "max": …}, …}`."""


class SeriesState(Base):
    """The newest detection over a series, precomputed when a point arrived."""

    __tablename__ = "series_state"
    series_id: Mapped[str] = mapped_column(ForeignKey("series.id"), primary_key=True)
    evaluated_at: Mapped[datetime] = mapped_column(Timestamp)
    last_job_id: Mapped[str]
    points: Mapped[int]
    segments: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`[{start_job_id, stop_job_id, level, lower, upper, fingerprint, starts_because}]`, oldest first."""
    baseline_job_id: Mapped[str | None]
    """Points before this one belong to an accepted past (an alert was called expected)."""


class Change(Base):
    """A change point of a series, over its evaluations: `suspect`, `standing`, or `vanished` later."""

    __tablename__ = "change"
    __table_args__ = (Index("ix_change_series", "series_id", "state"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    series_id: Mapped[str] = mapped_column(ForeignKey("series.id"))
    state: Mapped[str]
    """suspect | standing | vanished | accepted (an alert about it was called expected) | superseded (it stood
    until the target became another environment, or its window moved on)."""
    job_id: Mapped[str]
    """The first point of the new regime, as last evaluated; moves within the location's interval."""
    before_commit: Mapped[str]
    commit: Mapped[str]
    direction: Mapped[str]
    """slower | faster, or worse | better for metrics that are no times."""
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


class NoiseFloor(Base):
    """What an A/A job says a target can resolve: the minimum detectable effect, by series key."""

    __tablename__ = "noise_floor"
    __table_args__ = (
        Index("ix_noise_floor_key", "target_id", "suite", "benchmark", "measured_at"),
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
    """Interval of the A/A ratio itself; should hold 1."""
    blocks: Mapped[int]
    launches: Mapped[int]
    evidence: Mapped[dict[str, Any]] = mapped_column(Json)
    run_id: Mapped[str]
    job_id: Mapped[str] = mapped_column(String, index=True)
    measured_at: Mapped[datetime] = mapped_column(Timestamp)


class PolicyAdvice(Base):
    """From where an arm wins on a target (STATISTICS §3), with the policy in force at that time."""

    __tablename__ = "policy_advice"
    __table_args__ = (
        Index("ix_policy_advice_key", "target_id", "suite", "policy", "measured_at"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"))
    suite: Mapped[str]
    policy: Mapped[str]
    """Name of the manifest's `[[policies]]` entry."""
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    params_key: Mapped[str]
    advice: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    """`PolicyAdviceOut` without the head: warm and cold crossover with intervals, warm-up rounds, words."""
    in_force: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    holds: Mapped[bool | None]
    """Whether the policy in force is right; null: the data cannot say."""
    run_id: Mapped[str]
    job_id: Mapped[str] = mapped_column(String, index=True)
    measured_at: Mapped[datetime] = mapped_column(Timestamp)


class Schedule(Base):
    """A run that the server asks for by itself, again and again: A/A jobs, nightly measurements."""

    __tablename__ = "schedule"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String, unique=True)
    kind: Mapped[str]
    """a_a | measure."""
    suite: Mapped[str]
    target_id: Mapped[str | None] = mapped_column(ForeignKey("target.id"))
    """Null: every target that can run the suite and is online when it is due."""
    request: Mapped[dict[str, Any]] = mapped_column(Json)
    """benchmarks, params, launches, rounds, min_time_ns."""
    every_s: Mapped[int]
    enabled: Mapped[bool]
    next_at: Mapped[datetime] = mapped_column(Timestamp, index=True)
    last_run_id: Mapped[str | None]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class RetiredBenchmark(Base):
    """A person said that a benchmark (or one arm of it) is gone on purpose: nobody misses it any more."""

    __tablename__ = "retired_benchmark"
    suite: Mapped[str] = mapped_column(String, primary_key=True)
    benchmark: Mapped[str] = mapped_column(String, primary_key=True)
    reason: Mapped[str]
    retired_by: Mapped[str]
    retired_at: Mapped[datetime] = mapped_column(Timestamp)


class Annotation(Base):
    """What a person wrote beside the points of a series, or of every series of a target."""

    __tablename__ = "annotation"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    series_id: Mapped[str | None] = mapped_column(ForeignKey("series.id"), index=True)
    target_id: Mapped[str | None] = mapped_column(ForeignKey("target.id"), index=True)
    """Exactly one of the two is set."""
    at: Mapped[datetime] = mapped_column(Timestamp)
    commit: Mapped[str | None]
    text: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
