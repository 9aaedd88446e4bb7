"""Samples that no workload sent: another tool's, kept as chunks of the one attempt of an imported job.

Place: beside `service`, called by imports through it. Invariants: identities, chunk size and ledger are those
of uploads (I7); all samples are of launch 0 and round 0, for what has no rounds must not look as if it had.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from paceline_server.ingest import queries
from paceline_server.ingest.cases import ParamValue, params_key
from paceline_server.kernel import clock
from paceline_server.stats.samples import Direction, Floats, Ints
from paceline_server.store.tables.samples import SampleChunk

ATTEMPT = 1
CHUNK = 1_000
"""Samples a chunk has at most (I7)."""
KIND = "samples"


@dataclass(frozen=True)
class Imported:
    """One case's samples: `values` per iteration in `unit`, and how many `iterations` each was over, shape
    (n,)."""

    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: str
    direction: Direction
    values: Floats
    iterations: Ints


def store_imported(session: Session, job_id: str, cases: Sequence[Imported]) -> None:
    """Store every sample of an imported job."""
    at = clock.now()
    rows = list(_rows(job_id, cases))
    ledger = [
        {
            "job_id": job_id,
            "attempt": ATTEMPT,
            "seq": row["seq"],
            "kind": KIND,
            "digest": _digest(row),
            "received_at": at,
        }
        for row in rows
    ]
    queries.add_to_ledger(session, ledger)
    queries.add_rows(session, SampleChunk, rows)


def _rows(job_id: str, cases: Sequence[Imported]) -> Iterator[queries.Row]:
    seq = 0
    for case in cases:
        for start in range(0, case.values.size, CHUNK):
            values = case.values[start : start + CHUNK]
            n = int(values.size)
            yield {
                "job_id": job_id,
                "attempt": ATTEMPT,
                "seq": seq,
                "launch": 0,
                "side": None,
                "benchmark": case.benchmark,
                "arm": case.arm,
                "params": case.params,
                "metric": case.metric,
                "unit": case.unit,
                "direction": case.direction,
                "phase": "measure",
                "n": n,
                "values": values,
                "rounds": bytes(4 * n),
                "positions": bytes(4 * n),
                "iterations": case.iterations[start : start + CHUNK]
                .astype("<i8")
                .tobytes(),
                "t_ns": bytes(8 * n),
                "counters": None,
                "work": None,
            }
            seq += 1


def _digest(row: queries.Row) -> bytes:
    named = (
        row["benchmark"],
        row["arm"],
        params_key(row["params"]),
        row["metric"],
        row["unit"],
    )
    digest = hashlib.sha256("\0".join(named).encode())
    digest.update(np.asarray(row["values"], dtype="<f8").tobytes())
    digest.update(row["iterations"])
    return digest.digest()
