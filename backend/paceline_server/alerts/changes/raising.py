"""Raises alerts for changes that have none yet, or joins them to the alert of their cause.

What must stay true:
- there is one living alert per cause: a change whose range overlaps that of a living
  alert in the same direction joins it;
- an environment incident is one alert, whatever the directions and suites;
- what people or an A/B run dismissed is reported once: the same change, found again,
  joins it silently;
- an improvement is a visible finding, and an alert only where a rule says `both`;
- a suspected alert requests an A/B run after the cool-down; people hear nothing yet
  (I13).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.alerts import queries as alert_queries
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
from paceline_server.alerts.rules.service import AppliedRule, RuleBook
from paceline_server.alerts.states import LIVE, Event
from paceline_server.alerts.topics import CONFIRM
from paceline_server.kernel import clock, ids, settings
from paceline_server.series import service as history
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Alert

LIVE_CHANGES = ("suspect", "standing")
DISMISSED = ("invalid", "infra", "unconfirmed")
"""States of an alert that was looked into and came to nothing."""
WINDOW_POINTS = 30
"""Points either side whose commits siblings are asked about: as many as a side of the rank test (§4.4)."""


@dataclass(frozen=True)
class ChangeCandidate:
    """A change without an alert, the rule that decides about it, and its environment cause if it has one."""

    fact: ChangeFacts
    rule: AppliedRule
    environment: Cause | None

    @property
    def raises(self) -> bool:
        return self.rule.raises(self.fact.ratio - 1.0)

    def moved(self) -> GroupableChange[ChangeCandidate]:
        suite, way = self.fact.series.suite, "worse" if self.fact.worse else "better"
        kind = (
            ("environment",)
            if self.environment is not None
            else ("history", suite, way)
        )
        strength = (self.fact.change.p_value, self.fact.change.id)
        return GroupableChange(self, kind, self.fact.range, strength)


def raise_alerts(
    session: Session, target_id: str, fresh: Sequence[ChangeFacts], book: RuleBook
) -> None:
    """Draw the consequences of changes that have no alert yet."""
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
    for group in group_by_cause([candidate.moved() for candidate in candidates]):
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
    series = fact.series
    rule = book.rule_for(
        suite=series.suite,
        benchmark=series.benchmark,
        arm=series.arm,
        metric=series.metric,
        target=target_name,
    )
    return ChangeCandidate(fact, rule.resolved(floor), environment_cause(session, fact))


def environment_cause(session: Session, fact: ChangeFacts) -> Cause | None:
    """`causes.environment_cause_of` with the stored factors of both fingerprints."""
    hashes = {point.fingerprint for point in fact.points.values()}
    return environment_cause_of(
        fact, queries.factors(session, hashes) if len(hashes) > 1 else {}
    )


def determine_cause(
    session: Session, facts: Sequence[ChangeFacts], target_name: str
) -> Cause:
    """Why these changes of one group happened, judged by the surest of them that has an answer (I15)."""
    lead = surest_change(facts)
    for fact in (lead, *facts):
        found = environment_cause(session, fact)
        if found is not None:
            return found
    old, new = queries.points_around(session, lead, WINDOW_POINTS)
    old_commits, new_commits = ({point.commit for point in side} for side in (old, new))
    elsewhere = queries.sibling_points(session, lead.series, old_commits | new_commits)
    siblings = siblings_of(
        lead, frozenset(old_commits), frozenset(new_commits), elsewhere
    )
    return code_or_target(lead, target_name, siblings)


def _store_improvements(session: Session, members: Sequence[ChangeCandidate]) -> None:
    """Improvements are facts worth seeing: a finding once per change, no alert."""
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
    """Make changes part of an alert, each with a finding that will not change."""
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
    """An alert raised in shadow is found again by a rule that is not: it goes on under that rule."""
    if alert.shadow:
        alert.rule_id, alert.rule_version, alert.rule = rule_id, version, rule
        leave_shadow(session, alert)


def _find_alert_for(
    session: Session, members: Sequence[ChangeCandidate], *, environment: bool
) -> Alert | None:
    """The alert these changes belong to: a living one about the same cause, one that had vanished, one that
    was fixed and now slows again, or one that was dismissed."""
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
    """Whether an alert was about this change already: its series, place and direction, and it has not grown
    since, by the intervals."""
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
    """Whether a series of a fixed alert is at least half way back at the level it was called fixed from."""
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
        run_id=lead.head_run_id,
        created_at=at,
        updated_at=at,
        **_description(facts, target_name, environment=cause.cause == "environment"),
    )
    try:
        with session.begin_nested():
            session.add(alert)
            session.flush()
    except IntegrityError:
        return None
    add_event(
        session,
        alert,
        Event.raise_.value,
        SYSTEM,
        f"{alert.words}. Cause: {cause.cause}: {cause.because}.",
    )
    ask_for_confirmation(session, alert)
    return alert


def _rule_of(members: Sequence[ChangeCandidate]) -> AppliedRule:
    """The rule an alert of these changes is raised by: that of the worst people may hear of."""
    firing = [member for member in members if member.raises]
    audible = [candidate for candidate in firing if not candidate.rule.shadow] or firing
    return next(
        candidate.rule
        for candidate in audible
        if candidate.fact is worst_change([candidate.fact for candidate in audible])
    )


def cause_key(lead: ChangeFacts, *, environment: bool) -> str:
    """What an alert is about when it is raised; it keeps this key while its range moves."""
    way = "any" if environment else "worse" if lead.worse else "better"
    parts = [
        "environment" if environment else "history",
        "" if environment else lead.series.suite,
        lead.series.target_id,
        way,
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
    """Let an alert's headline and range follow its newest changes; once it is open, what opened it stays and
    only its title counts on."""
    facts = living_changes(session, alert)
    if not facts:
        return
    name = alert_queries.spoken_name(session, alert.target_id)
    said = _description(facts, name, environment=alert.kind == "environment")
    for field in said if alert.state in ("suspected", "inconclusive") else ("title",):
        setattr(alert, field, said[field])


def living_changes(session: Session, alert: Alert) -> list[ChangeFacts]:
    """The changes of an alert that detection still sees, the oldest first."""
    found = queries.changes_of_alerts(session, [alert.id])[alert.id]
    return [fact for fact in found if fact.change.state in LIVE_CHANGES]


def ask_for_confirmation(session: Session, alert: Alert) -> None:
    """An A/B run follows after the cool-down (I13)."""
    outbox.add(
        session, CONFIRM, alert.id, due_in_s=settings.current().confirm_cooldown_s
    )


def _reopen_if_closed(session: Session, alert: Alert) -> Alert:
    """What a vanished or a fixed alert does when its change is back: prove it again before anyone hears. The
    alert that lives then."""
    if alert.state == "vanished":
        home = revive_alert(session, alert, Event.reappear, "the change is seen again")
        if home is alert:
            ask_for_confirmation(session, alert)
        return home
    if alert.state == "fixed":
        ask_for_confirmation(session, alert)
    return alert


def revive_alert(session: Session, alert: Alert, event: Event, note: str) -> Alert:
    """Bring a locked, closed alert back to life; the alert that lives. Another one when the same cause was
    raised meanwhile, by another series of the same commits: that one takes over what it is about."""
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
