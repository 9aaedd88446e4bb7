"""The front door of alerts about history: evaluates jobs, confirms alerts, moves
baselines.

Outbox topic `alerts.history`: one message per job whose points changed what detection
says.

    change ─ rule ─ group ─▶ suspected ─ cool-down ─▶ A/B run ─▶ open ─▶ bisect    (`raising`, `confirmation`)
                                │                        │         │
             more points ───────┴─▶ vanished     unconfirmed    recover, verify, relapse    (`follow_up`)

Evaluating a job again adds nothing; everything that follows from one job commits with
its message. The jobs of one target are evaluated one at a time, so that one event
raises one alert. Locks are taken in the same order as triage takes them: target, alerts
by id, changes.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts import policy_alerts
from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.changes import confirmation, follow_up, queries, raising
from paceline_server.alerts.rules import service as rules
from paceline_server.detect.changes import service as detection
from paceline_server.store.tables.decisions import Alert
from paceline_server.store.tables.jobs import Job, Run

__all__ = [
    "accept",
    "confirm",
    "decide",
    "evaluate",
    "stop_waiting_for_agent",
    "withdraw",
]


def evaluate(session: Session, job_id: str) -> None:
    """Draw the consequences of a job whose points were added to their series."""
    found = alert_queries.job_with_run(session, job_id)
    if found is None:
        return
    job, _ = found
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


def confirm(session: Session, alert: Alert) -> None:
    """The cool-down of a locked alert is over: ask for its A/B run."""
    confirmation.start_confirmation(session, alert)


def decide(session: Session, alert: Alert, job: Job, run: Run) -> None:
    """The A/B run of a locked alert ended."""
    confirmation.decide_confirmation(session, alert, job, run)


def stop_waiting_for_agent(session: Session, key: str) -> None:
    """An A/B run has waited; `key` is `alert:run`."""
    alert_id, _, run_id = key.partition(":")
    for alert in queries.lock_alerts(session, [alert_id]):
        confirmation.stop_waiting_for_agent(session, alert, run_id)


def accept(session: Session, alert: Alert, commit: str | None = None) -> None:
    """A person called an alert expected: the level of its changes, or of a later commit, is the new baseline
    of their series. Raises 400 for a commit that can be none."""
    detection.accept_changes(
        session, queries.change_ids(session, alert.id), by=alert.id, commit=commit
    )


def withdraw(session: Session, alert: Alert) -> None:
    """It was not expected after all: what it accepted is what it was, and the baseline goes back."""
    detection.withdraw_changes(
        session, queries.change_ids(session, alert.id), by=alert.id
    )
