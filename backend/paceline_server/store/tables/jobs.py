"""Runs, jobs, attempts. Truth of the lease lives here (I5, I6, I9)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, OrderedJson, Timestamp

LEASED_STATES = ("leased", "preparing", "measuring", "uploading")
"""Job states in which a target is taken; the unique partial index below enforces one per target (I9)."""

BASELINE_TRIGGERS = ("manual", "schedule", "ci")
"""Runs that people, clocks and CI ask for: only their points count in history; others ask about a doubt
(I13), or were measured by another tool."""

IMPORTED = "import"
"""Trigger of runs that another tool measured: their points have series of their own and are never judged."""

_leased_sql = "state IN ('leased','preparing','measuring','uploading')"


class Run(Base):
    __tablename__ = "run"
    # Holds all that the list of suites asks of runs: a row lies behind a manifest of some 16 KB.
    __table_args__ = (Index("ix_run_suite", "suite", "trigger", "created_at"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    suite: Mapped[str]
    repository: Mapped[str]
    manifest_path: Mapped[str]
    manifest: Mapped[dict[str, Any]] = mapped_column(OrderedJson, deferred=True)
    """Frozen when the run was created; large, so loaded only when touched."""
    commit: Mapped[str]
    branch: Mapped[str | None]
    base_commit: Mapped[str | None]
    """Set: an A/B run. Its jobs build both revisions and interleave launches of base and head; equal to
    `commit` in an A/A run."""
    trigger: Mapped[str]
    state: Mapped[str] = mapped_column(String, index=True)
    verdict: Mapped[str | None]
    reason: Mapped[str | None]
    demonstration: Mapped[bool]
    benchmarks: Mapped[list[str]] = mapped_column(Json)
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    knobs: Mapped[dict[str, Any]] = mapped_column(Json)
    suppress: Mapped[list[str]] = mapped_column(Json, default=list)
    """Names of configuration errors that do not void its jobs."""
    launches: Mapped[int]
    """As asked for; else what its targets' kind gets, of hosts where there are both. A job has its own."""
    rounds: Mapped[int]
    min_time_ns: Mapped[int] = mapped_column(BigInteger)
    confirms_alert_id: Mapped[str | None] = mapped_column(String, index=True)
    bisection_id: Mapped[str | None] = mapped_column(String, index=True)
    schedule_id: Mapped[str | None] = mapped_column(String, index=True)
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Job(Base):
    __tablename__ = "job"
    __table_args__ = (
        Index(
            "uq_job_one_lease_per_target",
            "target_id",
            unique=True,
            sqlite_where=text(_leased_sql),
            postgresql_where=text(_leased_sql),
        ),
        Index("ix_job_state_not_before", "state", "not_before"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("run.id"), index=True)
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"), index=True)
    state: Mapped[str]
    detail: Mapped[str | None]
    cause: Mapped[str | None]
    cause_detail: Mapped[str | None]
    attempt: Mapped[int]
    """0: never leased. The number of the newest attempt fences stale writers."""
    batch: Mapped[int]
    """0, 1, 2: looks of the sequential arm verdict; batch b measures launches [b·K, (b+1)·K)."""
    launches: Mapped[int] = mapped_column(default=5)
    """K: how many one batch has."""
    requeues: Mapped[int]
    seed: Mapped[int] = mapped_column(BigInteger)
    progress: Mapped[dict[str, Any] | None] = mapped_column(Json)
    verdict: Mapped[str | None]
    reason: Mapped[str | None]
    artifact_hash: Mapped[str | None]
    fingerprint: Mapped[str | None]
    build: Mapped[dict[str, Any] | None] = mapped_column(Json)
    base_artifact_hash: Mapped[str | None]
    commits: Mapped[list[dict[str, Any]] | None] = mapped_column(Json)
    """`[{commit, author, at, subject}]` as the agent's repository has them, oldest first: of an A/B job those
    after the base up to the head, else the head alone. Null: an agent that did not say."""
    partial: Mapped[bool]
    samples: Mapped[int] = mapped_column(BigInteger)
    not_before: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """Unleased by then: `expired`."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    started_at: Mapped[datetime | None] = mapped_column(Timestamp)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Attempt(Base):
    __tablename__ = "attempt"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    batch: Mapped[int]
    agent_id: Mapped[str]
    lease_token_sha256: Mapped[str]
    leased_at: Mapped[datetime] = mapped_column(Timestamp)
    lease_expires_at: Mapped[datetime] = mapped_column(Timestamp)
    cancel_requested: Mapped[bool]
    outcome: Mapped[str | None]
    """done | failed | cancelled | lost; null while it lives. Only `done` attempts count for verdicts."""
    last_seq: Mapped[int | None] = mapped_column(BigInteger)
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)
