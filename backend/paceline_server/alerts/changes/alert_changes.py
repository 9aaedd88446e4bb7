"""The changes of an alert: which it has, their findings, and the headline they give it.

A finding holds the method, the parameters, every filter, the points of its window and its
numbers, so that `explain` can compute it again whatever detection does later (I16).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.changes import queries
from paceline_server.alerts.changes.causes import Cause
from paceline_server.alerts.changes.change_facts import (
    LIVE_CHANGES,
    ChangeFacts,
    describe_change,
    headline,
    surest_change,
    title,
    window_of,
    worst_change,
)
from paceline_server.alerts.states import LIVE
from paceline_server.detect.service import Role
from paceline_server.kernel import clock, ids
from paceline_server.stats.blocks import WarmPolicy
from paceline_server.store.tables.decisions import Alert, Finding


def attach_changes(
    session: Session,
    alert: Alert,
    facts: Sequence[ChangeFacts],
    cause: Cause | None,
    role: Role,
) -> None:
    """Make changes part of an alert, each with an immutable finding."""
    for fact in facts:
        fact.change.alert_id = alert.id
        if cause is not None:
            fact.change.cause = cause.cause
        store_change_finding(session, fact, role, alert.id, cause, kind=alert.kind)
    session.flush()
    if alert.state in LIVE:
        update_description(session, alert)


def living_changes(session: Session, alert: Alert) -> list[ChangeFacts]:
    """The changes of an alert that detection still sees, the oldest first."""
    facts = queries.changes_of_alerts(session, [alert.id])[alert.id]
    return [fact for fact in facts if fact.change.state in LIVE_CHANGES]


def pending_changes(session: Session, alert: Alert) -> list[ChangeFacts]:
    """The living changes an A/B run decides about; of a fixed alert only those found after it was fixed."""
    facts = living_changes(session, alert)
    if alert.state != "fixed":
        return facts
    closed = alert_queries.last_event(session, alert.id, ("fixed", "recover"))
    return (
        []
        if closed is None
        else [fact for fact in facts if fact.change.found_at >= closed.at]
    )


def update_description(session: Session, alert: Alert) -> None:
    """Update an alert's headline and range from its living changes; of an open alert only the title."""
    facts = living_changes(session, alert)
    if not facts:
        return
    name = alert_queries.spoken_name(session, alert.target_id)
    description = description_of(facts, name, environment=alert.kind == "environment")
    for field in (
        description if alert.state in ("suspected", "inconclusive") else ("title",)
    ):
        setattr(alert, field, description[field])


def description_of(
    facts: Sequence[ChangeFacts], target_name: str, *, environment: bool
) -> dict[str, Any]:
    """The fields of an alert that its changes decide."""
    worst, lead = worst_change(facts), surest_change(facts)
    low, high = worst.bounds
    return {
        "title": title(facts, target_name, environment=environment),
        "words": headline(facts),
        "benchmark": worst.series.benchmark,
        "arm": worst.series.arm,
        "metric": worst.series.metric,
        "ratio": worst.ratio,
        "lower": low,
        "upper": high,
        "base_commit": lead.base_commit,
        "head_commit": lead.head_commit,
    }


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
