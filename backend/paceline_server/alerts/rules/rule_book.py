"""Finds the rule that decides about a measurement: the most specific one that matches, or its kind's built-in rule.

Rules are not merged. The first difference between two rules decides which is more specific:

1. more of the five patterns are exact (contain no `*`);
2. the first field, in the order of `FIELDS`, in which only one pattern is exact;
3. more literal characters in all five patterns, then field by field in the same order;
4. the version saved last.

`*` matches any characters, everything else is literal; matching takes linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol, TypeVar, cast

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.registry import kind_of
from paceline_server.alerts.rules.schemas import Direction, Mode
from paceline_server.kernel import clock
from paceline_server.kernel.globs import ANY, matches
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.history import NoiseFloor, Series
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute

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
        """Return the subject of a stored row; `target` is the target's name."""
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
    """Return whether all five patterns match."""
    return all(
        matches(getattr(rule, field), getattr(subject, field)) for field in FIELDS
    )


def specificity(
    rule: PatternedRule,
) -> tuple[int, tuple[bool, ...], int, tuple[int, ...], datetime, str]:
    """Return the sort key for the order above, greatest first; the id only makes it total."""
    exact = tuple(ANY not in getattr(rule, field) for field in FIELDS)
    literal = tuple(len(getattr(rule, field).replace(ANY, "")) for field in FIELDS)
    return sum(exact), exact, sum(literal), literal, rule.created_at, rule.rule_id


def most_specific(rules: Iterable[Rule], subject: RuleSubject) -> Rule | None:
    """Return the rule that decides about `subject`, if any matches."""
    return max(
        (rule for rule in rules if covers(rule, subject)), key=specificity, default=None
    )


@dataclass(frozen=True)
class AppliedRule:
    """The rule that decides about a finding. `rule_id` and `version` are None for a built-in default."""

    rule_id: str | None
    version: int | None
    name: str
    text: str
    kind: str
    min_effect: float
    """Share; a smaller effect raises no alert."""
    direction: Direction
    mode: Mode
    muted: str | None
    """The mute in force, in words; alerts are raised all the same."""
    period_hours: float | None = None
    """How often something must arrive, if the kind asks for it."""

    def raises(self, effect: float) -> bool:
        """Return whether an effect raises an alert; it is a share, above 0 when it got worse."""
        if self.mode == "off":
            return False
        return (effect if self.direction == "worse" else abs(effect)) >= self.min_effect

    def resolved(self, floor: float | None) -> AppliedRule:
        """Return this rule on a series with a noise floor (a share; None if not measured). The built-in rule is raised
        to the floor; stored rules were checked against it when they were saved (I14)."""
        if self.rule_id is not None or floor is None or floor <= self.min_effect:
            return self
        text = f"{stays_worse(floor)} Here less than that cannot be told from noise."
        return replace(self, min_effect=floor, text=text)

    @property
    def shadow(self) -> bool:
        """True if alerts of this rule are raised in shadow."""
        return self.mode == "shadow"

    def as_evidence(self) -> dict[str, Any]:
        """Return the rule as an alert stores it."""
        return {
            "name": self.name,
            "version": self.version or 1,
            "text": self.text,
            "kind": self.kind,
            "min_effect": self.min_effect,
            "direction": self.direction,
            "mode": self.mode,
            "period_hours": self.period_hours,
        }


@dataclass(frozen=True)
class BuiltInRule:
    """The rule of a kind that applies if no stored rule matches."""

    name: str
    text: str
    min_effect: float = 0.0
    has_effect: bool = True
    """True if findings have an effect that a rule can limit; such rules can be replayed."""
    asks_period: bool = False
    """True if a rule says how often something must arrive."""
    mode: Mode = "active"
    """Off: nothing is watched until somebody writes a rule."""


def default_rule(kind: str) -> AppliedRule:
    """Return the rule where no stored rule matches."""
    rule = kind_of(kind).built_in_rules[kind]
    return AppliedRule(
        rule_id=None,
        version=None,
        name=rule.name,
        text=rule.text,
        kind=kind,
        min_effect=rule.min_effect,
        direction="worse",
        mode=rule.mode,
        muted=None,
    )


def stays_worse(least: float) -> str:
    """Return the text of the built-in rule about history, from this effect on."""
    return f"A measurement got worse by {percent(least)} or more and stayed so."


@dataclass(frozen=True)
class RuleBook:
    """The present rules of a kind, read once for all findings of a job."""

    kind: str
    rules: Sequence[tuple[AlertRule, AlertRuleVersion]]
    mutes: dict[str, RuleMute]

    def rule_for(self, subject: RuleSubject) -> AppliedRule:
        """Return the rule that decides about a measurement."""
        version = most_specific([version for _, version in self.rules], subject)
        if version is None:
            return default_rule(self.kind)
        name = next(rule.name for rule, stored in self.rules if stored is version)
        return applied_version(name, version, self.mutes.get(version.rule_id))


def rules_in_force(session: Session, kind: str) -> RuleBook:
    """Return the present rules of a kind."""
    return RuleBook(
        kind,
        queries.newest_versions(session, kind),
        queries.mutes_in_force(session, clock.now()),
    )


def rule_for(session: Session, kind: str, subject: RuleSubject) -> AppliedRule:
    """Return the rule that decides about a measurement. For many measurements use `rules_in_force`."""
    return rules_in_force(session, kind).rule_for(subject)


def mute_in_force(session: Session, rule_id: str | None) -> RuleMute | None:
    """Return the mute of a rule that is in force now."""
    if rule_id is None:
        return None
    return queries.mutes_in_force(session, clock.now()).get(rule_id)


def applied_version(
    name: str, version: AlertRuleVersion, mute: RuleMute | None
) -> AppliedRule:
    """Return a stored version of a rule, as applied."""
    return AppliedRule(
        version.rule_id,
        version.version,
        name,
        version.text,
        version.kind,
        version.min_effect,
        cast("Direction", version.direction),
        cast("Mode", version.mode),
        None if mute is None else mute_words(mute),
        version.period_hours,
    )


def mute_words(mute: RuleMute) -> str:
    """Return a mute in words, such as `muted by Ada until 2026-11-24 08:00 UTC: flaky fan`."""
    return (
        f"muted by {mute.muted_by} until {mute.until:%Y-%m-%d %H:%M} UTC: {mute.reason}"
    )
