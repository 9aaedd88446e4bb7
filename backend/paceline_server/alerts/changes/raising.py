"""Raises alerts for changes that have none yet, or joins them to the alert of their cause.

What must stay true:
- a cause has one living alert: a change joins the living alert whose range it overlaps in
  the same direction;
- an environment incident is one alert, whatever the directions and suites;
- a change that a person or an A/B run dismissed joins its old alert silently when it is
  found again;
- an improvement is a visible finding, and an alert only where a rule says `both`;
- people hear nothing before the A/B run that follows the cool-down (I13).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.candidates import ask_for_confirmation, raise_alert
from paceline_server.alerts.changes import history_sentences, queries
from paceline_server.alerts.changes.causes import (
    Cause,
    code_or_target,
    environment_cause_of,
    siblings_of,
)
from paceline_server.alerts.changes.change_facts import (
    ChangeFacts,
    surest_change,
    worst_change,
)
from paceline_server.alerts.changes.findings import store_change_finding
from paceline_server.alerts.changes.grouping import GroupableChange, group_by_cause
from paceline_server.alerts.history import SYSTEM, add_event, change_state, leave_shadow
from paceline_server.alerts.rules.service import AppliedRule, RuleBook, RuleSubject
from paceline_server.alerts.states import LIVE, Event
from paceline_server.kernel import clock, ids
from paceline_server.series import service as history
from paceline_server.store.tables.decisions import Alert

LIVE_CHANGES = ("suspect", "standing")
DISMISSED = ("invalid", "infra", "unconfirmed")
"""States of alerts that a person or an A/B run dismissed."""
WINDOW_POINTS = 30
"""Points on either side whose commits are looked up on siblings; the rank test uses as many (§4.4)."""


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
            ("environment",)
            if self.environment is not None
            else ("history", suite, direction)
        )
        strength = (self.fact.change.p_value, self.fact.change.id)
        return GroupableChange(self, kind, self.fact.range, strength)


def raise_alerts(
    session: Session, target_id: str, fresh: Sequence[ChangeFacts], book: RuleBook
) -> None:
    """Raise or join alerts for changes that have none; improvements become findings only."""
    if not fresh:
        return
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
    candidates = [candidate for candidate in candidates if candidate.rule.mode != "off"]
    for group in group_by_cause([candidate.groupable() for candidate in candidates]):
        members = [move.key for move in group]
        if any(member.raises for member in members):
            _raise_or_join(
                session, members, alert_queries.spoken_name(session, target_id)
            )
        else:
            _store_improvements(session, members)


def _candidate(
    session: Session,
    fact: ChangeFacts,
    book: RuleBook,
    target_name: str,
    floor: float | None,
) -> ChangeCandidate:
    rule = book.rule_for(RuleSubject.of(fact.series, target_name))
    return ChangeCandidate(fact, rule.resolved(floor), environment_cause(session, fact))


def environment_cause(session: Session, fact: ChangeFacts) -> Cause | None:
    """The environment as the cause of a change, judged with the stored factors of both fingerprints."""
    hashes = {point.fingerprint for point in fact.points.values()}
    return environment_cause_of(
        fact, history.fingerprints(session, hashes) if len(hashes) > 1 else {}
    )


def determine_cause(
    session: Session, facts: Sequence[ChangeFacts], target_name: str
) -> Cause:
    """Why the changes of a group happened (I15): by their own points, or else by the surest one's siblings."""
    lead = surest_change(facts)
    for fact in (lead, *facts):
        cause = environment_cause(session, fact)
        if cause is not None:
            return cause
    old, new = queries.points_around(session, lead, WINDOW_POINTS)
    old_commits, new_commits = ({point.commit for point in side} for side in (old, new))
    elsewhere = queries.sibling_points(session, lead.series, old_commits | new_commits)
    siblings = siblings_of(
        lead, frozenset(old_commits), frozenset(new_commits), elsewhere
    )
    return code_or_target(lead, target_name, siblings)


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
                kind="history",
            )


def _raise_or_join(
    session: Session, members: Sequence[ChangeCandidate], target_name: str
) -> None:
    facts = [member.fact for member in members]
    cause = determine_cause(session, facts, target_name)
    environment = cause.cause == "environment"
    alert = _find_alert_for(session, members, environment=environment)
    if alert is None:
        raised = _raise_alert(session, members, cause, target_name)
        if raised is not None:
            attach_changes(session, raised, facts, cause)
            return
        alert = _find_alert_for(session, members, environment=environment)
    if alert is None:
        return
    add_event(session, alert, "found_again", SYSTEM, history_sentences.headline(facts))
    rule = _rule_of(members)
    if not rule.shadow:
        take_out_of_shadow(
            session, alert, rule.rule_id, rule.version, rule.as_evidence()
        )
    attach_changes(session, _reopen_if_closed(session, alert), facts, cause)


def attach_changes(
    session: Session, alert: Alert, facts: Sequence[ChangeFacts], cause: Cause | None
) -> None:
    """Make changes part of an alert, each with an immutable finding."""
    for fact in facts:
        fact.change.alert_id = alert.id
        if cause is not None:
            fact.change.cause = cause.cause
        store_change_finding(
            session, fact, "candidate", alert.id, cause, kind=alert.kind
        )
    session.flush()
    if alert.state in LIVE:
        update_description(session, alert)


def take_out_of_shadow(
    session: Session,
    alert: Alert,
    rule_id: str | None,
    version: int | None,
    rule: dict[str, Any],
) -> None:
    """Make an alert raised in shadow visible, under the active rule that found its change again."""
    if alert.shadow:
        alert.rule_id, alert.rule_version, alert.rule = rule_id, version, rule
        leave_shadow(session, alert)


def _find_alert_for(
    session: Session, members: Sequence[ChangeCandidate], *, environment: bool
) -> Alert | None:
    """The alert these changes belong to: a living one of the same cause, or one that vanished, was fixed and is
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


def _is_known(known: Sequence[ChangeFacts], fact: ChangeFacts) -> bool:
    """Whether an alert was about this change: same series, place and direction, and not grown since, by the
    intervals."""
    for old in known:
        same = old.series.id == fact.series.id and old.worse == fact.worse
        (low, high), (old_low, old_high) = fact.bounds, old.bounds
        grown = low > old_high if fact.worse else high < old_low
        if same and old.range.overlaps(fact.range) and not grown:
            return True
    return False


def _same_cause(
    alert: Alert, known: Sequence[ChangeFacts], lead: ChangeFacts, *, environment: bool
) -> bool:
    if not any(fact.range.overlaps(lead.range) for fact in known):
        return False
    if alert.kind == "environment":
        return True
    same_way = any(fact.worse == lead.worse for fact in known)
    return not environment and alert.suite == lead.series.suite and same_way


def _slows_again(known: Sequence[ChangeFacts], facts: Sequence[ChangeFacts]) -> bool:
    """Whether a series of a fixed alert is at least half way back to the level of the alert."""
    before = {fact.series.id: fact for fact in known}
    for fact in facts:
        old = before.get(fact.series.id)
        if old is None or old.worse != fact.worse or fact.range.after < old.range.upto:
            continue
        middle = (old.change.level_before * old.change.level_after) ** 0.5
        if (fact.change.level_after > middle) == (old.change.level_after > middle):
            return True
    return False


def _raise_alert(
    session: Session, members: Sequence[ChangeCandidate], cause: Cause, target_name: str
) -> Alert | None:
    """A new suspected alert; None when another transaction raised the same cause first."""
    facts = [member.fact for member in members]
    lead, rule = surest_change(facts), _rule_of(members)
    at = clock.now()
    alert = Alert(
        id=ids.new_id("alt"),
        cause_key=cause_key(lead, environment=cause.cause == "environment"),
        state="suspected",
        kind="environment" if cause.cause == "environment" else "history",
        cause=cause.cause,
        suite=lead.series.suite,
        reference="base",
        target_id=lead.series.target_id,
        demonstration=False,
        rule_id=rule.rule_id,
        rule_version=rule.version,
        shadow=rule.shadow,
        rule=rule.as_evidence(),
        run_id=lead.certain_after.run_id,
        created_at=at,
        updated_at=at,
        **_description(facts, target_name, environment=cause.cause == "environment"),
    )
    note = f"{alert.words}. Cause: {cause.cause}: {cause.because}."
    return raise_alert(session, alert, note)


def _rule_of(members: Sequence[ChangeCandidate]) -> AppliedRule:
    """The rule of the worst change that raises an alert, rules outside shadow first."""
    firing = [member for member in members if member.raises]
    audible = [member for member in firing if not member.rule.shadow] or firing
    worst = worst_change([member.fact for member in audible])
    return next(member.rule for member in audible if member.fact is worst)


def cause_key(lead: ChangeFacts, *, environment: bool) -> str:
    """The cause of an alert when it is raised; the alert keeps this key while its range moves."""
    direction = "any" if environment else "worse" if lead.worse else "better"
    parts = [
        "environment" if environment else "history",
        "" if environment else lead.series.suite,
        lead.series.target_id,
        direction,
        lead.base_commit,
        lead.head_commit,
    ]
    return json.dumps(parts, separators=(",", ":"))


def _description(
    facts: Sequence[ChangeFacts], target_name: str, *, environment: bool
) -> dict[str, object]:
    worst, lead = worst_change(facts), surest_change(facts)
    low, high = worst.bounds
    return {
        "title": history_sentences.title(facts, target_name, environment=environment),
        "words": history_sentences.headline(facts),
        "benchmark": worst.series.benchmark,
        "arm": worst.series.arm,
        "metric": worst.series.metric,
        "ratio": worst.ratio,
        "lower": low,
        "upper": high,
        "base_commit": lead.base_commit,
        "head_commit": lead.head_commit,
    }


def update_description(session: Session, alert: Alert) -> None:
    """Update an alert's headline and range from its living changes; of an open alert only the title."""
    facts = living_changes(session, alert)
    if not facts:
        return
    name = alert_queries.spoken_name(session, alert.target_id)
    description = _description(facts, name, environment=alert.kind == "environment")
    for field in (
        description if alert.state in ("suspected", "inconclusive") else ("title",)
    ):
        setattr(alert, field, description[field])


def living_changes(session: Session, alert: Alert) -> list[ChangeFacts]:
    """The changes of an alert that detection still sees, the oldest first."""
    facts = queries.changes_of_alerts(session, [alert.id])[alert.id]
    return [fact for fact in facts if fact.change.state in LIVE_CHANGES]


def _reopen_if_closed(session: Session, alert: Alert) -> Alert:
    """Ask for a new proof of a vanished or fixed alert whose change is back. Returns the living alert."""
    if alert.state == "vanished":
        home = revive_alert(session, alert, Event.reappear, "the change is seen again")
        if home is alert:
            ask_for_confirmation(session, alert)
        return home
    if alert.state == "fixed":
        ask_for_confirmation(session, alert)
    return alert


def revive_alert(session: Session, alert: Alert, event: Event, note: str) -> Alert:
    """Reopen a locked, closed alert and return it. If its cause has a living alert already, that one takes over
    the changes and is returned."""
    try:
        with session.begin_nested():
            change_state(session, alert, event, SYSTEM, note)
    except IntegrityError:
        living = alert_queries.lock_living_alert(session, alert.cause_key)
        if living is None:
            raise
        facts = living_changes(session, alert)
        add_event(
            session,
            alert,
            "joined",
            SYSTEM,
            f"{note}; looked into as {living.id}: {living.title}",
        )
        if not alert.shadow:
            take_out_of_shadow(
                session, living, alert.rule_id, alert.rule_version, alert.rule
            )
        if facts:
            add_event(
                session,
                living,
                "found_again",
                SYSTEM,
                history_sentences.headline(facts),
            )
            attach_changes(session, living, facts, None)
        return living
    return alert
