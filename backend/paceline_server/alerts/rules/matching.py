"""Finds the rule that decides about a measurement: the most specific rule that matches.

Rules are not merged. The first difference between two rules decides which is more specific:

1. more of the five patterns are exact (contain no `*`);
2. the first field, in the order of `FIELDS`, in which only one pattern is exact;
3. more literal characters in all five patterns, then field by field in the same order;
4. the version saved last.

`*` matches any characters, everything else is literal; matching takes linear time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from paceline_server.kernel.globs import ANY, matches
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.history import NoiseFloor, Series

FIELDS = ("target", "benchmark", "arm", "metric", "suite")
"""The five patterns, the one that narrows most first."""


@dataclass(frozen=True)
class RuleSubject:
    """A measurement on a target, by the names that rules match."""

    suite: str
    benchmark: str
    arm: str
    metric: str
    target: str

    @classmethod
    def of(cls, row: Series | Comparison | NoiseFloor, target: str) -> RuleSubject:
        """The subject of a stored row; `target` is the target's name."""
        return cls(row.suite, row.benchmark, row.arm, row.metric, target)


class PatternedRule(Protocol):
    """The five patterns of a rule and when it was saved."""

    @property
    def suite(self) -> str: ...
    @property
    def benchmark(self) -> str: ...
    @property
    def arm(self) -> str: ...
    @property
    def metric(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def rule_id(self) -> str: ...


Rule = TypeVar("Rule", bound=PatternedRule)


def covers(rule: PatternedRule, subject: RuleSubject) -> bool:
    """Whether all five patterns match."""
    return all(
        matches(getattr(rule, field), getattr(subject, field)) for field in FIELDS
    )


def specificity(
    rule: PatternedRule,
) -> tuple[int, tuple[bool, ...], int, tuple[int, ...], datetime, str]:
    """The sort key of the order above, greatest first; the id only makes it total."""
    exact = tuple(ANY not in getattr(rule, field) for field in FIELDS)
    literal = tuple(len(getattr(rule, field).replace(ANY, "")) for field in FIELDS)
    return sum(exact), exact, sum(literal), literal, rule.created_at, rule.rule_id


def most_specific(rules: Iterable[Rule], subject: RuleSubject) -> Rule | None:
    """The rule that decides about `subject`, if any matches."""
    return max(
        (rule for rule in rules if covers(rule, subject)), key=specificity, default=None
    )
