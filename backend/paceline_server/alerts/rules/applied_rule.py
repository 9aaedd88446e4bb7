"""The rule that applies to a finding, and the built-in rules that apply where no rule is
stored.

`AppliedRule` holds everything needed to decide and to explain, without another query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from paceline_server.alerts.rules.matching import RuleSubject, most_specific
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute

Kind = Literal["history", "arm_slower"]
Direction = Literal["worse", "both"]
Mode = Literal["active", "shadow", "off"]

DEFAULT_HISTORY = "default-history"
SHIPPED = "as-shipped"
DEFAULT_MIN_EFFECT = 0.03
"""share; smaller steps of a history are not worth a person's time unless a rule says so. STATISTICS §4.4.
What detection can find is another number (`stats.constants.HISTORY_MIN_EFFECT`)."""
NAMES_OF_DEFAULTS = (DEFAULT_HISTORY, SHIPPED)
"""Not to be taken by a stored rule: an alert's rule is known by its name."""


@dataclass(frozen=True)
class AppliedRule:
    """The one rule that decides about a finding. `rule_id` and `version` are None for a built-in default."""

    rule_id: str | None
    version: int | None
    name: str
    text: str
    kind: Kind
    min_effect: float
    """A share: an effect smaller than this raises nothing."""
    direction: Direction
    mode: Mode
    muted: str | None
    """Why nobody is told at present, in words; the alert is raised all the same."""

    def raises(self, effect: float) -> bool:
        """Whether a change of `effect` raises an alert: a share, above 0 when it got worse, below when
        better."""
        if self.mode == "off":
            return False
        return (effect if self.direction == "worse" else abs(effect)) >= self.min_effect

    def resolved(self, floor: float | None) -> AppliedRule:
        """This rule where an A/A job measured a noise floor (a share; None: none did). People's rules were
        refused below it when they were saved; the built-in one asks for no less by itself (I14)."""
        if self.rule_id is not None or floor is None or floor <= self.min_effect:
            return self
        text = f"{_default_text(floor)} Here less than that cannot be told from noise."
        return replace(self, min_effect=floor, text=text)

    @property
    def shadow(self) -> bool:
        """For `Alert.shadow`."""
        return self.mode == "shadow"

    def as_evidence(self) -> dict[str, Any]:
        """For `Alert.rule`: what the rule said when it decided, kept with the alert."""
        return {
            "name": self.name,
            "version": self.version or 1,
            "text": self.text,
            "kind": self.kind,
            "min_effect": self.min_effect,
            "direction": self.direction,
            "mode": self.mode,
        }


def _default_text(least: float) -> str:
    return f"A measurement got worse by {percent(least)} or more and stayed so."


def default_rule(kind: Kind) -> AppliedRule:
    """What applies where no stored rule matches: history from 3 % for the worse; arms as the suite's manifest
    has it."""
    if kind == "history":
        name, least = DEFAULT_HISTORY, DEFAULT_MIN_EFFECT
        text = _default_text(least)
    else:
        name, least = SHIPPED, 0.0
        text = "The rules of the suite's manifest apply as shipped."
    return AppliedRule(None, None, name, text, kind, least, "worse", "active", None)


@dataclass(frozen=True)
class RuleBook:
    """The rules of one kind as they stand now, read once and asked for every finding of a job."""

    kind: Kind
    rules: Sequence[tuple[AlertRule, AlertRuleVersion]]
    mutes: dict[str, RuleMute]

    def rule_for(
        self, *, suite: str, benchmark: str, arm: str, metric: str, target: str
    ) -> AppliedRule:
        """The rule that decides; `target` is the target's name."""
        subject = RuleSubject(suite, benchmark, arm, metric, target)
        found = most_specific([version for _, version in self.rules], subject)
        if found is None:
            return default_rule(self.kind)
        name = next(rule.name for rule, version in self.rules if version is found)
        return applied_version(name, found, self.mutes.get(found.rule_id))


def applied_version(
    name: str, version: AlertRuleVersion, mute: RuleMute | None
) -> AppliedRule:
    """A stored version as what it says."""
    return AppliedRule(
        version.rule_id,
        version.version,
        name,
        version.text,
        cast("Kind", version.kind),
        version.min_effect,
        cast("Direction", version.direction),
        cast("Mode", version.mode),
        None if mute is None else mute_words(mute),
    )


def mute_words(mute: RuleMute) -> str:
    """`muted by Ada until 2026-11-24 08:00 UTC: flaky fan`."""
    return (
        f"muted by {mute.muted_by} until {mute.until:%Y-%m-%d %H:%M} UTC: {mute.reason}"
    )
