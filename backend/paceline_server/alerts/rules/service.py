"""Decisions about rules, and the rule that decides about a finding.

Place: asked by `alerts.service` (arms) and by the alerts of history; written by people through `routes`.
Invariants: one rule decides about a finding, the most specific that matches (`matching`); what a version says
never changes; where no stored rule matches a built-in default applies, so silence is somebody's choice.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts.rules import queries
from paceline_server.alerts.rules.applied import Applied, Kind, RuleBook, default, mute_words
from paceline_server.kernel import clock

__all__ = ["Applied", "Kind", "RuleBook", "default", "muted", "rule_for", "rules_in_force"]


def rules_in_force(session: Session, kind: Kind) -> RuleBook:
    """The rules of a kind as they stand now: read once, asked for every finding of a job."""
    return RuleBook(
        kind, queries.newest_versions(session, kind), queries.mutes_in_force(session, clock.now())
    )


def rule_for(
    session: Session, *, kind: Kind, suite: str, benchmark: str, arm: str, metric: str, target: str
) -> Applied:
    """The rule that decides about one finding; `target` is the target's name. For many use
    `rules_in_force`."""
    book = rules_in_force(session, kind)
    return book.rule_for(suite=suite, benchmark=benchmark, arm=arm, metric=metric, target=target)


def muted(session: Session, rule_id: str | None) -> str | None:
    """Why nobody is told of this rule's alerts at present, in words; None when people are told."""
    if rule_id is None:
        return None
    mute = queries.mutes_in_force(session, clock.now()).get(rule_id)
    return None if mute is None else mute_words(mute)
