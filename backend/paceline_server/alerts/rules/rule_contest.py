"""Tests what a rule would decide about before it is saved.

The candidate competes as it would once saved: as the newest version, in place of the rule
it replaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from paceline_server.alerts.rules.matching import (
    PatternedRule,
    RuleSubject,
    covers,
    most_specific,
)
from paceline_server.alerts.rules.schemas import AlertRuleIn
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion


@dataclass(eq=False)
class RuleCandidate:
    """The patterns of a rule as it would be saved."""

    suite: str
    benchmark: str
    arm: str
    metric: str
    target: str
    created_at: datetime
    rule_id: str


@dataclass(frozen=True)
class RuleContest:
    """A candidate and the rules of its kind it competes with."""

    candidate: RuleCandidate
    others: Sequence[PatternedRule]

    def decides(self, subject: RuleSubject) -> bool:
        """Whether the candidate would decide about `subject`."""
        if not covers(self.candidate, subject):
            return False
        return most_specific([*self.others, self.candidate], subject) is self.candidate


def build_contest(
    spec: AlertRuleIn,
    rule_id: str | None,
    at: datetime,
    in_force: Sequence[tuple[AlertRule, AlertRuleVersion]],
) -> RuleContest:
    """`spec` saved at `at`, in place of `rule_id` if given, among the rules of its kind."""
    candidate = RuleCandidate(
        spec.suite,
        spec.benchmark,
        spec.arm,
        spec.metric,
        spec.target,
        at,
        rule_id or "",
    )
    others = [
        version
        for rule, version in in_force
        if rule.id != rule_id and version.kind == spec.kind
    ]
    return RuleContest(candidate, others)
