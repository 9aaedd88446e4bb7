"""Drives the life of every alert: the only code that changes `Alert.state`.

What must stay true:
- a cause has one living alert, whichever transaction sees it first;
- people hear once of what a confirmation, a person or a failed fix opened (I13), and of nothing raised in shadow;
- every change is legal (`states`), leaves an event in the alert's history, and is published live only when people
  may know of the alert;
- evaluating a job twice changes nothing.

    observation ─▶ suspected ─ cool-down ─▶ alerts.confirm ─▶ request_confirmation ─▶ run ─▶ job done
                       │                                                                        │
                       └── raise or join by cause            open ─▶ alerts.notify ◀── settle ──┘

    alerts.notify ─▶ compose_notice ─▶ tell ─┬─ published ─▶ "notified"
          ▲                                  └─ muted ─▶ "silenced" ─ at its end ─▶ notify_after_mute ─┐
          └─────────────────────────────────────────────────────── still open, and nobody heard ───────┘

What differs between kinds is in `kinds/`. Channels send a notice and repeat what fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import structlog
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.explanation import case_place, explain_alert
from paceline_server.alerts.kind import (
    AlertKind,
    Decision,
    EndedJob,
    Observation,
    Watched,
)
from paceline_server.alerts.queries import FindingEvidence
from paceline_server.alerts.registry import all_kinds, kind_of
from paceline_server.alerts.rules.rule_book import mute_in_force, mute_words
from paceline_server.alerts.schemas import AlertState
from paceline_server.alerts.states import VISIBLE, Event, next_state
from paceline_server.channels import service as channels
from paceline_server.channels.service import Link, Notice, Ratios
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, ids, settings
from paceline_server.store import live_events, outbox
from paceline_server.store.outbox import handle_topic, handle_topic_after_reading
from paceline_server.store.tables.alerts import Alert, AlertEvent
from paceline_server.store.tables.rules import RuleMute

log = structlog.get_logger("paceline.alerts")

SYSTEM = "paceline"
"""Actor of the server's own decisions."""
CONFIRM = "alerts.confirm"
"""Outbox topic: the cool-down of a suspected alert is over; the key is its id."""
NOTIFY = "alerts.notify"
"""Outbox topic: an alert opened and people are to be notified; the key is its id."""
PATIENCE = "alerts.patience"
"""Outbox topic: a confirmation run has waited long enough for an agent; the key is `alert:run`."""
SILENCE_ENDED = "alerts.silence_ended"
"""Outbox topic: a mute ended during which an alert opened; the key is the alert's id."""
SILENCED, NOTIFIED = "silenced", "notified"
"""Events of an alert about notification."""
OUTCOMES = {
    "proven": (Event.confirm, "proven"),
    "cleared": (Event.refute, "code_cleared"),
    "undecided": (Event.undecide, "ab_undecided"),
}
"""The event of a decision about an untold alert, and the remark about one that people know."""
FOUND_AGAIN = {
    Event.retry: None,
    Event.reappear: "the change is seen again",
}
"""Notes of the events by which an alert is doubted again; others say what was seen."""


def watch(session: Session, watched: Watched, ended: EndedJob) -> None:
    """Raise, join, confirm and close the alerts that a job decides about."""
    for kind in all_kinds():
        if kind.watches == watched:
            for seen in kind.observe(session, ended):
                _apply_observation(session, kind, seen)


def has_news(session: Session, project_id: str, at: datetime) -> bool:
    """Return whether `watch_clock` would change anything in a project. Reads only, so an idle sweeper takes no write
    lock."""
    return any(
        True
        for kind in all_kinds()
        if kind.watches == "clock"
        for _ in kind.observe_now(session, project_id, at)
    )


def watch_clock(session: Session, project_id: str, at: datetime) -> None:
    """Raise, join and close the alerts that the facts of a project decide about. The lock keeps a second sweeper
    waiting, which then sees what this one did."""
    queries.lock_project(session, project_id)
    for kind in all_kinds():
        if kind.watches == "clock":
            for seen in kind.observe_now(session, project_id, at):
                _apply_observation(session, kind, seen)


def _apply_observation(
    session: Session, kind: AlertKind[Any], seen: Observation[Any]
) -> None:
    newest = queries.newest_of_cause(session, seen.cause_key)
    if (
        kind.observes_again
        and newest is not None
        and seen.job_id is not None
        and queries.has_finding(session, newest.id, seen.job_id)
    ):
        return
    alert = kind.find_alert(session, seen)
    if seen.outcome == "holds":
        if alert is not None:
            _close(session, kind, alert, seen)
    elif alert is not None:
        _join(session, kind, alert, seen)
    elif not kind.needs_no_alert(session, seen, newest):
        _raise_or_join(session, kind, seen)


def _raise_or_join(
    session: Session, kind: AlertKind[Any], seen: Observation[Any]
) -> None:
    alert = _raise_alert(session, kind, seen)
    if alert is None:
        alert = kind.find_alert(session, seen)
        if alert is not None:
            _join(session, kind, alert, seen)
        return
    kind.store_findings(session, alert, seen, "candidate")
    if seen.outcome == "fails" and not kind.needs_run:
        apply_event(session, alert, Event.confirm, seen.words)


def _raise_alert(
    session: Session, kind: AlertKind[Any], seen: Observation[Any]
) -> Alert | None:
    """Store a suspected alert; None when another transaction raised its cause first."""
    at, rule = clock.now(), seen.rule
    alert = Alert(
        id=ids.new_id("alt"),
        cause_key=seen.cause_key,
        state="suspected",
        kind=seen.kind,
        cause=seen.cause,
        title=seen.title,
        suite=seen.suite,
        benchmark=seen.benchmark,
        arm=seen.arm,
        reference=seen.reference,
        metric=seen.metric,
        target_id=seen.target_id,
        demonstration=seen.demonstration,
        base_commit=seen.base_commit,
        head_commit=seen.head_commit,
        rule_id=rule.rule_id,
        rule_version=rule.version,
        shadow=rule.shadow,
        rule=rule.as_evidence(),
        words=seen.words,
        ratio=seen.ratio,
        lower=seen.lower,
        upper=seen.upper,
        run_id=seen.run_id,
        created_at=at,
        updated_at=at,
    )
    try:
        with session.begin_nested():
            session.add(alert)
            session.flush()
    except IntegrityError:
        return None
    note = seen.raised_because or seen.words
    add_event(session, alert, Event.raise_.value, SYSTEM, note)
    if kind.needs_run:
        schedule_confirmation(session, alert)
    return alert


def _join(
    session: Session, kind: AlertKind[Any], alert: Alert, seen: Observation[Any]
) -> None:
    """Add an observation to the alert of its cause, and doubt it again where its state asks for that."""
    add_event(session, alert, "found_again", SYSTEM, seen.words)
    rule = seen.rule
    if not rule.shadow:
        leave_shadow(session, alert, rule.rule_id, rule.version, rule.as_evidence())
    kind.join(alert, seen)
    event = kind.found_again.get(alert.state)  # type: ignore[call-overload]  # the column holds `AlertState`s only
    if event is not None:
        if event is Event.retry:
            alert.run_id = seen.run_id
        note = FOUND_AGAIN.get(event, seen.words)
        alert = revive_alert(session, alert, event, note)
    elif alert.state in kind.proven_again_in:
        schedule_confirmation(session, alert)
    kind.store_findings(session, alert, seen, "candidate")


def _close(
    session: Session, kind: AlertKind[Any], alert: Alert, seen: Observation[Any]
) -> None:
    """End an alert whose cause is gone. The confirmation run of a suspected one decides about it."""
    if alert.state == "suspected" and kind.needs_run:
        return
    proof = kind.recovery(session, alert, seen)
    if proof is None:
        return
    kind.store_findings(session, alert, proof, "recovery")
    is_told = alert.state in ("open", "acknowledged")
    event = Event.recover if is_told else Event.refute
    apply_event(session, alert, event, proof.words)


@handle_topic(CONFIRM)
def request_confirmation(session: Session, alert_id: str) -> None:
    """Request the confirmation run of an alert after its cool-down, or settle the alert if none can decide."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None:
        return
    kind = kind_of(alert.kind)
    if alert.state not in kind.confirmed_in or is_being_confirmed(session, alert):
        return
    requested = _why_not_measured_again(session, alert) or kind.request_run(
        session, alert
    )
    if isinstance(requested, Decision):
        settle(session, alert, requested)
    elif requested is not None:
        alert.confirmation_run_id = requested.run.id
        note = requested.note
        add_event(session, alert, "confirmation_requested", SYSTEM, note)
        if requested.is_awaited:
            _wait_for_agent(session, alert)


def _why_not_measured_again(session: Session, alert: Alert) -> Decision | None:
    """Return the decision about an alert whose run no agent can repeat; None if one can, or if history decides."""
    if kind_of(alert.kind).follows_series or alert.run_id is None:
        return None
    who = queries.who_measured_elsewhere(session, alert.run_id)
    if who is None:
        return None
    return Decision("undecided", f"no agent can measure it again: {who} measured it")


def schedule_confirmation(session: Session, alert: Alert) -> None:
    """Schedule the confirmation run of an alert for the end of the cool-down."""
    outbox.add(
        session, CONFIRM, alert.id, due_in_s=settings.current().confirm_cooldown_s
    )


def is_being_confirmed(session: Session, alert: Alert) -> bool:
    """Return whether the confirmation run of an alert is queued or active."""
    run_id = alert.confirmation_run_id
    return run_id is not None and queries.run_is_alive(session, run_id)


def cancel_confirmation(session: Session, alert: Alert) -> None:
    """Cancel a confirmation run that is no longer needed. The outbox cancels it after this transaction, which
    may hold the lock on the target that ending a job takes first."""
    if is_being_confirmed(session, alert):
        outbox.add(session, jobs.CANCEL_TOPIC, str(alert.confirmation_run_id))


def _wait_for_agent(session: Session, alert: Alert) -> None:
    patience_s = settings.current().confirm_patience_s
    key = f"{alert.id}:{alert.confirmation_run_id}"
    outbox.add(session, PATIENCE, key, due_in_s=patience_s)


@handle_topic(PATIENCE)
def stop_waiting_for_agent(session: Session, key: str) -> None:
    """Settle an alert without its confirmation run if no agent took the run in time; a late result still counts.
    `key` is `alert:run`."""
    alert_id, _, run_id = key.partition(":")
    alert = queries.lock_alert(session, alert_id)
    if (
        alert is None
        or alert.state != "suspected"
        or alert.confirmation_run_id != run_id
        or not is_being_confirmed(session, alert)
    ):
        return
    if queries.run_is_taken(session, run_id):
        _wait_for_agent(session, alert)
        return
    hours = settings.current().confirm_patience_s / 3600.0
    note = f"no agent took the A/B run within {hours:g} h"
    settle(session, alert, Decision("undecided", note))


def compute_confirmation(session: Session, job_id: str) -> Any:
    """Compute the slow part of deciding a confirmation, if this job was one. It only reads."""
    concluded = queries.job_with_run(session, job_id)
    if concluded is None:
        return None
    job, run = concluded
    if job.state != "done" or run.confirms_alert_id is None:
        return None
    alert = queries.alert(session, run.confirms_alert_id)
    return None if alert is None else kind_of(alert.kind).compute(session, job)


def decide_confirmation(session: Session, alert_id: str, ended: EndedJob) -> None:
    """Decide an alert whose confirmation run ended, with the result of `compute_confirmation`."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None or alert.confirmation_run_id != ended.run.id:
        return
    kind = kind_of(alert.kind)
    if alert.state not in kind.decided_in:
        return
    decision = kind.read_confirmation(session, alert, ended)
    if decision is not None:
        settle(session, alert, decision)


def settle(session: Session, alert: Alert, decision: Decision) -> None:
    """Apply a decision to a locked alert: to its state while people do not know of it, else as a remark. A proof
    reopens what was fixed."""
    kind, before = kind_of(alert.kind), alert.state
    event, remark = OUTCOMES[decision.outcome]
    if before in ("suspected", "inconclusive"):
        if event is not Event.undecide or _is_news(session, alert, decision.note):
            apply_event(session, alert, event, decision.note)
    elif before == "fixed" and event is Event.confirm:
        if revive_alert(session, alert, Event.relapse, decision.note) is not alert:
            return
    else:
        add_event(session, alert, remark, SYSTEM, decision.note)
    kind.after_decision(session, alert, decision, before)  # type: ignore[arg-type]  # the column holds `AlertState`s only


def _is_news(session: Session, alert: Alert, note: str) -> bool:
    """Return whether an undecided alert was not yet undecided for this reason."""
    if alert.state == "suspected":
        return True
    last = queries.last_event(session, alert.id, (Event.undecide.value,))
    return last is None or last.note != note


def vanish(session: Session, alert: Alert, note: str) -> None:
    """End an alert whose finding no longer holds, and cancel its confirmation run."""
    cancel_confirmation(session, alert)
    apply_event(session, alert, Event.vanish, note)


def revive_alert(
    session: Session, alert: Alert, event: Event, note: str | None
) -> Alert:
    """Apply an event that makes a locked alert living, and return the alert. If its cause has a living alert
    already, that one takes over and is returned."""
    try:
        with session.begin_nested():
            apply_event(session, alert, event, note)
    except IntegrityError:
        living = queries.lock_living_alert(session, alert.cause_key)
        if living is None:
            raise
        joined = f"{note}; looked into as {living.id}: {living.title}"
        add_event(session, alert, "joined", SYSTEM, joined)
        if not alert.shadow:
            leave_shadow(session, living, alert.rule_id, alert.rule_version, alert.rule)
        kind_of(alert.kind).hand_over(session, alert, living)
        return living
    return alert


def apply_event(
    session: Session,
    alert: Alert,
    event: Event,
    note: str | None = None,
    *,
    actor: str = SYSTEM,
) -> None:
    """Apply an event to a locked alert, and schedule what its new state needs: a confirmation, or that people are
    notified. Raises IllegalTransitionError and changes nothing."""
    before = alert.state
    alert.state = next_state(before, event)  # type: ignore[arg-type]  # the column holds `AlertState`s only
    add_event(session, alert, event.value, actor, note, before=before)
    if event in (Event.retry, Event.reappear):
        schedule_confirmation(session, alert)
    elif event in (Event.confirm, Event.relapse):
        outbox.add(session, NOTIFY, alert.id)


def restore(
    session: Session, alert: Alert, state: AlertState, actor: str, note: str
) -> None:
    """Return a locked alert to its state before a decision that is undone. `states` has no rule for this: the
    alert was in that state, and nothing has happened since."""
    before = alert.state
    alert.state = state
    add_event(session, alert, "undo", actor, note, before=before)


def add_event(
    session: Session,
    alert: Alert,
    action: str,
    actor: str,
    note: str | None = None,
    *,
    before: str | None = None,
) -> None:
    """Add an event to an alert's history; `before` is the former state if the event changed it, which
    is published."""
    at = clock.now()
    alert.updated_at = at
    session.add(
        AlertEvent(
            id=ids.new_id("aev"),
            alert_id=alert.id,
            at=at,
            actor=actor,
            action=action,
            from_state=before,
            to_state=None if before is None and action != Event.raise_ else alert.state,
            note=note,
        )
    )
    session.flush()
    if before is not None and not VISIBLE.isdisjoint({before, alert.state}):
        publish_alert(session, alert)


def leave_shadow(
    session: Session,
    alert: Alert,
    rule_id: str | None,
    version: int | None,
    rule: dict[str, Any],
) -> None:
    """Make an alert raised in shadow visible under the active rule that found its cause again, and notify people
    if it is open."""
    if not alert.shadow:
        return
    alert.rule_id, alert.rule_version, alert.rule = rule_id, version, rule
    show_alert(session, alert)


def show_alert(session: Session, alert: Alert) -> None:
    """Make a locked alert visible because its rule is active now, and notify people if it is open."""
    alert.shadow = False
    add_event(session, alert, "left_shadow", SYSTEM)
    if alert.state in ("open", "acknowledged"):
        publish_alert(session, alert)
        outbox.add(session, NOTIFY, alert.id)


def publish_alert(session: Session, alert: Alert) -> None:
    """Publish an alert to live streams, unless it is in shadow."""
    if alert.shadow:
        return
    data = {"id": alert.id, "state": alert.state, "title": alert.title}
    live_events.emit(session, "alert", None, None, data)


def compose_notice(session: Session, alert_id: str) -> Notice | None:
    """Return the notice of an open alert. It only reads, because its evidence may be long."""
    alert = queries.alert(session, alert_id)
    if alert is None or not _is_worth_telling(alert):
        return None
    target = queries.spoken_name(session, alert.target_id)
    evidence = queries.evidence_of(session, alert.id)
    where = settings.current().public_url or ""
    return Notice(
        kind="alert.opened",
        severity=_severity(alert),
        subject_id=alert.id,
        state=alert.state,
        title=alert.title,
        summary=alert.words,
        text=explain_alert(session, alert, target, evidence),
        url=f"{where}/alerts/{alert.id}",
        suite=alert.suite or None,
        target_id=alert.target_id,
        target=target or None,
        branch=queries.branch_of_run(session, alert.run_id),
        demonstration=alert.demonstration,
        links=tuple(
            Link(label, f"{where}{path}")
            for label, path in kind_of(alert.kind).links(alert)
        ),
        ratios=_worst_ratios(evidence),
    )


def _worst_ratios(evidence: Sequence[FindingEvidence]) -> Ratios | None:
    """Return the launches of the comparison that is worst; None for an alert in which none shows a slowdown."""
    compared = [
        row.comparison
        for row in evidence
        if row.comparison is not None
        and (row.comparison.ratio or 0.0) > 1.0
        and row.comparison.evidence.get("launch_ratios")
    ]
    if not compared:
        return None
    worst = max(compared, key=lambda comparison: comparison.ratio or 0.0)
    sides = (
        "head ÷ base"
        if worst.sides == "revisions"
        else f"{worst.arm} ÷ {worst.reference}"
    )
    place = case_place(worst.arm, worst.benchmark, worst.params)
    margin: float = worst.evidence["margin_percent"]
    values = tuple(worst.evidence["launch_ratios"])
    return Ratios(f"{place}: {sides}", values, 1.0 + margin / 100.0)


def _severity(alert: Alert) -> channels.Severity:
    """Return the severity of an alert: critical if it blames the code, a warning if it blames the target."""
    if alert.demonstration:
        return "info"
    blames_code = kind_of(alert.kind).blames_code or alert.cause == "code"
    return "critical" if blames_code else "warning"


@handle_topic_after_reading(NOTIFY, compose_notice)
def tell(session: Session, alert_id: str, notice: Notice | None) -> None:
    """Publish the notice of an alert, or record in its history that its rule is muted."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None or notice is None or not _is_worth_telling(alert):
        return
    mute = mute_in_force(session, alert.rule_id)
    if mute is not None:
        add_event(session, alert, SILENCED, SYSTEM, mute_words(mute))
        _wait_for_end_of_mute(session, alert, mute)
        return
    log.warning(
        "alert_open", alert_id=alert.id, title=notice.title, words=notice.summary
    )
    told = ["log", *channels.publish(session, notice)]
    add_event(session, alert, NOTIFIED, SYSTEM, ", ".join(told))


@handle_topic(SILENCE_ENDED)
def notify_after_mute(session: Session, alert_id: str) -> None:
    """Notify people of an alert whose rule's mute ended, unless it is closed, was notified meanwhile or is
    muted again."""
    alert = queries.lock_alert(session, alert_id)
    if alert is None or not _is_worth_telling(alert):
        return
    mute = mute_in_force(session, alert.rule_id)
    if mute is not None:
        _wait_for_end_of_mute(session, alert, mute)
        return
    last = queries.last_event(session, alert_id, (SILENCED, NOTIFIED))
    if last is not None and last.action == SILENCED:
        outbox.add(session, NOTIFY, alert.id)


def _is_worth_telling(alert: Alert) -> bool:
    return alert.state in ("open", "acknowledged") and not alert.shadow


def _wait_for_end_of_mute(session: Session, alert: Alert, mute: RuleMute) -> None:
    left = (mute.until - clock.now()).total_seconds()
    outbox.add(session, SILENCE_ENDED, alert.id, due_in_s=max(0.0, left))
