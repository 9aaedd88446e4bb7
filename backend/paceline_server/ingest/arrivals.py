"""Lists the cases of a job that have arrived so far, in all its attempts, whatever their outcome.

A case that one launch called unavailable and another measured counts as measured. `reader.py` reads the samples that
count.
"""

from __future__ import annotations

from typing import NamedTuple

from paceline_contract.params import params_key
from sqlalchemy.orm import Session

from paceline_server.ingest import queries

CaseKey = tuple[str, str, str]
"""Identifies a case by (benchmark, arm, params key)."""


class Arrivals(NamedTuple):
    """The cases with samples, and the reasons why the target cannot run others."""

    measured: frozenset[CaseKey]
    unavailable: dict[CaseKey, str]


def list_arrivals(session: Session, job_id: str) -> Arrivals:
    """Return the cases of a job that have arrived."""
    measured = frozenset(
        (benchmark, arm, params_key(params))
        for benchmark, arm, params in queries.measured_cases(session, job_id)
    )
    unavailable: dict[CaseKey, str] = {}
    for event in queries.announced_cases(session, job_id):
        key = (event["benchmark"], event["arm"], params_key(event["params"]))
        if event.get("unavailable") and key not in measured:
            unavailable[key] = event["unavailable"]
    return Arrivals(measured, unavailable)
