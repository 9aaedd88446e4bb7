"""Raises alerts about the history of series: one per cause, proven by an A/B run before people are notified.

What must stay true:
- a cause has one living alert: a change joins the living alert whose range it overlaps in
  the same direction; a shift of the whole target is one alert, whatever the directions and suites;
- a change that a person or an A/B run dismissed joins its old alert silently when it is
  found again; an improvement is a visible finding, and an alert only where a rule says `both`;
- identical artifacts never blame the code (I15), and only history opens an alert about the
  environment;
- a change that lies within a history that was imported raises nothing, whenever it is found; what another tool measured
  has no A/B run, so that history alone decides;
- the jobs of a target are evaluated one at a time, so that an event raises one alert. Locks are taken in this
  order, as in triage: target, alerts by id, changes.

Rules of the confirmation (stats/README.md §4.5); what later points do to an alert is in `changes/follow_up.py`:

    suspected ─ A/B run ─┬─ slower again ───────────────▶ open, told, bisected
                         ├─ no difference ──────────────▶ unconfirmed (kept with its history)
                         ├─ no difference, same artifact ▶ environment: waits for history, like
                         └─ undecided, or impossible ───▶ inconclusive ─ ≥ 5 points and the same place in
                                                          two evaluations in a row ▶ open, told
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlalchemy.orm import Session

from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.bisect import service as bisect
from paceline_server.alerts.bisect.search import culprit_sentence
from paceline_server.alerts.changes import queries
from paceline_server.alerts.changes.causes import (
    Cause,
    determine_cause,
    environment_cause,
)
from paceline_server.alerts.changes.change_facts import (
    LIVE_CHANGES,
    ChangeFacts,
    GroupableChange,
    commit_range,
    group_by_cause,
    headline,
    history_holds,
    short_commit,
    surest_change,
    worst_change,
)
from paceline_server.alerts.changes.follow_up import (
    attach_changes,
    description_of,
    follow_alert,
    living_changes,
    open_if_history_holds,
    pending_changes,
    store_change_finding,
)
from paceline_server.alerts.explanation import (
    case_place,
    cause_text,
    finding_place,
    finding_sentence,
    side_of,
    values_by_param,
    window_text,
)
from paceline_server.alerts.kind import (
    AlertEvidence,
    AlertKind,
    ConfirmationRun,
    Decision,
    EndedJob,
    Observation,
    Watched,
    no_verdict,
)
from paceline_server.alerts.lifecycle import SYSTEM, add_event, schedule_confirmation
from paceline_server.alerts.queries import FindingEvidence
from paceline_server.alerts.rules.rule_book import (
    AppliedRule,
    BuiltInRule,
    RuleBook,
    RuleSubject,
    rules_in_force,
    stays_worse,
)
from paceline_server.alerts.schemas import AlertState
from paceline_server.alerts.states import Event
from paceline_server.detect import history as detected_names
from paceline_server.detect import service as detect
from paceline_server.detect.changes import service as detection
from paceline_server.detect.service import Role
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock
from paceline_server.series import service as history
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.jobs import Job, Run

HISTORY, ENVIRONMENT = queries.KINDS
DISMISSED = ("invalid", "infra", "unconfirmed")
"""States of alerts that a person or an A/B run dismissed."""
DEFAULT_MIN_EFFECT = 0.03
"""Share from which the built-in rule raises an alert (stats/README.md §4.4). Detection finds smaller steps
(`stats.constants.HISTORY_MIN_EFFECT`)."""
AB_SERIES = 6
"""Series of an alert that its A/B run measures, the worst first: a proof needs one series, and measuring all
series of such a shift would occupy the target for hours."""


@dataclass(frozen=True)
class ChangeCandidate:
    """A change without an alert, with the rule that decides about it and its environment cause."""

    fact: ChangeFacts
    rule: AppliedRule
    environment: Cause | None

    @property
    def raises(self) -> bool:
        return self.rule.raises(self.fact.ratio - 1.0)

    def groupable(self) -> GroupableChange[ChangeCandidate]:
        suite, direction = (
            self.fact.series.suite,
            "worse" if self.fact.worse else "better",
        )
        kind = (
            (ENVIRONMENT,)
            if self.environment is not None
            else (HISTORY, suite, direction)
        )
        strength = (self.fact.change.p_value, self.fact.change.id)
        return GroupableChange(self, kind, self.fact.range, strength)


@dataclass(frozen=True)
class MovedSeries:
    """Changes of one cause that have no alert yet."""

    members: Sequence[ChangeCandidate]
    cause: Cause

    @property
    def facts(self) -> list[ChangeFacts]:
        return [member.fact for member in self.members]


@dataclass(frozen=True)
class RevisionProof:
    """Series that differ between the two revisions of an A/B run, and what the alert was about before."""

    moved: Sequence[Comparison]
    job: Job
    run: Run
    pending: Sequence[ChangeFacts]
    was_environmental: bool


class HistoryKind(AlertKind[MovedSeries]):
    """Series that moved: by a change of code, of a target, or of its environment."""

    names: ClassVar[tuple[str, ...]] = queries.KINDS
    watches: ClassVar[Watched] = "points"
    built_in_rules: ClassVar[Mapping[str, BuiltInRule]] = {
        HISTORY: BuiltInRule(
            "default-history", stays_worse(DEFAULT_MIN_EFFECT), DEFAULT_MIN_EFFECT
        )
    }
    follows_series: ClassVar[bool] = True
    confirmed_in: ClassVar[frozenset[AlertState]] = frozenset({"suspected", "fixed"})
    decided_in: ClassVar[frozenset[AlertState]] = frozenset(
        {"suspected", "inconclusive", "open", "acknowledged", "fixed"}
    )
    found_again: ClassVar[Mapping[AlertState, Event]] = {"vanished": Event.reappear}
    proven_again_in: ClassVar[frozenset[AlertState]] = frozenset({"fixed"})
    observes_again: ClassVar[bool] = False

    def observe(
        self, session: Session, ended: EndedJob
    ) -> Iterator[Observation[MovedSeries]]:
        """Follow the alerts of the job's series, then yield the changes that have none."""
        job = ended.job
        queries.lock_target(session, job.target_id)
        locked = queries.lock_alerts_of_job(session, job)
        facts = queries.changes_of_job(session, job.id)
        touched = {fact.change.alert_id for fact in facts}
        for alert in locked:
            if alert.id in touched:
                follow_alert(session, alert)
        fresh = [
            fact
            for fact in facts
            if fact.change.alert_id is None and fact.change.state in LIVE_CHANGES
        ]
        silent = queries.silent_runs(
            session, {fact.certain_after.run_id for fact in fresh}
        )
        fresh = [fact for fact in fresh if fact.certain_after.run_id not in silent]
        if not fresh:
            return
        name = alert_queries.spoken_name(session, job.target_id)
        for members in _groups(session, job.target_id, fresh):
            if any(member.raises for member in members):
                yield _observation(session, job, members, name)
            else:
                _store_improvements(session, members)

    def find_alert(
        self, session: Session, seen: Observation[MovedSeries]
    ) -> Alert | None:
        is_environment = seen.kind == ENVIRONMENT
        return _find_alert_for(
            session, seen.evidence.members, environment=is_environment
        )

    def store_findings(
        self,
        session: Session,
        alert: Alert,
        seen: Observation[MovedSeries],
        role: Role,
    ) -> None:
        moved = seen.evidence
        attach_changes(session, alert, moved.facts, moved.cause, role)

    def is_environmental(self, alert: Alert) -> bool:
        return alert.kind == ENVIRONMENT

    def make_environmental(self, alert: Alert) -> None:
        alert.kind, alert.cause = ENVIRONMENT, "environment"

    def hand_over(self, session: Session, alert: Alert, living: Alert) -> None:
        facts = living_changes(session, alert)
        if facts:
            add_event(session, living, "found_again", SYSTEM, headline(facts))
            attach_changes(session, living, facts, None, "candidate")

    def request_run(
        self, session: Session, alert: Alert
    ) -> ConfirmationRun | Decision | None:
        """Request the A/B run of the worst series, or say why there is nothing to compare."""
        facts = pending_changes(session, alert)
        if not facts:
            return None
        lead = surest_change(facts)
        why = _why_not_comparable(session, lead)
        if why is not None:
            text = f"there are no two revisions to compare: {why}"
            return Decision("undecided", text)
        by_shift = sorted(facts, key=lambda fact: (-fact.shift, fact.change.id))
        doubted = by_shift[:AB_SERIES]
        run = jobs.ab_run(
            session,
            original_run_id=lead.certain_after.run_id,
            base_commit=lead.base_commit,
            commit=lead.head_commit,
            benchmarks=sorted({fact.series.benchmark for fact in doubted}),
            params=values_by_param(fact.series.params for fact in doubted),
            target_id=alert.measured_target_id,
            trigger="confirm",
            alert_id=alert.id,
            not_before=clock.now(),
        )
        between = commit_range(lead.base_commit, lead.head_commit)
        return ConfirmationRun(run, f"A/B run {run.id}: {between}", is_awaited=True)

    def read_confirmation(
        self, session: Session, alert: Alert, ended: EndedJob
    ) -> Decision | None:
        """Decide by the series of the alert's changes alone."""
        job, run = ended.job, ended.run
        pending = pending_changes(session, alert)
        if alert.state == "fixed" and not (
            pending and _was_requested_after_closing(session, alert, run)
        ):
            between = commit_range(run.base_commit, run.commit)
            note = f"A/B run {run.id} ({between}) ended after the alert was closed: it decides nothing"
            add_event(session, alert, "late_result", SYSTEM, note)
            if pending:
                schedule_confirmation(session, alert)
            return None
        if job.state != "done":
            return no_verdict(job, "the A/B run")
        facts = pending or queries.changes_of_alerts(session, [alert.id])[alert.id]
        again = _store_comparisons(session, alert, facts, job)
        is_worse = surest_change(facts).worse
        sides = [side_of(comparison, worse=is_worse) for comparison in again]
        artifact = job.artifact_hash
        is_same = artifact is not None and artifact == job.base_artifact_hash
        if "moved" in sides and not is_same:
            moved = [
                comparison
                for comparison, side in zip(again, sides, strict=True)
                if side == "moved"
            ]
            return _proof(
                alert,
                RevisionProof(moved, job, run, pending, alert.kind == ENVIRONMENT),
            )
        if is_same or (again and set(sides) == {"stayed"}):
            return _clear_code(alert, facts, again, is_same=is_same)
        reasons = (
            comparison.reason
            for comparison, side in zip(again, sides, strict=True)
            if side == "unknown"
        )
        reason = next(reasons, "nothing was measured again")
        return Decision("undecided", f"the A/B run could not decide: {reason}")

    def after_decision(
        self, session: Session, alert: Alert, decision: Decision, before: AlertState
    ) -> None:
        """Search for the commit of a proven alert; let history decide about an undecided one."""
        if decision.outcome == "undecided":
            open_if_history_holds(session, alert, pending_changes(session, alert))
        elif decision.outcome == "proven":
            proof: RevisionProof = decision.evidence
            if before not in ("open", "acknowledged"):
                if proof.was_environmental:
                    alert.kind, alert.cause = HISTORY, "code"
                elif proof.pending:
                    cause = _cause_after_proof(session, alert, proof.pending)
                    alert.cause = cause.cause
                _describe_proof(alert, proof.moved, proof.run)
            for fact in living_changes(session, alert):
                fact.change.cause = alert.cause
            worst = worst_comparison(proof.moved)
            bisect.begin_after_proof(session, alert, proof.job, proof.run, worst)

    def accept(self, session: Session, alert: Alert, commit: str | None) -> None:
        """Make the level of the alert's changes, or of a later commit, the new baseline of their series."""
        alert.baseline_commit = commit or alert.head_commit
        changes = queries.change_ids(session, alert.id)
        later = None if commit == alert.head_commit else commit
        detection.accept_changes(session, changes, by=alert.id, commit=later)

    def withdraw(self, session: Session, alert: Alert) -> None:
        alert.baseline_commit = None
        changes = queries.change_ids(session, alert.id)
        detection.withdraw_changes(session, changes, by=alert.id)

    def explain(self, evidence: AlertEvidence) -> str:
        alert, candidates = evidence.alert, evidence.with_role("candidate")
        if not candidates:
            return f"{alert.title}: {alert.words}."
        parts = [_candidate_sentence(evidence.target_name, candidates)]
        why = cause_text(evidence.findings)
        if alert.cause is not None and why is not None:
            parts.append(f"Cause: {alert.cause}, because {why}.")
        parts.append(f"Rule {alert.rule['name']}: {alert.rule['text']}")
        confirmation = evidence.with_role("confirmation")
        parts += _confirmation_sentences(alert, confirmation)
        if alert.culprit is not None:
            culprit = culprit_sentence(alert.culprit)
            parts.append(f"The commit to look at: {culprit}.")
        return " ".join([*parts, *evidence.closing_sentences])


def _groups(
    session: Session, target_id: str, fresh: Sequence[ChangeFacts]
) -> list[list[ChangeCandidate]]:
    """Return changes that a rule decides about, by cause."""
    book = rules_in_force(session, HISTORY)
    name = alert_queries.target_name(session, target_id)
    suites = {fact.series.suite for fact in fresh}
    floors = {
        suite: history.noise_floors(session, suite, {target_id}) for suite in suites
    }
    candidates = [
        _candidate(
            session,
            fact,
            book,
            name,
            floors[fact.series.suite].get(history.floor_key(fact.series)),
        )
        for fact in fresh
    ]
    groupable = [row.groupable() for row in candidates if row.rule.mode != "off"]
    return [[move.key for move in group] for group in group_by_cause(groupable)]


def _candidate(
    session: Session,
    fact: ChangeFacts,
    book: RuleBook,
    target_name: str,
    floor: float | None,
) -> ChangeCandidate:
    rule = book.rule_for(RuleSubject.of(fact.series, target_name))
    return ChangeCandidate(fact, rule.resolved(floor), environment_cause(session, fact))


def _store_improvements(session: Session, members: Sequence[ChangeCandidate]) -> None:
    """Store a finding for each improvement that has none."""
    known = queries.findings_of_changes(
        session, [member.fact.change.id for member in members]
    )
    for member in members:
        if member.fact.change.id not in known and not member.fact.worse:
            store_change_finding(
                session,
                member.fact,
                "candidate",
                None,
                member.environment,
                kind=HISTORY,
            )


def _observation(
    session: Session, job: Job, members: Sequence[ChangeCandidate], target_name: str
) -> Observation[MovedSeries]:
    facts = [member.fact for member in members]
    lead, cause = surest_change(facts), determine_cause(session, facts, target_name)
    is_environment = cause.cause == "environment"
    described = description_of(facts, target_name, environment=is_environment)
    return Observation(
        kind=ENVIRONMENT if is_environment else HISTORY,
        cause_key=cause_key(lead, environment=is_environment),
        outcome="fails",
        rule=_rule_of(members),
        evidence=MovedSeries(members, cause),
        run_id=lead.certain_after.run_id,
        job_id=job.id,
        target_id=lead.series.target_id,
        suite=lead.series.suite,
        reference="base",
        cause=cause.cause,
        raised_because=f"{described['words']}. Cause: {cause.cause}: {cause.because}.",
        **described,
    )


def _rule_of(members: Sequence[ChangeCandidate]) -> AppliedRule:
    """Return the rule of the worst change that raises an alert, rules outside shadow first."""
    firing = [member for member in members if member.raises]
    audible = [member for member in firing if not member.rule.shadow] or firing
    worst = worst_change([member.fact for member in audible])
    return next(member.rule for member in audible if member.fact is worst)


def cause_key(lead: ChangeFacts, *, environment: bool) -> str:
    """Return the cause of an alert when it is raised; the alert keeps this key while its range moves."""
    direction = "any" if environment else "worse" if lead.worse else "better"
    parts = [
        ENVIRONMENT if environment else HISTORY,
        "" if environment else lead.series.suite,
        lead.series.target_id,
        direction,
        lead.base_commit,
        lead.head_commit,
    ]
    return json.dumps(parts, separators=(",", ":"))


def _find_alert_for(
    session: Session, members: Sequence[ChangeCandidate], *, environment: bool
) -> Alert | None:
    """Return the alert these changes belong to: a living one of the same cause, or one that vanished, was fixed and is
    slow again, or was dismissed."""
    facts = [member.fact for member in members]
    lead = surest_change(facts)
    living = queries.living_of_target(session, lead.series.target_id)
    known = queries.changes_of_alerts(session, [alert.id for alert in living])
    for alert in living:
        if _same_cause(alert, known[alert.id], lead, environment=environment):
            return alert
    series_ids = {fact.series.id for fact in facts}
    closed = queries.closed_about(
        session, series_ids, ("vanished", "fixed", *DISMISSED)
    )
    about = queries.changes_of_alerts(session, [alert.id for alert in closed])
    for alert in closed:
        if alert.state == "vanished" and _same_cause(
            alert, about[alert.id], lead, environment=environment
        ):
            return alert
        if alert.state == "fixed" and _slows_again(about[alert.id], facts):
            return alert
        firing = [member.fact for member in members if member.raises]
        if alert.state in DISMISSED and all(
            _is_known(about[alert.id], fact) for fact in firing
        ):
            return alert
    return None


def _same_cause(
    alert: Alert, known: Sequence[ChangeFacts], lead: ChangeFacts, *, environment: bool
) -> bool:
    if not any(fact.range.overlaps(lead.range) for fact in known):
        return False
    if alert.kind == ENVIRONMENT:
        return True
    same_way = any(fact.worse == lead.worse for fact in known)
    return not environment and alert.suite == lead.series.suite and same_way


def _is_known(known: Sequence[ChangeFacts], fact: ChangeFacts) -> bool:
    """Return whether an alert was about this change: same series, place and direction, and not grown since, by the
    intervals."""
    for old in known:
        same = old.series.id == fact.series.id and old.worse == fact.worse
        (low, high), (old_low, old_high) = fact.bounds, old.bounds
        grown = low > old_high if fact.worse else high < old_low
        if same and old.range.overlaps(fact.range) and not grown:
            return True
    return False


def _slows_again(known: Sequence[ChangeFacts], facts: Sequence[ChangeFacts]) -> bool:
    """Return whether a series of a fixed alert is at least half way back to the level of the alert."""
    before = {fact.series.id: fact for fact in known}
    for fact in facts:
        old = before.get(fact.series.id)
        if old is None or old.worse != fact.worse or fact.range.after < old.range.upto:
            continue
        middle = (old.change.level_before * old.change.level_after) ** 0.5
        if (fact.change.level_after > middle) == (old.change.level_after > middle):
            return True
    return False


def _why_not_comparable(session: Session, lead: ChangeFacts) -> str | None:
    who = alert_queries.who_measured_elsewhere(session, lead.certain_after.run_id)
    if who is not None:
        return f"{who} measured them"
    if lead.base_commit == lead.head_commit:
        return f"commit {short_commit(lead.head_commit)} was measured before and after"
    return "both have the same artifact" if lead.has_same_artifact else None


def _was_requested_after_closing(session: Session, alert: Alert, run: Run) -> bool:
    """Return whether an A/B run was requested after a fixed alert was closed; an older run measured the old cause."""
    closed = alert_queries.last_event(session, alert.id, ("fixed", "recover"))
    return closed is not None and run.created_at >= closed.at


def _store_comparisons(
    session: Session, alert: Alert, facts: Sequence[ChangeFacts], job: Job
) -> list[Comparison]:
    """Store the comparisons of the alert's series as findings of the alert, and return them."""
    doubted = {fact.key for fact in facts}
    names = detected_names.names_of(session, alert.suite)
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


def _proof(alert: Alert, proof: RevisionProof) -> Decision:
    worst = worst_comparison(proof.moved)
    note = f"old and new side by side in one job: {_comparison_place(worst)}: {worst.evidence['words']}"
    if proof.was_environmental and alert.state not in ("open", "acknowledged"):
        note += "; many series moved together, but the revisions differ side by side: it is the code"
    return Decision("proven", note, proof)


def _clear_code(
    alert: Alert,
    facts: Sequence[ChangeFacts],
    again: Sequence[Comparison],
    *,
    is_same: bool,
) -> Decision:
    """Clear the code: an alert about the environment then waits for history, any other suspicion ends."""
    what = (
        "both revisions have the same artifact"
        if is_same
        else (
            f"old and new side by side in one job show no difference ({again[0].evidence['words']})"
        )
    )
    if alert.state in ("open", "acknowledged", "fixed"):
        if alert.state != "fixed":
            alert.cause = "environment"
        return Decision("cleared", what)
    if is_same:
        alert.kind = ENVIRONMENT
    if alert.kind == ENVIRONMENT or history_holds(facts):
        alert.cause = "environment"
        for fact in facts:
            fact.change.cause = "environment"
    if alert.kind == ENVIRONMENT:
        return Decision("undecided", f"{what}: not the code")
    return Decision("cleared", f"{what}: nobody was told")


def _cause_after_proof(
    session: Session, alert: Alert, facts: Sequence[ChangeFacts]
) -> Cause:
    """Return the cause of a proven change; never the environment, which both revisions share."""
    cause = determine_cause(
        session, facts, alert_queries.spoken_name(session, alert.target_id)
    )
    return (
        Cause("code", "the revisions differ side by side")
        if cause.cause == "environment"
        else cause
    )


def worst_comparison(moved: Sequence[Comparison]) -> Comparison:
    """Return the comparison with the largest move in either direction. `moved` must not be empty."""
    return max(
        moved,
        key=lambda comparison: (
            max(comparison.ratio or 1.0, 1.0 / (comparison.ratio or 1.0)),
            comparison.id,
        ),
    )


def _comparison_place(comparison: Comparison) -> str:
    return case_place(comparison.arm, comparison.benchmark, comparison.params)


def _describe_proof(alert: Alert, moved: Sequence[Comparison], run: Run) -> None:
    """Set the headline to what the A/B run proved, for the two revisions it measured: detection may have
    moved the change since."""
    worst = worst_comparison(moved)
    alert.benchmark, alert.arm, alert.metric = worst.benchmark, worst.arm, worst.metric
    alert.ratio, alert.lower, alert.upper = worst.ratio, worst.lower, worst.upper
    alert.base_commit, alert.head_commit = run.base_commit, run.commit
    between = commit_range(alert.base_commit, alert.head_commit)
    alert.words = f"{_comparison_place(worst)}: {worst.evidence['words']}; {between}"


def _candidate_sentence(target_name: str, candidates: Sequence[FindingEvidence]) -> str:
    first = candidates[0]
    series = len({candidate.finding.series_id for candidate in candidates})
    count = f"{series} series moved; the first seen, " if series > 1 else ""
    numbers = first.finding.numbers or {}
    between = commit_range(numbers.get("base_commit"), numbers.get("head_commit"))
    return (
        f"On {target_name}, {count}{finding_place(first)}: {finding_sentence(first)}, in {window_text(first)}; it happened "
        f"{between}."
    )


def _confirmation_sentences(
    alert: Alert, confirmation: Sequence[FindingEvidence]
) -> list[str]:
    ratios = {
        index: evidence.comparison.ratio or 0.0
        for index, evidence in enumerate(confirmation)
        if evidence.comparison is not None
    }
    if ratios:
        worst = confirmation[max(ratios, key=lambda index: ratios[index])]
        return [
            f"Old and new revision, interleaved in one job on the same target, say: {finding_place(worst)}: "
            f"{finding_sentence(worst)}."
        ]
    if confirmation:
        return [
            "No A/B run decided; history itself found it again at the same place, with enough points."
        ]
    waiting = {
        "suspected": "It is not confirmed yet, and nobody was told: old and new revision are measured "
        "side by side first.",
        "inconclusive": "It is not confirmed, and nobody was told: history decides with more points.",
        "unconfirmed": "It was not confirmed, and nobody was told.",
    }
    return [waiting[alert.state]] if alert.state in waiting else []
