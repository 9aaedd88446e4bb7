"""Keeps the changes of an alert and follows it as points arrive: it vanishes, recovers, is verified fixed, or relapses.

A finding of a change holds the method, the parameters, every filter, the points of its window and its numbers, so that
`explanation` can compute it again whatever detection does later (I16).

`follow_alert` is called for every alert whose series got a point. What must stay true:
- an alert that only history supports vanishes with its changes (§4.8), or when its series
  moves to another environment;
- an alert that an A/B run proved ends only when the level is back or a person decides;
- the level is back when every series has a standing change (§4.5) that ends at the old
  level, or enough newest points at it;
- an alert a person called fixed is verified the same way, and reopened when as many
  points contradict it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from statistics import median
from typing import Any

from sqlalchemy.orm import Session

from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.changes import queries
from paceline_server.alerts.changes.causes import (
    Cause,
    determine_cause,
    environment_cause,
)
from paceline_server.alerts.changes.change_facts import (
    LIVE_CHANGES,
    ChangeFacts,
    change_place,
    describe_change,
    headline,
    history_holds,
    surest_change,
    title,
    window_of,
    worst_change,
)
from paceline_server.alerts.explanation import side_of
from paceline_server.alerts.lifecycle import (
    SYSTEM,
    add_event,
    apply_event,
    cancel_confirmation,
    leave_shadow,
    revive_alert,
    vanish,
)
from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.states import LIVE, Event
from paceline_server.detect.service import Role
from paceline_server.kernel import clock, ids
from paceline_server.stats import constants
from paceline_server.stats.blocks import WarmPolicy
from paceline_server.store.tables.alerts import Alert
from paceline_server.store.tables.decisions import Finding


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
    """Return the changes of an alert that detection still sees, the oldest first."""
    facts = queries.changes_of_alerts(session, [alert.id])[alert.id]
    return [fact for fact in facts if fact.change.state in LIVE_CHANGES]


def pending_changes(session: Session, alert: Alert) -> list[ChangeFacts]:
    """Return the living changes an A/B run decides about; of a fixed alert only those found after it was fixed."""
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
    description = description_of(
        facts, name, environment=kind_of(alert.kind).is_environmental(alert)
    )
    for field in (
        description if alert.state in ("suspected", "inconclusive") else ("title",)
    ):
        setattr(alert, field, description[field])


def description_of(
    facts: Sequence[ChangeFacts], target_name: str, *, environment: bool
) -> dict[str, Any]:
    """Return the fields of an alert that its changes decide."""
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
    """Return the frozen numbers of a change."""
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


ENOUGH_POINTS = constants.HISTORY_CONFIRM_POINTS
OTHER_ENVIRONMENT = "measured on another environment since: points no longer compare with those of the change"


def follow_alert(session: Session, alert: Alert) -> None:
    """Update a locked alert after detection evaluated its changes again."""
    facts = queries.changes_of_alerts(session, [alert.id])[alert.id]
    live = [fact for fact in facts if fact.change.state in LIVE_CHANGES]
    if alert.state in ("suspected", "inconclusive"):
        _follow_untold(session, alert, facts, live)
    elif alert.state in ("open", "acknowledged"):
        _follow_open(session, alert, facts, live)
    elif alert.state == "fixed":
        _follow_fixed(session, alert, facts, live)


def _follow_untold(
    session: Session,
    alert: Alert,
    facts: Sequence[ChangeFacts],
    live: Sequence[ChangeFacts],
) -> None:
    if not live:
        _vanish(session, alert, facts)
        return
    _turn_into_environment(session, alert, live)
    update_description(session, alert)
    open_if_history_holds(session, alert, live)


def _turn_into_environment(
    session: Session, alert: Alert, live: Sequence[ChangeFacts]
) -> None:
    """Make an alert one about the environment, or part of such an alert, when all its series moved with the
    whole target (§4.7)."""
    kind = kind_of(alert.kind)
    if kind.is_environmental(alert):
        return
    possible_causes = [environment_cause(session, fact) for fact in live]
    causes = [cause for cause in possible_causes if cause is not None]
    if len(causes) < len(live):
        return
    for fact in live:
        fact.change.cause = "environment"
    untold = alert.state in ("suspected", "inconclusive")
    for other in (
        queries.living_of_target(session, alert.measured_target_id) if untold else ()
    ):
        its_changes = queries.changes_of_alerts(session, [other.id])[other.id]
        if kind_of(other.kind).is_environmental(other) and any(
            theirs.range.overlaps(ours.range) for theirs in its_changes for ours in live
        ):
            for fact in live:
                fact.change.alert_id = other.id
                store_change_finding(
                    session, fact, "candidate", other.id, causes[0], kind=other.kind
                )
            add_event(session, other, "found_again", SYSTEM, headline(live))
            if not alert.shadow:
                leave_shadow(
                    session, other, alert.rule_id, alert.rule_version, alert.rule
                )
            cancel_confirmation(session, alert)
            apply_event(
                session,
                alert,
                Event.refute,
                f"part of alert {other.id}: {other.title}",
            )
            return
    kind.make_environmental(alert)
    add_event(session, alert, "cause", SYSTEM, f"environment: {causes[0].because}")


def _vanish(session: Session, alert: Alert, facts: Sequence[ChangeFacts]) -> None:
    note = "with more points detection no longer finds the change"
    if _is_on_other_environment(session, facts):
        note = OTHER_ENVIRONMENT
    if alert.state in ("suspected", "inconclusive"):
        note += "; nobody had been told"
    vanish(session, alert, note)


def _is_on_other_environment(session: Session, facts: Sequence[ChangeFacts]) -> bool:
    """Return whether the newest point of a series was measured in another environment than its change."""
    for fact in facts:
        newest = queries.newest_points(session, fact.series.id, 1)
        if newest and newest[0].fingerprint != fact.certain_after.fingerprint:
            return True
    return False


def _follow_open(
    session: Session,
    alert: Alert,
    facts: Sequence[ChangeFacts],
    live: Sequence[ChangeFacts],
) -> None:
    back = _why_recovered(session, facts)
    if back is not None:
        _recover(session, alert, facts, Event.recover, back)
    elif facts and not live and not _is_proven(session, alert):
        _vanish(session, alert, facts)
    elif facts and not live and _is_on_other_environment(session, facts):
        if alert_queries.last_event(session, alert.id, ("superseded",)) is None:
            note = f"{OTHER_ENVIRONMENT}; what was proven stays until a person decides or the level is back"
            add_event(session, alert, "superseded", SYSTEM, note)
    elif live:
        if not _is_proven(session, alert):
            _turn_into_environment(session, alert, live)
        update_description(session, alert)


def _is_proven(session: Session, alert: Alert) -> bool:
    worse = (alert.ratio or 1.0) >= 1.0
    proofs = alert_queries.proving_comparisons(session, alert.id)
    return any(
        side_of(comparison, worse=worse) == "moved" for comparison, _, _ in proofs
    )


def _follow_fixed(
    session: Session,
    alert: Alert,
    facts: Sequence[ChangeFacts],
    live: Sequence[ChangeFacts],
) -> None:
    pending = pending_changes(session, alert)
    if pending:
        last = alert_queries.last_event(
            session, alert.id, ("fixed", "recover", "ab_undecided")
        )
        if last is not None and last.action == "ab_undecided":
            open_if_history_holds(session, alert, pending)
        return
    closed = alert_queries.last_event(session, alert.id, ("fixed", "recover", "verify"))
    if closed is None or closed.action != "fixed":
        return
    back = _why_recovered(session, facts)
    if back is not None:
        _recover(session, alert, facts, Event.verify, back)
        return
    still = _why_not_fixed(session, alert, live)
    if still is not None:
        revive_alert(session, alert, Event.relapse, still)


def _recover(
    session: Session,
    alert: Alert,
    facts: Sequence[ChangeFacts],
    event: Event,
    note: str,
) -> None:
    """Close an alert whose old level is back, with the changes that returned to it as evidence."""
    for returning in _returning_changes(session, facts):
        store_change_finding(
            session, returning, "recovery", alert.id, None, kind=alert.kind
        )
    apply_event(session, alert, event, note)


def _returning_changes(
    session: Session, facts: Sequence[ChangeFacts]
) -> list[ChangeFacts]:
    """Return standing changes that end at the level an alert's series had before, one per series."""
    since = {fact.series.id: fact for fact in facts}
    returning: dict[str, ChangeFacts] = {}
    for later in queries.changes_of_series(session, since):
        fact = since[later.series.id]
        is_back = later.range.after >= fact.range.after and later.worse != fact.worse
        if (
            is_back
            and history_holds([later])
            and fact.means_the_same(later.certain_after)
            and _is_old_level(fact, later.change.level_after)
        ):
            returning[later.series.id] = later
    return list(returning.values())


def _is_old_level(fact: ChangeFacts, level: float) -> bool:
    """Return whether a level is the one before the change or better: within the smallest effect detection reports, and
    within half of the change itself."""
    shift = math.log(fact.ratio)
    distance = math.log(level / fact.change.level_before)
    distance = distance if fact.declaration.direction == "lower" else -distance
    tolerance = min(math.log1p(constants.HISTORY_MIN_EFFECT), abs(shift) / 2.0)
    return distance * math.copysign(1.0, shift) <= tolerance


def _why_recovered(session: Session, facts: Sequence[ChangeFacts]) -> str | None:
    """Return a sentence that every series of an alert is back at its old level; None while any is not."""
    if not facts:
        return None
    returned = {other.series.id for other in _returning_changes(session, facts)}
    for fact in facts:
        if fact.series.id in returned:
            continue
        if fact.change.state in LIVE_CHANGES or not _newest_are_old(session, fact):
            return None
    worst = worst_change(facts)
    count = (
        "the series is"
        if len({fact.series.id for fact in facts}) == 1
        else "all its series are"
    )
    return f"{count} back at the level before: {change_place(worst)}"


def _newest_are_old(session: Session, fact: ChangeFacts) -> bool:
    points = queries.newest_points(session, fact.series.id, ENOUGH_POINTS)
    old = [
        point
        for point in points
        if point.at >= fact.range.upto
        and fact.means_the_same(point)
        and not _is_slow(fact, point.value)
    ]
    return len(old) >= ENOUGH_POINTS and _is_old_level(
        fact, median(point.value for point in old)
    )


def _is_slow(fact: ChangeFacts, value: float) -> bool:
    """Return whether a point is nearer to the level after the change than to the one before."""
    middle = math.sqrt(fact.change.level_before * fact.change.level_after)
    return (value > middle) == (fact.change.level_after > middle)


def _why_not_fixed(
    session: Session, alert: Alert, live: Sequence[ChangeFacts]
) -> str | None:
    """Return a sentence that an alert called fixed is not, once as many points as a change needs contradict it."""
    closed = alert_queries.last_event(session, alert.id, ("fixed",))
    if closed is None:
        return None
    for fact in live:
        points = [
            point
            for point in queries.newest_points(session, fact.series.id, ENOUGH_POINTS)
            if point.at > closed.at and fact.means_the_same(point)
        ]
        turned = [
            other
            for other in queries.changes_of_series(session, [fact.series.id])
            if other.worse != fact.worse and other.range.after >= fact.range.after
        ]
        slow = [point for point in points if _is_slow(fact, point.value)]
        if not turned and len(points) >= ENOUGH_POINTS and len(slow) == len(points):
            return (
                f"called fixed, but the {len(points)} runs since are at the level of the alert: "
                f"{change_place(fact)}: {describe_change(fact)}"
            )
    return None


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
        f"{first.change.evaluations} evaluations in a row: {describe_change(first)}"
    )
    if alert.state != "fixed":
        apply_event(session, alert, Event.confirm, note)
    elif revive_alert(session, alert, Event.relapse, note) is not alert:
        return
    cause = determine_cause(
        session, standing, alert_queries.spoken_name(session, alert.target_id)
    )
    for fact in standing:
        store_change_finding(
            session, fact, "confirmation", alert.id, cause, kind=alert.kind
        )
