"""All SQL of rules."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from paceline_server.store.tables.rules import AlertRule, AlertRuleVersion, RuleMute


def newest_versions(session: Session, kind: str | None = None) -> list[tuple[AlertRule, AlertRuleVersion]]:
    """Every rule that is not deleted with what it says now, by name."""
    query = (
        select(AlertRule, AlertRuleVersion)
        .join(
            AlertRuleVersion,
            (AlertRuleVersion.rule_id == AlertRule.id) & (AlertRuleVersion.version == AlertRule.version),
        )
        .where(AlertRule.deleted_at.is_(None))
        .order_by(AlertRule.name)
    )
    if kind is not None:
        query = query.where(AlertRuleVersion.kind == kind)
    return [(rule, version) for rule, version in session.execute(query)]


def mutes_in_force(session: Session, at: datetime) -> dict[str, RuleMute]:
    """The mute of each rule that is silent at `at`, the one that ends last."""
    query = (
        select(RuleMute)
        .where(RuleMute.ended_at.is_(None), RuleMute.until > at)
        .order_by(RuleMute.until, RuleMute.id)
    )
    return {mute.rule_id: mute for mute in session.scalars(query)}
