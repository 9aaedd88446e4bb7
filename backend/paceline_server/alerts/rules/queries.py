"""All SQL of rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from paceline_server.alerts.states import LIVE
from paceline_server.series.retired import SEPARATOR
from paceline_server.store.tables.alerts import Alert, AlertEvent
from paceline_server.store.tables.catalog import Suite
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import IMPORTS_AGENT, REAL_TARGETS, Target
from paceline_server.store.tables.history import (
    Change,
    NoiseFloor,
    RetiredBenchmark,
    Series,
    SeriesPoint,
)
from paceline_server.store.tables.jobs import Run
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute

_NEWEST = (AlertRuleVersion.rule_id == AlertRule.id) & (
    AlertRuleVersion.version == AlertRule.version
)


def newest_versions(
    session: Session, kind: str | None = None
) -> list[tuple[AlertRule, AlertRuleVersion]]:
    """Return every rule that is not deleted with its present version, by name."""
    query = (
        select(AlertRule, AlertRuleVersion)
        .join(AlertRuleVersion, _NEWEST)
        .where(AlertRule.deleted_at.is_(None))
        .order_by(AlertRule.name)
    )
    if kind is not None:
        query = query.where(AlertRuleVersion.kind == kind)
    return [(rule, version) for rule, version in session.execute(query)]


def rules(kind: str | None, mode: str | None) -> Select[Any]:
    """Return rules that are not deleted."""
    query: Select[Any] = (
        select(AlertRule)
        .join(AlertRuleVersion, _NEWEST)
        .where(AlertRule.deleted_at.is_(None))
    )
    if kind is not None:
        query = query.where(AlertRuleVersion.kind == kind)
    return query if mode is None else query.where(AlertRuleVersion.mode == mode)


def versions_of(
    session: Session, rules: Sequence[AlertRule]
) -> dict[str, AlertRuleVersion]:
    """Return the present versions of rules, by rule id."""
    query = (
        select(AlertRuleVersion)
        .join(AlertRule, _NEWEST)
        .where(AlertRule.id.in_([rule.id for rule in rules]))
    )
    return {version.rule_id: version for version in session.scalars(query)}


def all_versions(rule_id: str) -> Select[Any]:
    return select(AlertRuleVersion).where(AlertRuleVersion.rule_id == rule_id)


def rule(session: Session, rule_id: str, *, lock: bool = False) -> AlertRule | None:
    """Return a rule that is not deleted; `lock` holds it until the transaction ends."""
    query = select(AlertRule).where(
        AlertRule.id == rule_id, AlertRule.deleted_at.is_(None)
    )
    query = query.with_for_update() if lock else query
    return session.scalars(query).one_or_none()


def lock_named(session: Session, name: str) -> AlertRule | None:
    """Lock and return the rule with this name, deleted or not."""
    return session.scalars(
        select(AlertRule).where(AlertRule.name == name).with_for_update()
    ).one_or_none()


def mutes_in_force(session: Session, at: datetime) -> dict[str, RuleMute]:
    """Return the mute that ends last of each rule that is muted at `at`."""
    query = (
        select(RuleMute)
        .where(RuleMute.ended_at.is_(None), RuleMute.until > at)
        .order_by(RuleMute.until, RuleMute.id)
    )
    return {mute.rule_id: mute for mute in session.scalars(query)}


def mutes(session: Session, rule_id: str) -> list[RuleMute]:
    """Return every mute of a rule, the newest first."""
    query = (
        select(RuleMute).where(RuleMute.rule_id == rule_id).order_by(RuleMute.id.desc())
    )
    return list(session.scalars(query))


def silenced_alerts(
    session: Session, rule_id: str, silenced: str, notified: str
) -> list[str]:
    """Return alerts of a rule whose newest notification event is that the rule was muted."""
    newest = (
        select(AlertEvent.alert_id, func.max(AlertEvent.id).label("event_id"))
        .where(AlertEvent.action.in_((silenced, notified)))
        .group_by(AlertEvent.alert_id)
        .subquery()
    )
    query = (
        select(Alert.id)
        .join(newest, newest.c.alert_id == Alert.id)
        .join(AlertEvent, AlertEvent.id == newest.c.event_id)
        .where(Alert.rule_id == rule_id, AlertEvent.action == silenced)
        .order_by(Alert.id)
    )
    return list(session.scalars(query))


def lock_shadows(session: Session, rule_id: str) -> list[Alert]:
    """Return living alerts that a rule raised in shadow, locked in id order."""
    query = (
        select(Alert)
        .where(Alert.rule_id == rule_id, Alert.shadow.is_(True), Alert.state.in_(LIVE))
        .order_by(Alert.id)
        .with_for_update()
    )
    return list(session.scalars(query))


def outcomes(session: Session, rule_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return the number of alerts of each rule by state, without demonstrations and simulated targets."""
    query = (
        select(Alert.rule_id, Alert.state, func.count())
        .where(
            Alert.rule_id.in_(rule_ids),
            Alert.demonstration.is_(False),
            Alert.target_id.in_(REAL_TARGETS),
        )
        .group_by(Alert.rule_id, Alert.state)
    )
    counts: dict[str, dict[str, int]] = {rule_id: {} for rule_id in rule_ids}
    for rule_id, state, count in session.execute(query):
        counts[str(rule_id)][state] = count
    return counts


def newest_floors(session: Session) -> list[tuple[NoiseFloor, str]]:
    """Return the newest noise floor of each series key, with the target's name; no simulated targets."""
    key = (
        NoiseFloor.target_id,
        NoiseFloor.suite,
        NoiseFloor.benchmark,
        NoiseFloor.arm,
        NoiseFloor.params_key,
        NoiseFloor.metric,
    )
    rank = func.row_number().over(
        partition_by=key, order_by=(NoiseFloor.measured_at.desc(), NoiseFloor.id.desc())
    )
    ranked = select(NoiseFloor.id, rank.label("newest")).subquery()
    query = (
        select(NoiseFloor, Target.name)
        .join(ranked, ranked.c.id == NoiseFloor.id)
        .join(Target, Target.id == NoiseFloor.target_id)
        .where(ranked.c.newest == 1, Target.simulated.is_(False))
        .order_by(NoiseFloor.id)
    )
    return [(floor, name) for floor, name in session.execute(query)]


def living_series(session: Session, since: datetime) -> list[tuple[Series, str]]:
    """Return series with a point since then, with the target's name; without retired benchmarks and arms, imports and
    simulated targets, which no rule decides about."""
    retired = (
        select(RetiredBenchmark.suite)
        .where(
            RetiredBenchmark.suite == Series.suite,
            RetiredBenchmark.benchmark.in_(
                (Series.benchmark, Series.benchmark + SEPARATOR + Series.arm)
            ),
        )
        .exists()
    )
    query = (
        select(Series, Target.name)
        .join(Target, Target.id == Series.target_id)
        .where(
            Series.last_at >= since,
            ~retired,
            Target.simulated.is_(False),
            Target.agent_id != IMPORTS_AGENT,
        )
        .order_by(
            Series.suite,
            Series.benchmark,
            Series.arm,
            Series.metric,
            Target.name,
            Series.id,
        )
    )
    return [(series, name) for series, name in session.execute(query)]


def suites(session: Session) -> list[Suite]:
    return list(session.scalars(select(Suite).order_by(Suite.name)))


def targets(session: Session) -> list[tuple[str, str]]:
    """Return (kind, name) of every target that is not simulated and can measure, by name."""
    measures = (Target.simulated.is_(False), Target.agent_id != IMPORTS_AGENT)
    query = select(Target.kind, Target.name).where(*measures).order_by(Target.name)
    return [(kind, name) for kind, name in session.execute(query)]


def changes_since(
    session: Session, since: datetime
) -> list[tuple[Change, Series, str, datetime]]:
    """Changes in any state whose first point was measured since then, with the target's name and that time, the
    newest first; no simulated targets."""
    query = (
        select(Change, Series, Target.name, SeriesPoint.at)
        .join(Series, Series.id == Change.series_id)
        .join(Target, Target.id == Series.target_id)
        .join(
            SeriesPoint,
            (SeriesPoint.series_id == Change.series_id)
            & (SeriesPoint.job_id == Change.job_id),
        )
        .where(SeriesPoint.at >= since, Target.simulated.is_(False))
        .order_by(SeriesPoint.at.desc(), Change.id.desc())
    )
    return [
        (change, series, name, at)
        for change, series, name, at in session.execute(query)
    ]


def arm_comparisons_since(
    session: Session, since: datetime
) -> list[tuple[Comparison, str, str]]:
    """Return comparisons of arms since then with commit and target name, oldest first; without confirmations, A/B
    runs and simulated targets."""
    query = (
        select(Comparison, Run.commit, Target.name)
        .join(Run, Run.id == Comparison.run_id)
        .join(Target, Target.id == Comparison.target_id)
        .where(
            Comparison.measured_at >= since,
            Comparison.sides == "arms",
            Target.simulated.is_(False),
            Run.confirms_alert_id.is_(None),
            ~Run.compares_revisions,
        )
        .order_by(Comparison.measured_at, Comparison.id)
    )
    return [
        (comparison, commit, name)
        for comparison, commit, name in session.execute(query)
    ]


def alert_states(session: Session, alert_ids: Iterable[str | None]) -> dict[str, str]:
    wanted = {alert_id for alert_id in alert_ids if alert_id is not None}
    if not wanted:
        return {}
    query = select(Alert).where(Alert.id.in_(wanted))
    return {alert.id: alert.state for alert in session.scalars(query)}
