"""Raises, confirms and closes alerts about arms; people hear only of confirmed ones (I13).

Handles the outbox topic `alerts.evaluate`, one message per concluded job. What must stay
true:
- a cause has one living alert; a cause is a suite, benchmark, arm, metric, target and
  whether it was a demonstration, over all params;
- only the event `confirm` leads to `alerts.notify`;
- a confirmation decides only its own alert, and a demonstration proves no recovery;
- evaluating a job twice changes nothing;
- the suite's manifest decides what fails; a stored rule decides which failures raise an
  alert.

    job done ─ failing arms ─▶ suspected ─ cool-down ─▶ alerts.confirm ─▶ confirmation run ─▶ job done
                                                                                                │
                   alerts.notify ◀── open ◀── one of the failing points fails again ────────────┤
                                     unconfirmed ◀── all of them pass ──────────────────────────┤
                                     inconclusive ◀── else, or no verdict at all ───────────────┘
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import alert_sentences, policy_alerts, queries, run_alerts
from paceline_server.alerts.bisect import service as bisect
from paceline_server.alerts.candidates import (
    ask_for_confirmation,
    is_being_confirmed,
    raise_alert,
    values_by_param,
)
from paceline_server.alerts.changes import service as changes
from paceline_server.alerts.explain import service as explain
from paceline_server.alerts.history import SYSTEM, add_event, change_state, leave_shadow
from paceline_server.alerts.queries import counts_by_state, opened_since, titles
from paceline_server.alerts.rules import service as rules
from paceline_server.alerts.rules.service import RuleSubject
from paceline_server.alerts.states import Event
from paceline_server.alerts.topics import CONFIRM, NOTIFY
from paceline_server.detect import service as detect
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Alert, Comparison
from paceline_server.store.tables.history import PolicyAdvice
from paceline_server.store.tables.jobs import Job, Run

__all__ = [
    "CONFIRM",
    "NOTIFY",
    "cause_key",
    "counts_by_state",
    "evaluate",
    "explanations",
    "opened_since",
    "start_confirmation",
    "titles",
]


def cause_key(comparison: Comparison, *, demonstration: bool | None = None) -> str:
    """The cause of an alert about an arm, over all params."""
    of_demonstration = (
        comparison.demonstration if demonstration is None else demonstration
    )
    parts = [
        comparison.suite,
        comparison.benchmark,
        comparison.arm,
        comparison.metric,
        comparison.target_id,
        of_demonstration,
    ]
    return json.dumps(parts, separators=(",", ":"))


def explanations(session: Session, alerts: Sequence[Alert]) -> dict[str, str]:
    """The sentence of each alert's page, by id."""
    return {
        alert.id: explain.explain_briefly(
            session, alert, queries.spoken_name(session, alert.target_id)
        ).sentence
        for alert in alerts
    }


def advise_again(session: Session, job_id: str) -> list[PolicyAdvice]:
    """Advice from the samples of a policy alert's confirmation; empty for every other job. Reads only: the
    analysis takes long and must not hold up the database's writer."""
    concluded = queries.job_with_run(session, job_id)
    if concluded is None:
        return []
    job, run = concluded
    if job.state != "done" or run.confirms_alert_id is None:
        return []
    alert = queries.alert(session, run.confirms_alert_id)
    if alert is None or alert.kind != "policy":
        return []
    return detect.advise_again(session, job_id)


def evaluate(session: Session, job_id: str, advised: Sequence[PolicyAdvice]) -> None:
    """Decide the confirmation that this job was, or else raise and close alerts by its comparisons.
    `advised` comes from `advise_again`."""
    concluded = queries.job_with_run(session, job_id)
    if concluded is None:
        return
    job, run = concluded
    if run.bisection_id is not None:
        bisect.advance(session, job, run)
        return
    if run.confirms_alert_id is not None:
        _decide_confirmation(session, run.confirms_alert_id, job, run, advised)
        return
    run_alerts.evaluate(session, job, run)
    # A pull request's head is not what the team runs: its verdict is said there, and raises or closes no alert.
    if job.state != "done" or run.judges_head:
        return
    causes: dict[str, list[Comparison]] = defaultdict(list)
    for comparison in detect.comparisons_of_job(session, job_id):
        if comparison.evidence["rule"] is not None:
            causes[cause_key(comparison)].append(comparison)
    book = rules.rules_in_force(session, "arm_slower")
    target = queries.target_name(session, job.target_id)
    for key, comparisons in causes.items():
        rule = book.rule_for(RuleSubject.of(comparisons[0], target))
        failing = [
            comparison for comparison in comparisons if comparison.verdict == "fail"
        ]
        worth_it = [
            comparison
            for comparison in failing
            if rule.raises((comparison.ratio or 1.0) - 1.0)
        ]
        if worth_it:
            _handle_failure(session, key, worth_it, comparisons, rule)
        elif not failing and not run.demonstration:
            for of_demonstration in (False, True):
                _handle_pass(
                    session,
                    cause_key(comparisons[0], demonstration=of_demonstration),
                    comparisons,
                )


def _handle_failure(
    session: Session,
    key: str,
    failing: Sequence[Comparison],
    all_points: Sequence[Comparison],
    rule: rules.AppliedRule,
) -> None:
    """Raise an alert about a failing arm, or add evidence to its living alert."""
    known = queries.known_comparisons(
        session, [comparison.id for comparison in failing]
    )
    fresh = [comparison for comparison in failing if comparison.id not in known]
    if not fresh:
        return
    alert = queries.lock_living_alert(session, key)
    if alert is None:
        if _is_expected(session, key, fresh):
            return
        alert = _raise_alert(session, key, fresh, len(all_points), rule)
        if alert is None:
            alert = queries.lock_living_alert(session, key)
    else:
        add_event(
            session,
            alert,
            "found_again",
            SYSTEM,
            alert_sentences.headline(fresh, len(all_points)),
        )
        if alert.shadow and not rule.shadow:
            leave_shadow(session, alert)
    if alert is None:
        return
    for comparison in fresh:
        detect.record_finding(session, comparison, "candidate", alert.id)
    if alert.state == "inconclusive":
        change_state(session, alert, Event.retry, SYSTEM)
        alert.run_id = fresh[0].run_id
        ask_for_confirmation(session, alert)
    if alert.state in ("open", "acknowledged"):
        _describe(alert, fresh, len(all_points))


def _is_expected(session: Session, key: str, failing: Sequence[Comparison]) -> bool:
    """Whether a person called this slowdown expected and no point of the params has become slower since.
    A point that did not fail then counts as slower."""
    newest = queries.newest_of_cause(session, key)
    if newest is None or newest.state != "expected":
        return False
    accepted: dict[str, float] = {}
    for role in ("candidate", "confirmation"):
        for comparison in queries.evidence_keys(session, newest.id, role):
            if comparison.verdict == "fail" and comparison.upper is not None:
                accepted[comparison.params_key] = max(
                    comparison.upper,
                    accepted.get(comparison.params_key, comparison.upper),
                )
    for comparison in failing:
        if (
            comparison.params_key not in accepted
            or (comparison.lower or 0.0) > accepted[comparison.params_key]
        ):
            return False
    add_event(
        session,
        newest,
        "seen_as_expected",
        SYSTEM,
        alert_sentences.headline(failing, len(failing)),
    )
    return True


def _raise_alert(
    session: Session,
    key: str,
    failing: Sequence[Comparison],
    points: int,
    rule: rules.AppliedRule,
) -> Alert | None:
    """Raise a suspected alert; None when another transaction raised the same cause first."""
    worst = alert_sentences.worst_comparison(failing)
    at = clock.now()
    alert = Alert(
        id=ids.new_id("alt"),
        cause_key=key,
        state="suspected",
        title=alert_sentences.title(
            worst, queries.spoken_name(session, worst.target_id)
        ),
        suite=worst.suite,
        benchmark=worst.benchmark,
        arm=worst.arm,
        reference=worst.reference,
        metric=worst.metric,
        target_id=worst.target_id,
        demonstration=worst.demonstration,
        kind="arm_slower",
        rule_id=rule.rule_id,
        rule_version=rule.version,
        shadow=rule.shadow,
        rule=_rule_evidence(worst.evidence["rule"], rule),
        words=alert_sentences.headline(failing, points),
        ratio=worst.ratio,
        lower=worst.lower,
        upper=worst.upper,
        run_id=worst.run_id,
        created_at=at,
        updated_at=at,
    )
    return raise_alert(session, alert, alert.words)


def _rule_evidence(
    shipped: Mapping[str, Any], rule: rules.AppliedRule
) -> dict[str, Any]:
    """What the alert keeps of its rule: the manifest's text, followed by the stored rule's."""
    if rule.rule_id is None:
        named = {"name": shipped["name"], "text": shipped["text"]}
    else:
        named = {"text": f"{shipped['text']} {rule.text}"}
    return rule.as_evidence() | named


def _describe(alert: Alert, failing: Sequence[Comparison], points: int) -> None:
    """Update the alert's headline and numbers from its newest evidence."""
    worst = alert_sentences.worst_comparison(failing)
    alert.words = alert_sentences.headline(failing, points)
    alert.ratio, alert.lower, alert.upper = worst.ratio, worst.lower, worst.upper


def start_confirmation(session: Session, alert_id: str) -> None:
    """Request the confirmation of a suspected alert: same revision and knobs, only the failing points (I13)."""
    alert = queries.lock_alert(session, alert_id)
    if alert is not None and alert.kind != "arm_slower":
        if alert.kind == "policy":
            policy_alerts.start_confirmation(session, alert)
        else:
            changes.start_confirmation(session, alert)
        return
    if alert is None or alert.state != "suspected":
        return
    if is_being_confirmed(session, alert):
        return
    failing = queries.evidence_keys(session, alert.id, "candidate", alert.run_id)
    run = jobs.confirmation_run(
        session,
        alert_id=alert.id,
        original_run_id=alert.run_id,
        benchmarks=[alert.benchmark],
        params=values_by_param(comparison.params for comparison in failing),
        target_id=alert.target_id,
        not_before=clock.now(),
    )
    alert.confirmation_run_id = run.id
    add_event(session, alert, "confirmation_requested", SYSTEM, f"run {run.id}")


def _decide_confirmation(
    session: Session, alert_id: str, job: Job, run: Run, advised: Sequence[PolicyAdvice]
) -> None:
    """Decide an alert whose confirmation ended; only the points that failed before count."""
    alert = queries.lock_alert(session, alert_id)
    if alert is not None and alert.kind == "policy":
        policy_alerts.decide_confirmation(session, alert, job, run, advised)
        return
    if alert is not None and alert.kind != "arm_slower":
        changes.decide_confirmation(session, alert, job, run)
        return
    if (
        alert is None
        or alert.confirmation_run_id != run.id
        or alert.state not in ("suspected", "inconclusive")
    ):
        return
    if job.state != "done":
        if alert.state == "suspected":
            reason = jobs.reason_of_end(job)
            note = f"the confirmation ended without a verdict: {job.state}: {reason}"
            change_state(session, alert, Event.undecide, SYSTEM, note)
        return
    failed_before = {
        key.params_key
        for key in queries.evidence_keys(session, alert.id, "candidate", alert.run_id)
    }
    again = [
        comparison
        for comparison in detect.comparisons_of_job(session, job.id)
        if (comparison.arm, comparison.metric) == (alert.arm, alert.metric)
        and comparison.params_key in failed_before
    ]
    known = queries.known_comparisons(session, [comparison.id for comparison in again])
    for comparison in again:
        if comparison.id not in known:
            detect.record_finding(session, comparison, "confirmation", alert.id)
    failing = [comparison for comparison in again if comparison.verdict == "fail"]
    if failing:
        _describe(alert, failing, len(again))
        change_state(session, alert, Event.confirm, SYSTEM, alert.words)
        outbox.add(session, NOTIFY, alert.id)
    elif again and all(comparison.verdict == "pass" for comparison in again):
        change_state(session, alert, Event.refute, SYSTEM, again[0].evidence["words"])
    else:
        reason = next(
            (comparison.reason for comparison in again if comparison.verdict != "pass"),
            "nothing was measured again",
        )
        change_state(session, alert, Event.undecide, SYSTEM, reason)


def _handle_pass(session: Session, key: str, comparisons: Sequence[Comparison]) -> None:
    """Close the alert of an arm that no longer fails, once every point that failed before passes."""
    alert = queries.lock_living_alert(session, key)
    if alert is None or alert.state == "suspected":
        return
    failed = {
        key.params_key for key in queries.evidence_keys(session, alert.id, "candidate")
    }
    passing = [
        comparison
        for comparison in comparisons
        if comparison.verdict == "pass" and comparison.params_key in failed
    ]
    if {comparison.params_key for comparison in passing} != failed:
        return
    for comparison in passing:
        detect.record_finding(session, comparison, "recovery", alert.id)
    event = Event.refute if alert.state == "inconclusive" else Event.recover
    change_state(
        session,
        alert,
        event,
        SYSTEM,
        alert_sentences.headline(passing, len(comparisons)),
    )
