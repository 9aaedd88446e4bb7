"""Confirms suspected alerts about history: old against new, interleaved in one job (I13).

Rules (stats/README.md §4.5):

    suspected ─ A/B run ─┬─ slower again ───────────────▶ open, told, bisected
                         ├─ no difference ──────────────▶ unconfirmed (kept with its history)
                         ├─ no difference, same artifact ▶ environment: waits for history, like
                         └─ undecided, or impossible ───▶ inconclusive ─ ≥ 5 points and the same place in
                                                          two evaluations in a row ▶ open, told

Only history opens an alert about the environment, after an A/B run did not blame the
code. Identical artifacts never blame the code (I15). Nobody hears of anything before
`open`.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.bisect import service as bisect
from paceline_server.alerts.bisect.verdicts import side_of
from paceline_server.alerts.candidates import (
    ask_for_confirmation,
    is_being_confirmed,
    values_by_param,
)
from paceline_server.alerts.changes import history_sentences, queries
from paceline_server.alerts.changes.causes import Cause
from paceline_server.alerts.changes.change_facts import (
    ChangeFacts,
    surest_change,
    worst_change,
)
from paceline_server.alerts.changes.findings import store_change_finding
from paceline_server.alerts.changes.raising import (
    determine_cause,
    living_changes,
    revive_alert,
)
from paceline_server.alerts.history import SYSTEM, add_event, change_state
from paceline_server.alerts.states import Event
from paceline_server.alerts.topics import NOTIFY, PATIENCE
from paceline_server.detect import history
from paceline_server.detect import service as detect
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock, settings
from paceline_server.stats import constants
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Alert, Comparison
from paceline_server.store.tables.jobs import Job, Run

AB_SERIES = 6
"""Series of an alert that its A/B run measures, the worst first: a proof needs one series, and measuring all
series of an incident would occupy the target for hours."""


def start_confirmation(session: Session, alert: Alert) -> None:
    """Request the A/B run of a locked alert, or record why there is nothing to compare."""
    if alert.state not in ("suspected", "fixed"):
        return
    if is_being_confirmed(session, alert):
        return
    facts = pending_changes(session, alert)
    if not facts:
        return
    lead = surest_change(facts)
    why = _why_not_comparable(lead)
    if why is not None:
        _conclude_undecided(
            session, alert, facts, f"there are no two revisions to compare: {why}"
        )
        return
    by_shift = sorted(facts, key=lambda fact: (-fact.shift, fact.change.id))
    doubted = by_shift[:AB_SERIES]
    run = jobs.ab_run(
        session,
        original_run_id=lead.certain_after.run_id,
        base_commit=lead.base_commit,
        commit=lead.head_commit,
        benchmarks=sorted({fact.series.benchmark for fact in doubted}),
        params=values_by_param(fact.series.params for fact in doubted),
        target_id=alert.target_id,
        trigger="confirm",
        alert_id=alert.id,
        not_before=clock.now(),
    )
    alert.confirmation_run_id = run.id
    note = f"A/B run {run.id}: {history_sentences.commit_range(lead.base_commit, lead.head_commit)}"
    add_event(session, alert, "confirmation_requested", SYSTEM, note)
    patience = settings.current().confirm_patience_s
    outbox.add(session, PATIENCE, f"{alert.id}:{run.id}", due_in_s=patience)


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


def _why_not_comparable(lead: ChangeFacts) -> str | None:
    if lead.base_commit == lead.head_commit:
        return f"commit {history_sentences.short_commit(lead.head_commit)} was measured before and after"
    return "both have the same artifact" if lead.has_same_artifact else None


def decide_confirmation(session: Session, alert: Alert, job: Job, run: Run) -> None:
    """Decide a locked alert whose A/B run ended; only the series of its changes count."""
    if alert.confirmation_run_id != run.id or alert.state not in (
        "suspected",
        "inconclusive",
        "open",
        "acknowledged",
        "fixed",
    ):
        return
    facts = pending_changes(session, alert)
    if alert.state == "fixed" and not (
        facts and _was_requested_after_closing(session, alert, run)
    ):
        between = history_sentences.commit_range(run.base_commit, run.commit)
        note = f"A/B run {run.id} ({between}) ended after the alert was closed: it decides nothing"
        add_event(session, alert, "late_result", SYSTEM, note)
        if facts:
            ask_for_confirmation(session, alert)
        return
    facts = facts or queries.changes_of_alerts(session, [alert.id])[alert.id]
    if job.state != "done":
        reason = jobs.reason_of_end(job)
        _conclude_undecided(
            session,
            alert,
            facts,
            f"the A/B run ended without a verdict: {job.state}: {reason}",
        )
        return
    again = _store_comparisons(session, alert, facts, job)
    sides = [
        side_of(comparison, worse=surest_change(facts).worse) for comparison in again
    ]
    same = job.artifact_hash is not None and job.artifact_hash == job.base_artifact_hash
    if "moved" in sides and not same:
        moved = [
            comparison
            for comparison, side in zip(again, sides, strict=True)
            if side == "moved"
        ]
        _conclude_proven(session, alert, moved, job, run)
    elif same or (again and set(sides) == {"stayed"}):
        _conclude_not_code(session, alert, facts, again, same=same)
    else:
        reason = next(
            (
                comparison.reason
                for comparison, side in zip(again, sides, strict=True)
                if side == "unknown"
            ),
            "nothing was measured again",
        )
        _conclude_undecided(
            session, alert, facts, f"the A/B run could not decide: {reason}"
        )


def _was_requested_after_closing(session: Session, alert: Alert, run: Run) -> bool:
    """Whether an A/B run was requested after a fixed alert was closed; an older run measured the old cause."""
    closed = alert_queries.last_event(session, alert.id, ("fixed", "recover"))
    return closed is not None and run.created_at >= closed.at


def _store_comparisons(
    session: Session, alert: Alert, facts: Sequence[ChangeFacts], job: Job
) -> list[Comparison]:
    """Store the comparisons of the alert's series as findings of the alert; those comparisons."""
    doubted = {fact.key for fact in facts}
    names = history.names_of(session, alert.suite)
    again = [
        comparison
        for comparison in detect.comparisons_of_job(session, job.id)
        if comparison.sides == "revisions"
        and (
            *names.newest(comparison.benchmark, comparison.arm),
            comparison.params_key,
            comparison.metric,
        )
        in doubted
    ]
    known = alert_queries.known_comparisons(
        session, [comparison.id for comparison in again]
    )
    for comparison in again:
        if comparison.id not in known:
            detect.record_finding(
                session, comparison, "confirmation", alert.id, kind=alert.kind
            )
    return again


def _conclude_proven(
    session: Session, alert: Alert, moved: Sequence[Comparison], job: Job, run: Run
) -> None:
    """Open an alert that the A/B run proved, and search for its commit."""
    note = _proof_sentence(moved)
    if alert.state in ("open", "acknowledged"):
        add_event(session, alert, "proven", SYSTEM, note)
    else:
        facts, incident = pending_changes(session, alert), alert.kind == "environment"
        if incident:
            note += "; many series moved together, but the revisions differ side by side: it is the code"
        if alert.state != "fixed":
            change_state(session, alert, Event.confirm, SYSTEM, note)
        elif revive_alert(session, alert, Event.relapse, note) is not alert:
            return
        if incident:
            alert.kind, alert.cause = "history", "code"
        elif facts:
            alert.cause = _cause_after_proof(session, alert, facts).cause
        _describe_proof(alert, moved, run)
        outbox.add(session, NOTIFY, alert.id)
    for fact in living_changes(session, alert):
        fact.change.cause = alert.cause
    bisect.begin_after_proof(session, alert, job, run, worst_comparison(moved))


def _cause_after_proof(
    session: Session, alert: Alert, facts: Sequence[ChangeFacts]
) -> Cause:
    """The cause of a proven change; never the environment, which both revisions share."""
    cause = determine_cause(
        session, facts, alert_queries.spoken_name(session, alert.target_id)
    )
    return (
        Cause("code", "the revisions differ side by side")
        if cause.cause == "environment"
        else cause
    )


def worst_comparison(moved: Sequence[Comparison]) -> Comparison:
    """The comparison with the largest move in either direction. `moved` must not be empty."""
    return max(
        moved,
        key=lambda comparison: (
            max(comparison.ratio or 1.0, 1.0 / (comparison.ratio or 1.0)),
            comparison.id,
        ),
    )


def _proof_sentence(moved: Sequence[Comparison]) -> str:
    worst = worst_comparison(moved)
    return f"old and new side by side in one job: {_comparison_place(worst)}: {worst.evidence['words']}"


def _comparison_place(comparison: Comparison) -> str:
    return history_sentences.case_place(
        comparison.arm, comparison.benchmark, comparison.params
    )


def _describe_proof(alert: Alert, moved: Sequence[Comparison], run: Run) -> None:
    """Set the headline to what the A/B run proved, for the two revisions it measured: detection may have
    moved the change since."""
    worst = worst_comparison(moved)
    alert.benchmark, alert.arm, alert.metric = worst.benchmark, worst.arm, worst.metric
    alert.ratio, alert.lower, alert.upper = worst.ratio, worst.lower, worst.upper
    alert.base_commit, alert.head_commit = run.base_commit, run.commit
    between = history_sentences.commit_range(alert.base_commit, alert.head_commit)
    alert.words = f"{_comparison_place(worst)}: {worst.evidence['words']}; {between}"


def _conclude_not_code(
    session: Session,
    alert: Alert,
    facts: Sequence[ChangeFacts],
    again: Sequence[Comparison],
    *,
    same: bool,
) -> None:
    """Clear the code: an incident then waits for history, any other suspicion ends."""
    what = (
        "both revisions have the same artifact"
        if same
        else (
            f"old and new side by side in one job show no difference ({again[0].evidence['words']})"
        )
    )
    if alert.state in ("open", "acknowledged", "fixed"):
        add_event(session, alert, "code_cleared", SYSTEM, what)
        if alert.state != "fixed":
            alert.cause = "environment"
        return
    if same:
        alert.kind = "environment"
    if alert.kind == "environment":
        alert.cause = "environment"
        for fact in facts:
            fact.change.cause = "environment"
        _conclude_undecided(session, alert, facts, f"{what}: not the code")
        return
    if history_holds(facts):
        for fact in facts:
            fact.change.cause = "environment"
        alert.cause = "environment"
    change_state(session, alert, Event.refute, SYSTEM, f"{what}: nobody was told")


def _conclude_undecided(
    session: Session, alert: Alert, facts: Sequence[ChangeFacts], why: str
) -> None:
    """Without an A/B verdict, open the alert only if history holds the change by itself (§4.5)."""
    if alert.state in ("open", "acknowledged", "fixed"):
        add_event(session, alert, "ab_undecided", SYSTEM, why)
    elif alert.state == "suspected":
        change_state(session, alert, Event.undecide, SYSTEM, why)
    open_if_history_holds(session, alert, facts)


def history_holds(facts: Sequence[ChangeFacts]) -> bool:
    """Whether history alone suffices: enough points, and the same place in consecutive evaluations."""
    return any(
        fact.change.state == "standing"
        and fact.change.evaluations >= constants.HISTORY_EVALUATIONS
        for fact in facts
    )


def open_if_history_holds(
    session: Session, alert: Alert, facts: Sequence[ChangeFacts]
) -> None:
    """Open an alert that no A/B run could decide, once history holds its change by itself."""
    if alert.state not in ("inconclusive", "fixed") or not history_holds(facts):
        return
    standing = [fact for fact in facts if history_holds([fact])]
    first = worst_change(standing)
    n_after = first.change.evidence.get("n_after")
    points = f"{n_after} points" if n_after is not None else "enough points"
    last = alert_queries.last_event(session, alert.id, ("undecide", "ab_undecided"))
    why = (
        "No A/B run decided"
        if last is None or not last.note
        else last.note[0].upper() + last.note[1:]
    )
    note = (
        f"{why}. History alone holds it: {points} at the new level, found at the same place in "
        f"{first.change.evaluations} evaluations in a row: {history_sentences.describe_change(first)}"
    )
    if alert.state != "fixed":
        change_state(session, alert, Event.confirm, SYSTEM, note)
    elif revive_alert(session, alert, Event.relapse, note) is not alert:
        return
    cause = determine_cause(
        session, standing, alert_queries.spoken_name(session, alert.target_id)
    )
    for fact in standing:
        store_change_finding(
            session, fact, "confirmation", alert.id, cause, kind=alert.kind
        )
    outbox.add(session, NOTIFY, alert.id)


def stop_waiting_for_agent(session: Session, alert: Alert, run_id: str) -> None:
    """Let history decide if no agent leased the A/B run in time; a late result still counts."""
    if alert.state != "suspected" or alert.confirmation_run_id != run_id:
        return
    if not is_being_confirmed(session, alert):
        return
    if any(job.state != "queued" for job in queries.jobs_of_run(session, run_id)):
        outbox.add(
            session,
            PATIENCE,
            f"{alert.id}:{run_id}",
            due_in_s=settings.current().confirm_patience_s,
        )
        return
    hours = settings.current().confirm_patience_s / 3600.0
    why = f"no agent took the A/B run within {hours:g} h"
    _conclude_undecided(session, alert, pending_changes(session, alert), why)
