"""Rules that decide about nothing that lives, and measurements no stored rule speaks about.

Place: under `routes`, reads only. Living: a series with a point in the last `LIVING_DAYS` of a benchmark that
nobody retired; for rules of arms, what the announced manifests declare, on every target. A rule that matches
something but is always beaten by a more specific one is an orphan too: it says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from itertools import product

from sqlalchemy.orm import Session

from paceline_server.alerts.rules import queries, words
from paceline_server.alerts.rules.matching import Subject, covers, most_specific
from paceline_server.alerts.rules.schemas import OrphanRuleOut, OrphansOut, UnruledOut
from paceline_server.catalog.manifest import read as read_manifest
from paceline_server.kernel import clock
from paceline_server.store.tables.rules import AlertRuleVersion

LIVING_DAYS = 30
"""days; what was not measured for a month is not being watched by anybody."""
UNRULED_SHOWN = 200


def orphans(session: Session) -> OrphansOut:
    """Both lists, over all rules."""
    living = Counter(
        (Subject(one.suite, one.benchmark, one.arm, one.metric, target), one.target_id)
        for one, target in queries.living_series(
            session, clock.now() - timedelta(days=LIVING_DAYS)
        )
    )
    history = [subject for subject, _ in living]
    rules = queries.newest_versions(session)
    of_history = [version for _, version in rules if version.kind == "history"]
    of_arms = [version for _, version in rules if version.kind == "arm_slower"]
    reasons = {
        **_idle(
            of_history,
            history,
            f"matches no series measured in the last {LIVING_DAYS} days",
        ),
        **_idle(of_arms, list(_arms(session)), "matches no arm of an announced suite"),
    }
    found = [
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
        rules=found,
        unruled=unruled[:UNRULED_SHOWN],
        unruled_total=len(unruled),
        words=words.orphans(len(found), len(unruled)),
    )


def _idle(
    rules: list[AlertRuleVersion], subjects: list[Subject], why: str
) -> dict[str, str]:
    """Why, by rule id, of the rules that decide about none of `subjects`."""
    deciding = {id(most_specific(rules, subject)) for subject in subjects}
    idle = [rule for rule in rules if id(rule) not in deciding]
    return {
        rule.rule_id: "a more specific rule decides about everything it matches"
        if any(covers(rule, subject) for subject in subjects)
        else why
        for rule in idle
    }


def _arms(session: Session) -> Iterator[Subject]:
    """Every arm besides a reference that an announced suite declares, on every target."""
    targets = queries.targets(session)
    for suite in queries.suites(session):
        manifest = read_manifest(suite.manifest)
        judged = {kind: manifest.on(kind).benchmarks for kind, _ in targets}
        for kind, target in targets:
            for name, benchmark in judged[kind].items():
                for arm, metric in product(benchmark.other_arms, benchmark.metrics):
                    yield Subject(suite.name, name, arm, metric, target)
