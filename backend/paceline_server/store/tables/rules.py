"""Rules with their versions and mutes, bisections, bulk triage and the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, OrderedJson, Timestamp
from paceline_server.store.owned import PerhapsOwned, ProjectOwned, ProjectRoot
from paceline_server.store.tables.messages import NEVER_REUSED, Serial


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
    """The content of a rule from `created_at` on. It never changes, because alerts name the version they were raised
    by."""

    __tablename__ = "alert_rule_version"
    rule_id: Mapped[str] = mapped_column(ForeignKey("alert_rule.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    """history | arm_slower."""
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    suite: Mapped[str]
    benchmark: Mapped[str]
    arm: Mapped[str]
    metric: Mapped[str]
    target: Mapped[str]
    """These five are patterns with `*`; of the matching rules, only the most specific applies."""
    min_effect: Mapped[float] = mapped_column(Float)
    """A share: 0.03 is 3 %."""
    direction: Mapped[str]
    """worse | both."""
    mode: Mapped[str]
    """active | shadow (alerts are stored, nobody is notified) | off (raises no alerts)."""
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


class Bisection(ProjectOwned, Base):
    """The search for the commit that caused a change, by A/B jobs on one target."""

    __tablename__ = "bisection"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    alert_id: Mapped[str] = mapped_column(ForeignKey("alert.id"), index=True)
    state: Mapped[str]
    """running | found | exhausted (the budget ended) | undecided (an A/B job gave no verdict) | failed."""
    base_commit: Mapped[str]
    """The revision known to be good; every step is compared with it."""
    commits: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`[{commit, author, at, subject}]`, oldest first, without the base; the head is the last."""
    good: Mapped[int]
    bad: Mapped[int]
    """Indexes into `commits`; minus one is the base. The culprit is in (good, bad]."""
    budget: Mapped[int]
    """How many A/B jobs it may request."""
    steps: Mapped[list[dict[str, Any]]] = mapped_column(OrderedJson)
    """`[{index, commit, run_id, job_id, verdict, ratio, lower, upper, words}]` in order of request."""
    culprit: Mapped[dict[str, Any] | None] = mapped_column(OrderedJson)
    """`{commit, author, at, subject, ratio, lower, upper}`."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class TriageBatch(ProjectOwned, Base):
    """A bulk decision; `before` holds what undoing it needs."""

    __tablename__ = "triage_batch"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    actor: Mapped[str]
    action: Mapped[str]
    note: Mapped[str | None]
    before: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`[{alert_id, state, assignee_id, due_at, after_event_id}]`."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    undone_at: Mapped[datetime | None] = mapped_column(Timestamp)
    undone_by: Mapped[str | None]


class AuditEntry(PerhapsOwned, Base):
    """An entry of the audit log. Appended in the transaction of the change."""

    __tablename__ = "audit_entry"
    __table_args__ = (
        Index("ix_audit_entry_project_id", "project_id", "id"),
        NEVER_REUSED,
    )
    id: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    at: Mapped[datetime] = mapped_column(Timestamp)
    actor: Mapped[str]
    """The author's name at that time."""
    actor_kind: Mapped[str]
    """account | token | agent | system | anonymous."""
    actor_id: Mapped[str | None]
    action: Mapped[str]
    object_kind: Mapped[str]
    object_id: Mapped[str] = mapped_column(String, index=True)
    detail: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
