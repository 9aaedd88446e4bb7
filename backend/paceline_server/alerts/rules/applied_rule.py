"""The rule that applies to a finding, and the built-in rules for where no stored rule matches.

`AppliedRule` holds everything needed to decide and to explain, without another query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from paceline_server.alerts.rules.matching import RuleSubject, most_specific
from paceline_server.stats.plain_words import percent
from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute

Kind = Literal["history", "arm_slower", "gate", "missing", "schedule"]
Direction = Literal["worse", "both"]
Mode = Literal["active", "shadow", "off"]

DEFAULT_HISTORY = "default-history"
SHIPPED = "as-shipped"
DEFAULT_MIN_EFFECT = 0.03
"""Share from which the built-in rule raises an alert (stats/README.md §4.4). Detection finds smaller steps
(`stats.constants.HISTORY_MIN_EFFECT`)."""
OF_RUNS: Mapping[Kind, tuple[str, str]] = {
    "gate": (
        "default-gate",
        "A required gate fails, or stays undecided, on the default branch.",
    ),
    "missing": (
        "default-missing",
        "Cases that were measured before are not measured any more.",
    ),
    "schedule": (
        "default-schedule",
        "A run of a schedule fails, is lost or does not happen.",
    ),
}
"""Built-in rules of what the end of a run shows, by kind: name and text. They have no effect to ask for."""
NAMES_OF_DEFAULTS = (
    DEFAULT_HISTORY,
    SHIPPED,
    *(name for name, _ in OF_RUNS.values()),
)
"""Names a stored rule may not take: alerts name their rule."""


@dataclass(frozen=True)
class AppliedRule:
    """The rule that decides about a finding. `rule_id` and `version` are None for a built-in default."""

    rule_id: str | None
    version: int | None
    name: str
    text: str
    kind: Kind
    min_effect: float
    """Share; a smaller effect raises no alert."""
    direction: Direction
    mode: Mode
    muted: str | None
    """The mute in force, in words; alerts are raised all the same."""

    def raises(self, effect: float) -> bool:
        """Whether an effect raises an alert; it is a share, above 0 when it got worse."""
        if self.mode == "off":
            return False
        return (effect if self.direction == "worse" else abs(effect)) >= self.min_effect

    def resolved(self, floor: float | None) -> AppliedRule:
        """This rule on a series with a noise floor (a share; None if not measured). The built-in rule is raised
        to the floor; stored rules were checked against it when they were saved (I14)."""
        if self.rule_id is not None or floor is None or floor <= self.min_effect:
            return self
        text = f"{_default_text(floor)} Here less than that cannot be told from noise."
        return replace(self, min_effect=floor, text=text)

    @property
    def shadow(self) -> bool:
        """Whether alerts of this rule are raised in shadow."""
        return self.mode == "shadow"

    def as_evidence(self) -> dict[str, Any]:
        """The rule as an alert stores it."""
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
    """The rule where no stored rule matches: history from 3 % worse on, arms by the suite's manifest."""
    if kind == "history":
        name, least = DEFAULT_HISTORY, DEFAULT_MIN_EFFECT
        text = _default_text(least)
    elif kind in OF_RUNS:
        (name, text), least = OF_RUNS[kind], 0.0
    else:
        name, least = SHIPPED, 0.0
        text = "The rules of the suite's manifest apply as shipped."
    return AppliedRule(None, None, name, text, kind, least, "worse", "active", None)


@dataclass(frozen=True)
class RuleBook:
    """The present rules of a kind, read once for all findings of a job."""

    kind: Kind
    rules: Sequence[tuple[AlertRule, AlertRuleVersion]]
    mutes: dict[str, RuleMute]

    def rule_for(self, subject: RuleSubject) -> AppliedRule:
        """The rule that decides about a measurement."""
        version = most_specific([version for _, version in self.rules], subject)
        if version is None:
            return default_rule(self.kind)
        name = next(rule.name for rule, stored in self.rules if stored is version)
        return applied_version(name, version, self.mutes.get(version.rule_id))


def applied_version(
    name: str, version: AlertRuleVersion, mute: RuleMute | None
) -> AppliedRule:
    """A stored version of a rule, as applied."""
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
