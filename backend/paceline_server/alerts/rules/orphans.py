"""Lists rules that decide about no measurement, and measurements about which no stored rule decides.

Rules of history are checked against series with a point in the last `LIVING_DAYS` whose benchmark is not retired; rules
of arms against the announced manifests on every target. A rule that always loses to a more specific one is an orphan
too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import product

from paceline_contract.manifest_reader import read_manifest
from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.rules import rule_checks
from paceline_server.alerts.rules.rule_book import RuleSubject, covers, most_specific
from paceline_server.alerts.rules.schemas import OrphanRuleOut, OrphansOut, UnruledOut
from paceline_server.kernel import clock
from paceline_server.store.tables.rules import AlertRuleVersion

LIVING_DAYS = 30
"""Days without a point after which a series is ignored, because nobody watches it any more."""
UNRULED_SHOWN = 200


def find_orphans(session: Session) -> OrphansOut:
    """Return rules without measurements and measurements without a stored rule."""
    living = Counter(
        (RuleSubject.of(series, target), series.target_id)
        for series, target in queries.living_series(
            session, clock.now() - timedelta(days=LIVING_DAYS)
        )
    )
    history = [subject for subject, _ in living]
    rules = queries.newest_versions(session)
    of_history = [version for _, version in rules if version.kind == "history"]
    of_arms = [version for _, version in rules if version.kind == "arm_slower"]
    reasons = {
        **_idle_rules(
            of_history,
            history,
            f"matches no series measured in the last {LIVING_DAYS} days",
        ),
        **_idle_rules(
            of_arms,
            list(_declared_arms(session)),
            "matches no arm of an announced suite",
        ),
    }
    idle_rules = [
        OrphanRuleOut(rule_id=rule.id, name=rule.name, reason=reasons[rule.id])
        for rule, _ in rules
        if rule.id in reasons
    ]
    unruled = [
        UnruledOut(
            suite=subject.suite,
            benchmark=subject.benchmark,
            arm=subject.arm,
            metric=subject.metric,
            target_id=target_id,
            target_name=subject.target,
            series=count,
        )
        for (subject, target_id), count in living.items()
        if most_specific(of_history, subject) is None
    ]
    return OrphansOut(
        living_days=LIVING_DAYS,
        rules=idle_rules,
        unruled=unruled[:UNRULED_SHOWN],
        unruled_total=len(unruled),
        words=rule_checks.orphans_sentence(len(idle_rules), len(unruled)),
    )


def _idle_rules(
    rules: list[AlertRuleVersion], subjects: list[RuleSubject], why: str
) -> dict[str, str]:
    """Return the reason by rule id, for the rules that decide about none of `subjects`."""
    deciding = {id(most_specific(rules, subject)) for subject in subjects}
    idle = [rule for rule in rules if id(rule) not in deciding]
    return {
        rule.rule_id: "a more specific rule decides about everything it matches"
        if any(covers(rule, subject) for subject in subjects)
        else why
        for rule in idle
    }


def _declared_arms(session: Session) -> Iterator[RuleSubject]:
    """Yield every arm but the reference that an announced suite declares, on every target."""
    targets = queries.measuring_targets(session)
    for suite in queries.suites(session):
        manifest = read_manifest(suite.manifest)
        judged = {kind: manifest.on(kind).benchmarks for kind, _ in targets}
        for kind, target in targets:
            for name, benchmark in judged[kind].items():
                for arm, metric in product(benchmark.other_arms, benchmark.metrics):
                    yield RuleSubject(suite.name, name, arm, metric, target)
