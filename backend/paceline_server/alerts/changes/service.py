"""Evaluates jobs for alerts about history, confirms those alerts, and moves baselines.

Handles the outbox topic `alerts.history`: one message per job whose points were added to
their series. The jobs of a target are evaluated one at a time, so that an event raises one
alert. Locks are taken in this order, as in triage: target, alerts by id, changes.

    change ─ rule ─ group ─▶ suspected ─ cool-down ─▶ A/B run ─▶ open ─▶ bisect    (`raising`, `confirmation`)
                                │                        │         │
             more points ───────┴─▶ vanished     unconfirmed    recover, verify, relapse    (`follow_up`)
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts import policy_alerts
from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.changes import confirmation, follow_up, queries, raising
from paceline_server.alerts.changes.confirmation import (
    decide_confirmation,
    start_confirmation,
)
from paceline_server.alerts.changes.queries import KINDS
from paceline_server.alerts.rules import service as rules
from paceline_server.detect.changes import service as detection
from paceline_server.store.tables.decisions import Alert

__all__ = [
    "KINDS",
    "accept",
    "decide_confirmation",
    "evaluate",
    "start_confirmation",
    "stop_waiting_for_agent",
    "withdraw",
]


def evaluate(session: Session, job_id: str) -> None:
    """Raise and update alerts after a job's points were added to their series."""
    concluded = alert_queries.job_with_run(session, job_id)
    if concluded is None:
        return
    job, _ = concluded
    queries.lock_target(session, job.target_id)
    locked = queries.lock_alerts_of_job(session, job)
    facts = queries.changes_of_job(session, job_id)
    touched = {fact.change.alert_id for fact in facts}
    for alert in locked:
        if alert.id in touched:
            follow_up.follow_alert(session, alert)
    fresh = [
        fact
        for fact in facts
        if fact.change.alert_id is None and fact.change.state in raising.LIVE_CHANGES
    ]
    raising.raise_alerts(
        session, job.target_id, fresh, rules.rules_in_force(session, "history")
    )
    policy_alerts.evaluate(session, job_id)


def stop_waiting_for_agent(session: Session, key: str) -> None:
    """Stop waiting for an A/B run; `key` is `alert:run`."""
    alert_id, _, run_id = key.partition(":")
    for alert in queries.lock_alerts(session, [alert_id]):
        confirmation.stop_waiting_for_agent(session, alert, run_id)


def accept(session: Session, alert: Alert, commit: str | None = None) -> None:
    """Make the level of an expected alert's changes, or of a later commit, the new baseline of their series.
    Raises 400 for a commit that cannot be one."""
    detection.accept_changes(
        session, queries.change_ids(session, alert.id), by=alert.id, commit=commit
    )


def withdraw(session: Session, alert: Alert) -> None:
    """Withdraw the baseline that an alert set when it was called expected."""
    detection.withdraw_changes(
        session, queries.change_ids(session, alert.id), by=alert.id
    )
