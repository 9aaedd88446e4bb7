"""Stores another tool's samples as chunks of an imported job's only attempt.

The samples get the identities, chunk sizes and ledger entries that an agent's upload would get (I7). They all belong
to launch 0 and round 0, because imported samples have no rounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from paceline_contract.events import MAX_VALUES, Direction, ParamValue
from paceline_contract.items import COLUMNS
from paceline_contract.params import params_key
from sqlalchemy.orm import Session

from paceline_server.ingest import queries
from paceline_server.kernel import clock
from paceline_server.stats.samples import Floats, Ints
from paceline_server.store.tables.samples import SampleChunk

ONLY_ATTEMPT = 1
ITEM_KIND = "samples"


@dataclass(frozen=True)
class ImportedSamples:
    """The samples of a case. `values` are per iteration, in `unit`; each was measured over as many iterations as
    `iterations` says. Both have shape (n,)."""

    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: str
    direction: Direction
    values: Floats
    iterations: Ints


def store_imported(
    session: Session, job_id: str, cases: Sequence[ImportedSamples]
) -> None:
    """Store every sample of an imported job."""
    at = clock.now()
    rows = list(_rows(job_id, cases))
    ledger = [
        {
            "job_id": job_id,
            "attempt": ONLY_ATTEMPT,
            "seq": row["seq"],
            "kind": ITEM_KIND,
            "digest": _digest(row),
            "received_at": at,
        }
        for row in rows
    ]
    queries.add_to_ledger(session, ledger)
    queries.add_rows(session, SampleChunk, rows)


def _rows(job_id: str, cases: Sequence[ImportedSamples]) -> Iterator[queries.Row]:
    seq = 0
    for case in cases:
        for start in range(0, case.values.size, MAX_VALUES):
            values = case.values[start : start + MAX_VALUES]
            n = int(values.size)
            yield {
                "job_id": job_id,
                "attempt": ONLY_ATTEMPT,
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
                **{
                    name: np.zeros(n, f"<{column.packed_type}").tobytes()
                    for name, column in COLUMNS.items()
                },
                "iterations": case.iterations[start : start + MAX_VALUES]
                .astype("<i8")
                .tobytes(),
                "counters": None,
                "work": None,
            }
            seq += 1


def _digest(row: queries.Row) -> bytes:
    identity = (
        row["benchmark"],
        row["arm"],
        params_key(row["params"]),
        row["metric"],
        row["unit"],
    )
    digest = hashlib.sha256("\0".join(identity).encode())
    digest.update(np.asarray(row["values"], dtype="<f8").tobytes())
    digest.update(row["iterations"])
    return digest.digest()
