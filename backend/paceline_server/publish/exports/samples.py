"""Reads the samples of a run as rows, one per sample, in the order in which they were stored.

Each page is read in its own transaction, so a client that reads slowly, or stops, holds neither a transaction nor a
thread, only the page in progress. Samples never change (I7), so an interrupted part is the same when it is requested
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from paceline_server.jobs import service as jobs
from paceline_server.publish.exports import queries
from paceline_server.publish.exports.queries import ChunkKey, ChunkRow
from paceline_server.publish.exports.shapes import Block, Column, TableShape
from paceline_server.store.session import read_scope

CHUNKS_AT_ONCE = 64
"""Chunks of a page: at most 2 MiB of samples."""
SAMPLES = TableShape(
    "samples",
    (
        Column("run_id", "label"),
        Column("job_id", "label"),
        Column("target", "label"),
        Column("attempt", "int32"),
        Column("batch", "int32"),
        Column("counted", "flag"),
        Column("seq", "int64"),
        Column("launch", "int32"),
        Column("side", "label"),
        Column("benchmark", "label"),
        Column("arm", "label"),
        Column("params", "json_label"),
        Column("metric", "label"),
        Column("unit", "label"),
        Column("direction", "label"),
        Column("phase", "label"),
        Column("index", "int32"),
        Column("round", "int32"),
        Column("position", "int32"),
        Column("iterations", "int64"),
        Column("t_ns", "int64", unit="ns"),
        Column("value", "real"),
        Column("work", "counts"),
    ),
)
"""The columns of samples. `counted`: its attempt counts for verdicts. `value` is per iteration, in `unit`. `(job_id,
attempt, seq, index)` identifies a sample."""


def sample_blocks(
    run_id: str,
    after: ChunkKey | None = None,
    last: ChunkKey | None = None,
    snapshot: Session | None = None,
) -> Iterator[Block]:
    """Yield the samples of a run after the chunk `after`, up to and including `last`. `snapshot`: a session in which
    all of them are read."""
    counting: dict[str, frozenset[int]] = {}
    while True:
        with read_scope() if snapshot is None else nullcontext(snapshot) as session:
            rows = queries.chunks_after(session, run_id, after, last, CHUNKS_AT_ONCE)
            for row in rows:
                job_id = row.chunk.job_id
                if job_id not in counting:
                    attempts = jobs.counting_attempts(session, job_id)
                    counting[job_id] = frozenset(attempts)
        for row in rows:
            chunk = row.chunk
            yield _block(run_id, row, chunk.attempt in counting[chunk.job_id])
            after = ChunkKey(chunk.job_id, chunk.attempt, chunk.seq)
        if len(rows) < CHUNKS_AT_ONCE:
            return


def _block(run_id: str, row: ChunkRow, counted: bool) -> Block:
    chunk = row.chunk
    shared = {
        "run_id": run_id,
        "target": row.target,
        "batch": row.batch,
        "counted": counted,
        **{
            name: getattr(chunk, name)
            for name in (
                "job_id",
                "attempt",
                "seq",
                "launch",
                "side",
                "benchmark",
                "arm",
                "params",
                "metric",
                "unit",
                "direction",
                "phase",
            )
        },
    }
    varying: dict[str, Any] = {
        "index": np.arange(chunk.n, dtype=np.int32),
        "round": np.frombuffer(chunk.rounds, "<i4"),
        "position": np.frombuffer(chunk.positions, "<i4"),
        "iterations": np.frombuffer(chunk.iterations, "<i8"),
        "t_ns": np.frombuffer(chunk.t_ns, "<i8"),
        "value": chunk.values,
    }
    if chunk.counters and chunk.work is not None:
        totals = np.frombuffer(chunk.work, "<i8").reshape(len(chunk.counters), chunk.n)
        names = chunk.counters
        varying["work"] = [
            dict(zip(names, counts, strict=True)) for counts in totals.T.tolist()
        ]
    else:
        shared["work"] = None
    return Block(chunk.n, shared, varying)
