"""From changes of series to alerts about history: the front door of this package.

Place: after detect (outbox `alerts.history`, one per job whose points moved a series' detection), before
people. The life of such an alert:

    change ─ rule ─ group ─▶ suspected ─ cool-down ─▶ A/B run ─▶ open ─▶ bisect    (`raising`, `confirming`)
                                │                        │         │
             more points ───────┴─▶ vanished     unconfirmed    recover, verify, relapse    (`following`)

Invariants: evaluating a job again adds nothing; whatever follows from one job commits with its message;
one target's jobs are evaluated one at a time, so that one event raises one alert; locks are taken in one
order, as triage takes them: target, alerts by id, changes.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts import from_policy
from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.changes import confirming, following, queries, raising
from paceline_server.alerts.rules import service as rules
from paceline_server.detect.changes import service as detection
from paceline_server.store.tables.decisions import Alert
from paceline_server.store.tables.jobs import Job, Run

__all__ = ["accept", "confirm", "decide", "evaluate", "lose_patience", "withdraw"]


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
            following.follow(session, alert)
    fresh = [
        fact
        for fact in facts
        if fact.change.alert_id is None and fact.change.state in raising.LIVE_CHANGES
    ]
    raising.raise_for(
        session, job.target_id, fresh, rules.rules_in_force(session, "history")
    )
    from_policy.evaluate(session, job_id)


def confirm(session: Session, alert: Alert) -> None:
    """The cool-down of a locked alert is over: ask for its A/B run."""
    confirming.start(session, alert)


def decide(session: Session, alert: Alert, job: Job, run: Run) -> None:
    """The A/B run of a locked alert ended."""
    confirming.decide(session, alert, job, run)


def lose_patience(session: Session, key: str) -> None:
    """An A/B run has waited; `key` is `alert:run`."""
    alert_id, _, run_id = key.partition(":")
    for alert in queries.lock_alerts(session, [alert_id]):
        confirming.lose_patience(session, alert, run_id)


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
