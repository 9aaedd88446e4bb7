"""Replays a rule over the last days before it is saved: which alerts would it have raised?

The rule competes with stored rules as if it were saved (`rule_checks.py`). An arm that fails in several consecutive
jobs counts as one alert. Confirmations are not replayed. Demonstrations raise no alert and are only counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.explanation import is_slower
from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.rules import rule_checks
from paceline_server.alerts.rules.rule_book import RuleSubject
from paceline_server.alerts.rules.rule_checks import (
    RuleContest,
    build_contest,
    refuse_undetectable,
)
from paceline_server.alerts.rules.schemas import (
    AlertRuleIn,
    FiredOut,
    ReplayIn,
    ReplayOut,
    TargetCountOut,
)
from paceline_server.kernel import clock
from paceline_server.kernel.errors import invalid_request, not_found
from paceline_server.series.change_sentences import worsening
from paceline_server.stats import constants
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.history import Change, Series

FINDINGS_SHOWN = 200
_SHARED_COLUMNS = ("suite", "benchmark", "arm", "metric", "params", "target_id")


def replay_rule(session: Session, request: ReplayIn) -> ReplayOut:
    """Return the alerts a rule would have raised. Raises 404 for an unknown rule; 422 if it asks for smaller steps
    than detection finds."""
    at = clock.now()
    kind = request.rule.kind
    if not kind_of(kind).built_in_rules[kind].has_effect:
        raise invalid_request(
            "Only rules about a series' history and about arms are replayed.",
            {"rule.kind": "history or arm_slower"},
        )
    refuse_undetectable(request.rule)
    if request.rule_id is not None and queries.rule(session, request.rule_id) is None:
        raise not_found("rule", request.rule_id)
    rules = queries.newest_versions(session, request.rule.kind)
    contest = build_contest(request.rule, request.rule_id, at, rules)
    since = at - timedelta(days=request.days)
    if request.rule.kind == "history":
        findings = list(_find_decided_changes(session, request.rule, contest, since))
        alerts_by_cause = {
            (finding.target_id, finding.commit, finding.effect > 0): finding
            for finding in findings
        }
        alerts, demonstration_count = list(alerts_by_cause.values()), 0
    else:
        alerts, findings, demonstration_count = _find_arm_failures(
            session, request.rule, contest, since
        )
    by_target = _count_by_target(alerts)
    return ReplayOut(
        days=request.days,
        fired=len(alerts),
        findings_total=len(findings),
        by_target=by_target,
        words=rule_checks.replay_sentence(
            request.days, request.rule, len(alerts), by_target, demonstration_count
        ),
        findings=_add_alert_states(session, findings[:FINDINGS_SHOWN]),
    )


def _count_by_target(alerts: Sequence[FiredOut]) -> list[TargetCountOut]:
    """Return the number of alerts of each target, the most first."""
    names = {finding.target_id: finding.target_name for finding in alerts}
    counted = Counter(finding.target_id for finding in alerts)
    ordered = sorted(
        counted, key=lambda target: (-counted[target], names[target], target)
    )
    return [
        TargetCountOut(
            target_id=target, target_name=names[target], fired=counted[target]
        )
        for target in ordered
    ]


def _add_alert_states(session: Session, findings: Sequence[FiredOut]) -> list[FiredOut]:
    states = queries.alert_states(session, (finding.alert_id for finding in findings))
    return [
        finding.model_copy(update={"alert_state": states.get(finding.alert_id or "")})
        for finding in findings
    ]


def _is_large_enough(rule: AlertRuleIn, effect: float) -> bool:
    return (effect if rule.direction == "worse" else abs(effect)) >= rule.min_effect


def _find_decided_changes(
    session: Session, rule: AlertRuleIn, contest: RuleContest, since: datetime
) -> Iterator[FiredOut]:
    """Yield a finding for each established change of a series about which the rule would decide."""
    for change, series, target, at in queries.changes_since(session, since):
        effect = worsening(change.effect, series.direction)
        if (
            _was_established(change)
            and _is_large_enough(rule, effect)
            and contest.decides(RuleSubject.of(series, target))
        ):
            yield _make_change_finding(change, series, target, at=at, effect=effect)


def _was_established(change: Change) -> bool:
    if change.state == "vanished":
        return (
            change.alert_id is not None
            or change.evaluations >= constants.HISTORY_EVALUATIONS
        )
    return change.state in ("standing", "accepted", "superseded")


def _make_change_finding(
    change: Change, series: Series, target: str, *, at: datetime, effect: float
) -> FiredOut:
    return FiredOut(
        **{name: getattr(series, name) for name in _SHARED_COLUMNS},
        at=at,
        commit=change.commit,
        target_name=target,
        effect=effect,
        words=f"{percent(effect)} {change.direction}",
        alert_id=change.alert_id,
        alert_state=None,
    )


def _find_arm_failures(
    session: Session, rule: AlertRuleIn, contest: RuleContest, since: datetime
) -> tuple[list[FiredOut], list[FiredOut], int]:
    """Return the alerts, the findings behind them, and in how many demonstrations the rule would have fired.

    An alert is the worst finding of the first failing job of a streak. Alerts and findings are the newest first.
    """
    streaks: dict[tuple[str, ...], bool] = {}
    demonstrations: set[str] = set()
    alerts: list[FiredOut] = []
    findings: list[FiredOut] = []
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
        first, _, target = points[0]
        if not contest.decides(RuleSubject.of(first, target)):
            continue
        failing = [
            row for row in points if is_slower(row[0]) and _reaches_effect(rule, row[0])
        ]
        if first.demonstration:
            if failing:
                demonstrations.add(first.run_id)
            continue
        if failing and not streaks.get(cause, False):
            job_findings = [_make_arm_finding(*row) for row in failing]
            alerts.append(max(job_findings, key=lambda finding: finding.effect))
            findings.extend(job_findings)
        if failing or all(row[0].verdict == "pass" for row in points):
            streaks[cause] = bool(failing)
    return alerts[::-1], findings[::-1], len(demonstrations)


def _cause_key(comparison: Comparison) -> tuple[str, ...]:
    return (
        comparison.suite,
        comparison.benchmark,
        comparison.arm,
        comparison.metric,
        comparison.target_id,
    )


def _reaches_effect(rule: AlertRuleIn, comparison: Comparison) -> bool:
    return comparison.ratio is not None and comparison.ratio - 1.0 >= rule.min_effect


def _make_arm_finding(comparison: Comparison, commit: str, target: str) -> FiredOut:
    return FiredOut(
        **{name: getattr(comparison, name) for name in _SHARED_COLUMNS},
        at=comparison.measured_at,
        commit=commit,
        target_name=target,
        effect=(comparison.ratio or 1.0) - 1.0,
        words=str(comparison.evidence["words"]),
        alert_id=None,
        alert_state=None,
    )
