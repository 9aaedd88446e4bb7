"""Stores a change as a finding of an alert about history.

The finding holds the method, the parameters, every filter, the points of its window and
its numbers, so that `explain` can compute it again whatever detection does later (I16).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts.changes import queries
from paceline_server.alerts.changes.causes import Cause
from paceline_server.alerts.changes.change_facts import ChangeFacts, window_of
from paceline_server.alerts.changes.history_sentences import describe_change
from paceline_server.detect.service import Role
from paceline_server.kernel import clock, ids
from paceline_server.stats.blocks import WarmPolicy
from paceline_server.store.tables.decisions import Finding


def store_change_finding(
    session: Session,
    fact: ChangeFacts,
    role: Role,
    alert_id: str | None,
    cause: Cause | None,
    *,
    kind: str,
) -> Finding:
    """Store a change as it was last evaluated; without an alert people see it but are not notified."""
    change, evidence = fact.change, fact.change.evidence
    job_ids = window_of(change)
    values = queries.values_of(session, fact.series.id, job_ids)
    window = {"job_ids": job_ids, "values": [values[job_id] for job_id in job_ids]}
    finding = Finding(
        id=ids.new_id("fnd"),
        kind=kind,
        role=role,
        alert_id=alert_id,
        comparison_id=None,
        series_id=fact.series.id,
        change_id=change.id,
        numbers=change_numbers(fact, cause),
        run_id=fact.first.run_id,
        job_id=change.job_id,
        method=str(evidence["method"]),
        parameters={
            "history": dict(evidence["parameters"]),
            "warm": asdict(WarmPolicy()),
        },
        filters=[dict(check) for check in evidence["filters"]],
        window=window,
        created_at=clock.now(),
    )
    session.add(finding)
    return finding


def change_numbers(fact: ChangeFacts, cause: Cause | None) -> dict[str, Any]:
    """The frozen numbers of a change."""
    change, window = fact.change, window_of(fact.change)
    at = int(change.evidence["index"])
    return {
        "words": describe_change(fact),
        "direction": change.direction,
        "effect": change.effect,
        "ratio": fact.ratio,
        "bounds": list(fact.bounds),
        "lower": change.lower,
        "upper": change.upper,
        "p_value": change.p_value,
        "level_before": change.level_before,
        "level_after": change.level_after,
        "n_before": change.evidence.get("n_before"),
        "n_after": change.evidence.get("n_after"),
        "index": at,
        "points": len(window),
        "state": change.state,
        "evaluations": change.evaluations,
        "before_commit": change.before_commit,
        "commit": change.commit,
        "base_commit": fact.base_commit,
        "head_commit": fact.head_commit,
        "cause": None if cause is None else cause.stored(),
    }
