"""Follows alerts as points arrive: they vanish, recover, are verified fixed, or relapse.

Called for every alert whose series got a point. What must stay true:
- an alert that only history spoke for vanishes with its changes and keeps its own
  history (§4.8); one that an A/B run proved ends when the level is back, or when a
  person decides;
- if the series has since moved to another environment, the first kind ends and the
  second says so;
- "back" means that every series has a standing change (§4.5) that ends at the old level
  or, where the slow stretch was too short to remain a change, enough newest points at
  the old level;
- what a person called fixed is verified the same way, and reopened when as many points
  contradict it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from sqlalchemy.orm import Session

from paceline_server.alerts import queries as alert_queries
from paceline_server.alerts.bisect import queries as bisect_queries
from paceline_server.alerts.bisect.verdicts import side_of
from paceline_server.alerts.changes import history_sentences, queries
from paceline_server.alerts.changes.change_facts import ChangeFacts, worst_change
from paceline_server.alerts.changes.confirmation import (
    history_holds,
    open_if_history_holds,
    pending_changes,
)
from paceline_server.alerts.changes.findings import store_change_finding
from paceline_server.alerts.changes.raising import (
    LIVE_CHANGES,
    environment_cause,
    revive_alert,
    take_out_of_shadow,
    update_description,
)
from paceline_server.alerts.history import SYSTEM, add_event, change_state
from paceline_server.alerts.states import Event
from paceline_server.alerts.topics import NOTIFY
from paceline_server.jobs import service as jobs
from paceline_server.stats import constants
from paceline_server.store import outbox
from paceline_server.store.tables.decisions import Alert

ENOUGH_POINTS = constants.HISTORY_CONFIRM_POINTS
OTHER_ENVIRONMENT = "measured on another environment since: points no longer compare with those of the change"


def follow_alert(session: Session, alert: Alert) -> None:
    """Draw the consequences of what detection now says about a locked alert's changes."""
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
    """Series by series it looked like the code; together they are an incident (§4.7): one alert, not N."""
    if alert.kind == "environment":
        return
    causes = [environment_cause(session, fact) for fact in live]
    found = [cause for cause in causes if cause is not None]
    if len(found) < len(live):
        return
    for fact in live:
        fact.change.cause = "environment"
    untold = alert.state in ("suspected", "inconclusive")
    for other in queries.living_of_target(session, alert.target_id) if untold else ():
        theirs = queries.changes_of_alerts(session, [other.id])[other.id]
        if other.kind == "environment" and any(
            a.range.overlaps(b.range) for a in theirs for b in live
        ):
            for fact in live:
                fact.change.alert_id = other.id
                store_change_finding(
                    session, fact, "candidate", other.id, found[0], kind="environment"
                )
            add_event(
                session, other, "found_again", SYSTEM, history_sentences.headline(live)
            )
            if not alert.shadow:
                take_out_of_shadow(
                    session, other, alert.rule_id, alert.rule_version, alert.rule
                )
            _cancel_confirmation(session, alert)
            change_state(
                session,
                alert,
                Event.refute,
                SYSTEM,
                f"part of the incident {other.id}: {other.title}",
            )
            return
    alert.kind, alert.cause = "environment", "environment"
    add_event(session, alert, "cause", SYSTEM, f"environment: {found[0].because}")


def _vanish(session: Session, alert: Alert, facts: Sequence[ChangeFacts]) -> None:
    _cancel_confirmation(session, alert)
    note = "with more points detection no longer finds the change"
    if _is_on_other_environment(session, facts):
        note = OTHER_ENVIRONMENT
    if alert.state in ("suspected", "inconclusive"):
        note += "; nobody had been told"
    change_state(session, alert, Event.vanish, SYSTEM, note)


def _is_on_other_environment(session: Session, facts: Sequence[ChangeFacts]) -> bool:
    """Whether a change lies on an environment that its series is measured on no more."""
    for fact in facts:
        newest = queries.newest_points(session, fact.series.id, 1)
        old = fact.points[fact.edges.certain_after].fingerprint
        if newest and newest[0].fingerprint != old:
            return True
    return False


def _cancel_confirmation(session: Session, alert: Alert) -> None:
    """A run that would prove what nobody claims any more is not worth a target's time. Cancelled afterwards:
    the target is locked here, and whoever ends a job locks that first."""
    if alert.confirmation_run_id is not None and alert_queries.run_is_alive(
        session, alert.confirmation_run_id
    ):
        outbox.add(session, jobs.CANCEL, alert.confirmation_run_id)


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
        if queries.last_event(session, alert.id, ("superseded",)) is None:
            note = f"{OTHER_ENVIRONMENT}; what was proven stays until a person decides or the level is back"
            add_event(session, alert, "superseded", SYSTEM, note)
    elif live:
        if not _is_proven(session, alert):
            _turn_into_environment(session, alert, live)
        update_description(session, alert)


def _is_proven(session: Session, alert: Alert) -> bool:
    worse = (alert.ratio or 1.0) >= 1.0
    found = bisect_queries.proving_comparisons(session, alert.id)
    return any(
        side_of(comparison, worse=worse) == "moved" for comparison, _, _ in found
    )


def _follow_fixed(
    session: Session,
    alert: Alert,
    facts: Sequence[ChangeFacts],
    live: Sequence[ChangeFacts],
) -> None:
    pending = pending_changes(session, alert)
    if pending:
        asked = queries.last_event(
            session, alert.id, ("fixed", "recover", "ab_undecided")
        )
        if asked is not None and asked.action == "ab_undecided":
            open_if_history_holds(session, alert, pending)
        return
    closed = queries.last_event(session, alert.id, ("fixed", "recover", "verify"))
    if closed is None or closed.action != "fixed":
        return
    back = _why_recovered(session, facts)
    if back is not None:
        _recover(session, alert, facts, Event.verify, back)
        return
    still = _why_not_fixed(session, alert, live)
    if (
        still is not None
        and revive_alert(session, alert, Event.relapse, still) is alert
    ):
        outbox.add(session, NOTIFY, alert.id)


def _recover(
    session: Session,
    alert: Alert,
    facts: Sequence[ChangeFacts],
    event: Event,
    note: str,
) -> None:
    """The old level is back: the changes that brought it are evidence."""
    for other in _returning_changes(session, facts):
        store_change_finding(
            session, other, "recovery", alert.id, None, kind=alert.kind
        )
    change_state(session, alert, event, SYSTEM, note)


def _returning_changes(
    session: Session, facts: Sequence[ChangeFacts]
) -> list[ChangeFacts]:
    """Standing changes that end at the level an alert's series had before, one per series."""
    since = {fact.series.id: fact for fact in facts}
    found: dict[str, ChangeFacts] = {}
    for other in queries.changes_of_series(session, since):
        fact = since[other.series.id]
        later_back = other.range.after >= fact.range.after and other.worse != fact.worse
        if (
            later_back
            and history_holds([other])
            and _is_old_level(fact, other.change.level_after)
        ):
            found[other.series.id] = other
    return list(found.values())


def _is_old_level(fact: ChangeFacts, level: float) -> bool:
    """Whether a level is the one before the change: nearer than the least effect worth telling, and than half
    of the change itself; or better still."""
    shift = math.log(fact.ratio)
    away = math.log(level / fact.change.level_before)
    away = away if fact.series.direction == "lower" else -away
    near = min(math.log1p(constants.HISTORY_MIN_EFFECT), abs(shift) / 2.0)
    return away * math.copysign(1.0, shift) <= near


def _why_recovered(session: Session, facts: Sequence[ChangeFacts]) -> str | None:
    """Why every series of an alert is back at its old level; None while one is not."""
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
    return f"{count} back at the level before: {history_sentences.change_place(worst)}"


def _newest_are_old(session: Session, fact: ChangeFacts) -> bool:
    points = queries.newest_points(session, fact.series.id, ENOUGH_POINTS)
    old = [
        point
        for point in points
        if point.at >= fact.range.upto and not _is_slow(fact, point.value)
    ]
    return len(old) >= ENOUGH_POINTS and _is_old_level(
        fact, median(point.value for point in old)
    )


def _is_slow(fact: ChangeFacts, value: float) -> bool:
    """Whether a point is nearer to the level after the change than to the one before."""
    middle = math.sqrt(fact.change.level_before * fact.change.level_after)
    return (value > middle) == (fact.change.level_after > middle)


def _why_not_fixed(
    session: Session, alert: Alert, live: Sequence[ChangeFacts]
) -> str | None:
    """Why what a person called fixed is not: as many points since as a change needs, none of them back."""
    closed = queries.last_event(session, alert.id, ("fixed",))
    if closed is None:
        return None
    for fact in live:
        points = [
            point
            for point in queries.newest_points(session, fact.series.id, ENOUGH_POINTS)
            if point.at > closed.at
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
                f"{history_sentences.change_place(fact)}: {history_sentences.describe_change(fact)}"
            )
    return None
