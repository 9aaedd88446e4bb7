"""Which cases of a job have arrived at all, from the first sample on and whatever becomes of the attempt.

Place: asked by the completeness of a run, which must say at once what is missing; `reader` says what counts.
Invariant: a case that one launch called unavailable and another measured has arrived. Reads no values.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy.orm import Session

from paceline_server.ingest import queries
from paceline_server.ingest.cases import params_key

CaseKey = tuple[str, str, str]
"""(benchmark, arm, params key)."""


class Arrivals(NamedTuple):
    """Cases with measured samples, and those a workload said its target cannot run, with its reason."""

    measured: frozenset[CaseKey]
    unavailable: dict[CaseKey, str]


def arrivals(session: Session, job_id: str) -> Arrivals:
    """What of a job is here now."""
    measured = frozenset(
        (benchmark, arm, params_key(params))
        for benchmark, arm, params in queries.measured_cases(session, job_id)
    )
    said: dict[CaseKey, str] = {}
    for event in queries.announced_cases(session, job_id):
        key = (event["benchmark"], event["arm"], params_key(event["params"]))
        if event.get("unavailable") and key not in measured:
            said[key] = event["unavailable"]
    return Arrivals(measured, said)
