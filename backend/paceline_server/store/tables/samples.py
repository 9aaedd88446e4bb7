"""Defines uploaded items: one row each, identified by `(job, attempt, seq)` (I7) and never changed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, FloatVector, Json, JsonOrNull, Timestamp
from paceline_server.store.owned import ProjectOwned


class Item(ProjectOwned, Base):
    """The identity of an item of any kind. `digest` tells a repeated upload from a conflict (409 and an incident)."""

    __tablename__ = "item"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    kind: Mapped[str]
    digest: Mapped[bytes] = mapped_column(LargeBinary)
    received_at: Mapped[datetime] = mapped_column(Timestamp)


class SampleChunk(ProjectOwned, Base):
    """At most 1,000 samples of one case and metric in one launch. Element i of each array belongs to sample i."""

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
    """Packed little-endian, shape (n,). `rounds` and `positions` are int32, `iterations` and `t_ns` int64."""
    positions: Mapped[bytes] = mapped_column(LargeBinary)
    iterations: Mapped[bytes] = mapped_column(LargeBinary)
    t_ns: Mapped[bytes] = mapped_column(LargeBinary)
    counters: Mapped[list[str] | None] = mapped_column(Json)
    """Names of the counters (C1 `work`), sorted; `work` holds their int64 totals, shape (counters, n). Null if nothing
    was counted."""
    work: Mapped[bytes | None] = mapped_column(LargeBinary)


class StreamEvent(ProjectOwned, Base):
    """An event of the bench stream other than samples, verbatim."""

    __tablename__ = "stream_event"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    launch: Mapped[int]
    side: Mapped[str | None]
    """The side of an A/B job, as in `SampleChunk`."""
    type: Mapped[str]
    event: Mapped[dict[str, Any]] = mapped_column(Json)


class ConditionsRow(ProjectOwned, Base):
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
    """`[{command, status, at_ms, took_ms, text}]`: the output of a device's commands from which the values were read.
    Large, so loaded only when accessed. Null if none was sent, or after `ingest/upkeep.py` deleted it."""


class ReportedLine(ProjectOwned, Base):
    """A line of a device's log with an app's own figures, which are not samples and not judged."""

    __tablename__ = "reported_line"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    launch: Mapped[int | None]
    """The launch during which it was logged; null if it was between launches or is unknown."""
    side: Mapped[str | None]
    """The side of an A/B job, as in `SampleChunk`."""
    pattern: Mapped[str | None]
    """SUITE.NAME of the matching pattern; null for a note about all lines of the job."""
    at: Mapped[str | None]
    fields: Mapped[dict[str, Any]] = mapped_column(Json)
    """Integers, texts, and `{printed, value, low, high, unit}`."""
    text: Mapped[str]
    note: Mapped[str | None]


class LogChunk(ProjectOwned, Base):
    __tablename__ = "log_chunk"
    job_id: Mapped[str] = mapped_column(ForeignKey("job.id"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    stream: Mapped[str] = mapped_column(String)
    lines: Mapped[list[str]] = mapped_column(Json)
