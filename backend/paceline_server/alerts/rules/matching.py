"""Finds the one rule that decides about a measurement: five patterns and a total order.
Pure.

Of the rules that match, the most specific decides alone; nothing is merged. The first
difference decides:

1. more of the five patterns are exact (hold no `*`);
2. the exact ones are, in this order: target, benchmark, arm, metric, suite;
3. more literal characters in the patterns, all five together, then field by field in
the same order;
4. the version saved last.

Exact patterns that match the same name are the same text, so their lengths do not count
before 3. `*` is any number of any characters, everything else is literal; matching
takes linear time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

FIELDS = ("target", "benchmark", "arm", "metric", "suite")
"""The five patterns, the one that narrows most first: a target is one of few, a suite holds many."""
ANY = "*"


@dataclass(frozen=True)
class RuleSubject:
    """What a rule is asked about: one measurement on one target, by name."""

    suite: str
    benchmark: str
    arm: str
    metric: str
    target: str


class PatternedRule(Protocol):
    """What has the five patterns and a place in time: a stored version of a rule."""

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


def matches(pattern: str, name: str) -> bool:
    """Whether `name` fits `pattern`, whole and case-sensitive."""
    if ANY not in pattern:
        return pattern == name
    head, *middle, tail = pattern.split(ANY)
    if (
        len(head) + len(tail) > len(name)
        or not name.startswith(head)
        or not name.endswith(tail)
    ):
        return False
    at, end = len(head), len(name) - len(tail)
    for part in middle:  # the leftmost place of each part leaves most room for the next
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


def covers(rule: PatternedRule, subject: RuleSubject) -> bool:
    """Whether all five patterns match."""
    return all(
        matches(getattr(rule, field), getattr(subject, field)) for field in FIELDS
    )


def specificity(
    rule: PatternedRule,
) -> tuple[int, tuple[bool, ...], int, tuple[int, ...], datetime, str]:
    """The sort key of the order above; the greatest wins. The id only makes it total."""
    exact = tuple(ANY not in getattr(rule, field) for field in FIELDS)
    literal = tuple(len(getattr(rule, field).replace(ANY, "")) for field in FIELDS)
    return sum(exact), exact, sum(literal), literal, rule.created_at, rule.rule_id


def most_specific(rules: Iterable[Rule], subject: RuleSubject) -> Rule | None:
    """The one rule that decides about `subject`, if any matches."""
    return max(
        (rule for rule in rules if covers(rule, subject)), key=specificity, default=None
    )
