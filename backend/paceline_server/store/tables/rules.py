"""Defines rules with their versions and mutes."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Float, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Timestamp
from paceline_server.store.owned import ProjectOwned, ProjectRoot


class AlertRule(ProjectRoot, Base):
    """A rule; its content is in its newest version."""

    __tablename__ = "alert_rule"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)


class AlertRuleVersion(ProjectOwned, Base):
    """The content of a rule from `created_at` on. It never changes, because alerts name the version that raised
    them."""

    __tablename__ = "alert_rule_version"
    rule_id: Mapped[str] = mapped_column(ForeignKey("alert_rule.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    """A name of a kind of `alerts/kinds` that has rules."""
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    suite: Mapped[str]
    benchmark: Mapped[str]
    arm: Mapped[str]
    metric: Mapped[str]
    target: Mapped[str]
    """Suite, benchmark, arm, metric and target are patterns with `*`. Of the matching rules, only the most specific
    applies."""
    min_effect: Mapped[float] = mapped_column(Float)
    """A share: 0.03 is 3 %."""
    direction: Mapped[str]
    """worse | both."""
    mode: Mapped[str]
    """active | shadow (alerts are stored, nobody is notified) | off (raises no alerts)."""
    period_hours: Mapped[float | None] = mapped_column(Float, default=None)
    """How often something must arrive; null: the kind asks for no period."""
    text: Mapped[str]
    comment: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class RuleMute(ProjectOwned, Base):
    """A period in which a rule notifies nobody, with its reason."""

    __tablename__ = "rule_mute"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    rule_id: Mapped[str] = mapped_column(ForeignKey("alert_rule.id"), index=True)
    reason: Mapped[str]
    until: Mapped[datetime] = mapped_column(Timestamp)
    muted_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
