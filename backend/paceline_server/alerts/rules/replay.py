"""Replays a rule over the last days before it is saved: which alerts would it have raised?

The rule competes as it would once saved (`rule_contest`), over stored changes and
stored comparisons; an arm that fails in several jobs in a row counts as one alert.
Confirmations are not replayed: the answer is what would have been suspected and stood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby

from sqlalchemy.orm import Session

from paceline_server.alerts.rules import queries, rule_sentences
from paceline_server.alerts.rules.matching import RuleSubject
from paceline_server.alerts.rules.noise_limits import refuse_undetectable
from paceline_server.alerts.rules.rule_contest import RuleContest, build_contest
from paceline_server.alerts.rules.schemas import (
    AlertRuleIn,
    FiredOut,
    ReplayIn,
    ReplayOut,
    TargetCountOut,
)
from paceline_server.kernel import clock
from paceline_server.kernel.errors import not_found
from paceline_server.series.change_sentences import worsening
from paceline_server.stats import constants
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.history import Change, Series

FINDINGS_SHOWN = 200


def replay_rule(session: Session, asked: ReplayIn) -> ReplayOut:
    """The alerts a rule would have raised. Raises 404 for a rule there is not, 422 for one that asks for
    steps history does not look for."""
    at = clock.now()
    refuse_undetectable(asked.rule)
    if asked.rule_id is not None and queries.rule(session, asked.rule_id) is None:
        raise not_found("rule", asked.rule_id)
    rules = queries.newest_versions(session, asked.rule.kind)
    own = build_contest(asked.rule, asked.rule_id, at, rules)
    since = at - timedelta(days=asked.days)
    if asked.rule.kind == "history":
        found = list(_changes_decided(session, asked.rule, own, since))
        alerts = {
            (finding.target_id, finding.commit, finding.effect > 0): finding
            for finding in found
        }
        fired = list(alerts.values())
    else:
        fired, found = _arm_failures(session, asked.rule, own, since)
    by_target = _by_target(fired)
    return ReplayOut(
        days=asked.days,
        fired=len(fired),
        findings_total=len(found),
        by_target=by_target,
        words=rule_sentences.replay_sentence(
            asked.days, asked.rule.mode, len(fired), by_target
        ),
        findings=_with_states(session, found[:FINDINGS_SHOWN]),
    )


def _by_target(fired: Sequence[FiredOut]) -> list[TargetCountOut]:
    """The targets, the one that fired most first."""
    names = {finding.target_id: finding.target_name for finding in fired}
    counted = Counter(finding.target_id for finding in fired)
    ordered = sorted(
        counted, key=lambda target: (-counted[target], names[target], target)
    )
    return [
        TargetCountOut(
            target_id=target, target_name=names[target], fired=counted[target]
        )
        for target in ordered
    ]


def _with_states(session: Session, found: Sequence[FiredOut]) -> list[FiredOut]:
    states = queries.alert_states(session, (finding.alert_id for finding in found))
    return [
        finding.model_copy(update={"alert_state": states.get(finding.alert_id or "")})
        for finding in found
    ]


def _is_raised(rule: AlertRuleIn, effect: float) -> bool:
    return (effect if rule.direction == "worse" else abs(effect)) >= rule.min_effect


def _changes_decided(
    session: Session, rule: AlertRuleIn, own: RuleContest, since: datetime
) -> Iterator[FiredOut]:
    """Changes that stood, of series the rule would decide about."""
    for change, series, target, at in queries.changes_since(session, since):
        effect = worsening(change.effect, series.direction)
        if (
            _has_stood(change)
            and _is_raised(rule, effect)
            and own.decides(_subject(series, target))
        ):
            yield _finding_of_change(change, series, target, at=at, effect=effect)


def _has_stood(change: Change) -> bool:
    if change.state == "vanished":
        return (
            change.alert_id is not None
            or change.evaluations >= constants.HISTORY_EVALUATIONS
        )
    return change.state in ("standing", "accepted", "superseded")


def _subject(series: Series, target: str) -> RuleSubject:
    return RuleSubject(
        series.suite, series.benchmark, series.arm, series.metric, target
    )


def _finding_of_change(
    change: Change, series: Series, target: str, *, at: datetime, effect: float
) -> FiredOut:
    return FiredOut(
        at=at,
        commit=change.commit,
        suite=series.suite,
        benchmark=series.benchmark,
        arm=series.arm,
        metric=series.metric,
        params=series.params,
        target_id=series.target_id,
        target_name=target,
        effect=effect,
        words=f"{percent(effect)} {change.direction}",
        alert_id=change.alert_id,
        alert_state=None,
    )


def _arm_failures(
    session: Session, rule: AlertRuleIn, own: RuleContest, since: datetime
) -> tuple[list[FiredOut], list[FiredOut]]:
    """(the first failing job of each streak, its failing points), both the newest first."""
    streaks: dict[tuple[str, ...], bool] = {}
    fired: list[FiredOut] = []
    found: list[FiredOut] = []
    rows = [
        row
        for row in queries.arm_comparisons_since(session, since)
        if row[0].evidence["rule"]
    ]
    rows.sort(key=lambda row: (row[0].measured_at, row[0].job_id, *_cause_key(row[0])))
    for (_, *parts), group in groupby(
        rows, key=lambda row: (row[0].job_id, *_cause_key(row[0]))
    ):
        cause, points = tuple(parts), list(group)
        one, _, target = points[0]
        if not own.decides(
            RuleSubject(one.suite, one.benchmark, one.arm, one.metric, target)
        ):
            continue
        failing = [
            row
            for row in points
            if row[0].verdict == "fail" and _reaches_effect(rule, row[0])
        ]
        if failing and not streaks.get(cause, False):
            shown = [_finding_of_arm(*row) for row in failing]
            fired.append(max(shown, key=lambda one: one.effect))
            found.extend(shown)
        if failing or all(row[0].verdict == "pass" for row in points):
            streaks[cause] = bool(failing)
    return fired[::-1], found[::-1]


def _cause_key(one: Comparison) -> tuple[str, ...]:
    return (one.suite, one.benchmark, one.arm, one.metric, one.target_id)


def _reaches_effect(rule: AlertRuleIn, one: Comparison) -> bool:
    return one.ratio is not None and one.ratio - 1.0 >= rule.min_effect


def _finding_of_arm(one: Comparison, commit: str, target: str) -> FiredOut:
    own = ("suite", "benchmark", "arm", "metric", "params", "target_id")
    return FiredOut(
        **{name: getattr(one, name) for name in own},
        at=one.measured_at,
        commit=commit,
        target_name=target,
        effect=(one.ratio or 1.0) - 1.0,
        words=str(one.evidence["words"]),
        alert_id=None,
        alert_state=None,
    )
