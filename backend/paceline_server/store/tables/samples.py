"""What arrived: one row per item, identity `(job, attempt, seq)` (I7). Append-only."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, FloatVector, Json, JsonOrNull, Timestamp


class Item(Base):
    """The ledger of identities: `digest` tells a harmless repeat from a conflict (409, incident)."""

    __tablename__ = "item"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    kind: Mapped[str]
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    received_at: Mapped[datetime] = mapped_column(Timestamp)


class SampleChunk(Base):
    """≤ 1,000 samples of one case and metric in one launch. Arrays share one index."""

    __tablename__ = "sample_chunk"
    __table_args__ = (Index("ix_sample_chunk_case", "job_id", "benchmark", "arm"),)
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    launch: Mapped[int]
    side: Mapped[str | None]
    """base | head in an A/B job, else null."""
    benchmark: Mapped[str]
    arm: Mapped[str]
    params: Mapped[dict[str, Any]] = mapped_column(Json)
    metric: Mapped[str]
    unit: Mapped[str]
    direction: Mapped[str]
    phase: Mapped[str]
    n: Mapped[int]
    values: Mapped[NDArray[np.float64]] = mapped_column(FloatVector)
    rounds: Mapped[bytes] = mapped_column(LargeBinary)
    """Packed little-endian: int32 rounds, int32 positions; int64 iterations and t_ns below. Shape (n,)
    each."""
    positions: Mapped[bytes] = mapped_column(LargeBinary)
    iterations: Mapped[bytes] = mapped_column(LargeBinary)
    t_ns: Mapped[bytes] = mapped_column(LargeBinary)
    counters: Mapped[list[str] | None] = mapped_column(Json)
    """Names of the counters (C1 `work`), sorted; `work` holds their int64 totals, shape (counters, n). None
    where nothing was counted."""
    work: Mapped[bytes | None] = mapped_column(LargeBinary)


class StreamEvent(Base):
    """Every other bench-stream event, verbatim."""

    __tablename__ = "stream_event"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    launch: Mapped[int]
    side: Mapped[str | None]
    """As of a chunk."""
    type: Mapped[str]
    event: Mapped[dict[str, Any]] = mapped_column(Json)


class ConditionsRow(Base):
    __tablename__ = "conditions"
    __table_args__ = (
        Index(
            "ix_conditions_raw",
            "job_id",
            sqlite_where=text("raw IS NOT NULL"),
            postgresql_where=text("raw IS NOT NULL"),
        ),
    )
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    phase: Mapped[str]
    at_ms: Mapped[int] = mapped_column(BigInteger)
    values: Mapped[dict[str, Any]] = mapped_column(Json)
    raw: Mapped[list[dict[str, Any]] | None] = mapped_column(JsonOrNull, deferred=True)
    """`[{command, status, at_ms, took_ms, text}]` the values were read out of, of a device; large, so loaded
    only when asked for. Null: none was sent, or it was forgotten (`ingest/upkeep.py`)."""


class ReportedLine(Base):
    """A line of a device's log with an app's own figures. No samples: nothing is judged by them."""

    __tablename__ = "reported_line"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    launch: Mapped[int | None]
    """In whose time it was logged; null: between launches, or nobody knows."""
    side: Mapped[str | None]
    """As of a chunk."""
    pattern: Mapped[str | None]
    """SUITE.NAME of the shape; null: a note about the job's lines as a whole."""
    at: Mapped[str | None]
    fields: Mapped[dict[str, Any]] = mapped_column(Json)
    """Integers, texts, and `{printed, value, low, high, unit}`."""
    text: Mapped[str]
    note: Mapped[str | None]


class LogChunk(Base):
    __tablename__ = "log_chunk"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    stream: Mapped[str] = mapped_column(String)
    lines: Mapped[list[str]] = mapped_column(Json)
