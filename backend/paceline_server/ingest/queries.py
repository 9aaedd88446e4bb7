"""Holds the SQL of uploads: the ledger of identities, chunks, events, conditions and logs.

Tables are append-only; an identity `(job, attempt, seq)` is inserted once (I7). Callers hold the job's row lock, so an
earlier insert of the same seq has been committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from paceline_contract.events import ParamValue
from sqlalchemy import Table, func, null, select, update
from sqlalchemy.orm import Session, undefer

from paceline_server.store.base import Base
from paceline_server.store.insert import insert_into
from paceline_server.store.tables.jobs import Job
from paceline_server.store.tables.samples import (
    ConditionsRow,
    Item,
    LogChunk,
    ReportedLine,
    SampleChunk,
    StreamEvent,
)

Row = dict[str, Any]


class Chunk(NamedTuple):
    """The columns of a stored chunk that detection reads, in the order of the query."""

    attempt: int
    launch: int
    side: str | None
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: str
    direction: str
    phase: str
    values: NDArray[np.float64]
    rounds: bytes
    positions: bytes
    iterations: bytes
    counters: list[str] | None
    work: bytes | None


_CHUNK = [getattr(SampleChunk, name) for name in Chunk._fields]


def add_to_ledger(session: Session, rows: Sequence[Row]) -> set[int]:
    """Insert the identities that are new, and return their seqs."""
    insert = insert_into(session, Item)
    return set(
        session.scalars(insert.on_conflict_do_nothing().returning(Item.seq), rows)
    )


def known_items(
    session: Session, job_id: str, attempt: int, seqs: Sequence[int]
) -> dict[int, bytes]:
    """Return the digests of those of the seqs that are in the ledger."""
    query = select(Item.seq, Item.digest).where(
        Item.job_id == job_id, Item.attempt == attempt, Item.seq.in_(list(seqs))
    )
    return {seq: bytes(digest) for seq, digest in session.execute(query)}


def add_rows(session: Session, table: type[Base], rows: Sequence[Row]) -> None:
    """Append rows to a table; their identities must be new."""
    if rows:
        target: Table = table.__table__  # type: ignore[assignment]  # declarative classes map tables
        session.execute(target.insert(), list(rows))


def count_up_to(session: Session, job_id: str, attempt: int, last_seq: int) -> int:
    """Return the number of seqs 0 … last_seq that have arrived."""
    query = select(func.count()).where(
        Item.job_id == job_id, Item.attempt == attempt, Item.seq <= last_seq
    )
    return session.scalars(query).one()


def seqs_up_to(session: Session, job_id: str, attempt: int, last_seq: int) -> list[int]:
    """Return the seqs 0 … last_seq that have arrived, in order."""
    query = (
        select(Item.seq)
        .where(Item.job_id == job_id, Item.attempt == attempt, Item.seq <= last_seq)
        .order_by(Item.seq)
    )
    return list(session.scalars(query))


def chunks(
    session: Session, job_id: str, attempts: Sequence[int], side: str | None = None
) -> list[Chunk]:
    """Return the chunks of a side (None for a job without sides) in these attempts, by launch and as sent."""
    query = (
        select(*_CHUNK)
        .where(
            SampleChunk.job_id == job_id,
            SampleChunk.attempt.in_(list(attempts)),
            SampleChunk.side.is_not_distinct_from(side),
        )
        .order_by(SampleChunk.launch, SampleChunk.attempt, SampleChunk.seq)
    )
    return [Chunk(*row) for row in session.execute(query)]


def newest_chunks(
    session: Session, job_id: str, attempt: int, per_case: int
) -> list[Chunk]:
    """Return the last `per_case` chunks of each case of an attempt, oldest first."""
    case = (
        SampleChunk.benchmark,
        SampleChunk.arm,
        SampleChunk.params,
        SampleChunk.metric,
        SampleChunk.side,
    )
    age = (
        func.row_number()
        .over(partition_by=case, order_by=SampleChunk.seq.desc())
        .label("age")
    )
    ranked = (
        select(SampleChunk.seq, age)
        .where(SampleChunk.job_id == job_id, SampleChunk.attempt == attempt)
        .subquery()
    )
    newest = select(ranked.c.seq).where(ranked.c.age <= per_case)
    query = (
        select(*_CHUNK)
        .where(
            SampleChunk.job_id == job_id,
            SampleChunk.attempt == attempt,
            SampleChunk.seq.in_(newest),
        )
        .order_by(SampleChunk.seq)
    )
    return [Chunk(*row) for row in session.execute(query)]


def counts(
    session: Session, job_id: str, attempt: int
) -> list[tuple[str, str, dict[str, Any], str, str | None, int]]:
    """Return (benchmark, arm, params, metric, side, samples) of each case of an attempt."""
    case = (
        SampleChunk.benchmark,
        SampleChunk.arm,
        SampleChunk.params,
        SampleChunk.metric,
        SampleChunk.side,
    )
    query = (
        select(*case, func.sum(SampleChunk.n))
        .where(SampleChunk.job_id == job_id, SampleChunk.attempt == attempt)
        .group_by(*case)
        .order_by(func.min(SampleChunk.seq))
    )
    return [
        (row[0], row[1], row[2], row[3], row[4], int(row[5]))
        for row in session.execute(query)
    ]


def events(
    session: Session,
    job_id: str,
    attempts: Sequence[int],
    kinds: Sequence[str],
    side: str | None = None,
) -> list[tuple[int, dict[str, Any]]]:
    """Return (launch, event) for events of these types and this side, by launch and as sent."""
    query = (
        select(StreamEvent.launch, StreamEvent.event)
        .where(
            StreamEvent.job_id == job_id,
            StreamEvent.attempt.in_(list(attempts)),
            StreamEvent.side.is_not_distinct_from(side),
            StreamEvent.type.in_(list(kinds)),
        )
        .order_by(StreamEvent.launch, StreamEvent.attempt, StreamEvent.seq)
    )
    return [(launch, event) for launch, event in session.execute(query)]


def conditions(
    session: Session, job_id: str, attempts: Sequence[int]
) -> list[ConditionsRow]:
    """Return the conditions of these attempts, in the order in which they were sent."""
    query = (
        select(ConditionsRow)
        .where(
            ConditionsRow.job_id == job_id, ConditionsRow.attempt.in_(list(attempts))
        )
        .order_by(ConditionsRow.attempt, ConditionsRow.seq)
    )
    return list(session.scalars(query))


def conditions_after(
    session: Session, job_id: str, attempt: int, after: int, limit: int, *, raw: bool
) -> list[ConditionsRow]:
    """Return conditions with a seq above `after`; `raw` includes the output they were read from."""
    query = (
        select(ConditionsRow)
        .where(
            ConditionsRow.job_id == job_id,
            ConditionsRow.attempt == attempt,
            ConditionsRow.seq > after,
        )
        .order_by(ConditionsRow.seq)
        .limit(limit)
    )
    if raw:
        query = query.options(undefer(ConditionsRow.raw))
    return list(session.scalars(query))


def reported_after(
    session: Session, job_id: str, attempt: int, after: int, limit: int
) -> list[ReportedLine]:
    """Return reported lines with a seq above `after`."""
    query = (
        select(ReportedLine)
        .where(
            ReportedLine.job_id == job_id,
            ReportedLine.attempt == attempt,
            ReportedLine.seq > after,
        )
        .order_by(ReportedLine.seq)
        .limit(limit)
    )
    return list(session.scalars(query))


def jobs_with_old_raw(session: Session, before: datetime, limit: int) -> list[str]:
    """Return jobs that ended before an instant and whose conditions still have raw output."""
    ended = func.coalesce(Job.finished_at, Job.created_at)
    query = (
        select(ConditionsRow.job_id)
        .join(Job, Job.id == ConditionsRow.job_id)
        .where(ConditionsRow.raw.is_not(null()), ended < before)
        .distinct()
        .limit(limit)
    )
    return list(session.scalars(query))


def delete_raw(session: Session, job_ids: Sequence[str]) -> None:
    """Delete the raw output of conditions; the values parsed from it stay."""
    old = (ConditionsRow.job_id.in_(list(job_ids)), ConditionsRow.raw.is_not(null()))
    session.execute(update(ConditionsRow).where(*old).values(raw=null()))


def log_from(
    session: Session, job_id: str, attempt: int, seq: int, limit: int
) -> list[LogChunk]:
    """Return chunks of log lines from `seq` on."""
    query = (
        select(LogChunk)
        .where(
            LogChunk.job_id == job_id, LogChunk.attempt == attempt, LogChunk.seq >= seq
        )
        .order_by(LogChunk.seq)
        .limit(limit)
    )
    return list(session.scalars(query))


def log_tail(session: Session, job_id: str, attempt: int, limit: int) -> list[LogChunk]:
    """Return the last chunks of log lines, oldest first."""
    query = (
        select(LogChunk)
        .where(LogChunk.job_id == job_id, LogChunk.attempt == attempt)
        .order_by(LogChunk.seq.desc())
        .limit(limit)
    )
    return list(reversed(list(session.scalars(query))))


def measured_cases(
    session: Session, job_id: str
) -> list[tuple[str, str, dict[str, Any]]]:
    """Return (benchmark, arm, params) of every case with measured samples, in any attempt."""
    case = (SampleChunk.benchmark, SampleChunk.arm, SampleChunk.params)
    query = (
        select(*case)
        .where(SampleChunk.job_id == job_id, SampleChunk.phase == "measure")
        .distinct()
    )
    return [(row[0], row[1], row[2]) for row in session.execute(query)]


def announced_cases(session: Session, job_id: str) -> list[dict[str, Any]]:
    """Return every `case` event of all attempts of a job, in a fixed order."""
    query = (
        select(StreamEvent.event)
        .where(StreamEvent.job_id == job_id, StreamEvent.type == "case")
        .order_by(StreamEvent.attempt, StreamEvent.seq)
    )
    return list(session.scalars(query))
