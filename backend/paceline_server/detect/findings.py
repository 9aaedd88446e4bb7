"""Stores comparisons as findings: frozen evidence that can be computed again (I16)."""

from __future__ import annotations

from typing import Literal

from sqlalchemy.orm import Session

from paceline_server.kernel import clock, ids
from paceline_server.store.tables.decisions import Comparison, Finding

Role = Literal["candidate", "confirmation", "recovery"]


def record_finding(
    session: Session,
    comparison: Comparison,
    role: Role,
    alert_id: str | None,
    *,
    kind: str = "arm_slower",
) -> Finding:
    """Store a comparison as a finding, with or without an alert."""
    evidence = comparison.evidence
    finding = Finding(
        id=ids.new_id("fnd"),
        kind=kind,
        role=role,
        alert_id=alert_id,
        comparison_id=comparison.id,
        run_id=comparison.run_id,
        job_id=comparison.job_id,
        method=evidence["method"],
        parameters=evidence["parameters"],
        filters=evidence["filters"],
        window=evidence["window"],
        created_at=clock.now(),
    )
    session.add(finding)
    session.flush()
    return finding
