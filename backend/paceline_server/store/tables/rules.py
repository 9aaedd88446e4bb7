"""Rules people own, their versions and mutes; bisections; bulk triage that can be undone; the audit log."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Float, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, OrderedJson, Timestamp
from paceline_server.store.tables.messages import NEVER_REUSED, Serial


class AlertRule(Base):
    """A rule by name; what it says is its newest version."""

    __tablename__ = "alert_rule"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String, unique=True)
    version: Mapped[int]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)


class AlertRuleVersion(Base):
    """What a rule said from `created_at` on. Never changed: an alert names the version it was raised by."""

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
    """Five patterns with `*`; of the rules that match, the most specific decides alone."""
    min_effect: Mapped[float] = mapped_column(Float)
    """A share: 0.03 is 3 %."""
    direction: Mapped[str]
    """worse | both."""
    mode: Mapped[str]
    """active | shadow (findings are kept, nobody is told) | off (what matches raises nothing)."""
    text: Mapped[str]
    comment: Mapped[str]
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class RuleMute(Base):
    """Silence with a reason and an end."""

    __tablename__ = "rule_mute"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    rule_id: Mapped[str] = mapped_column(ForeignKey("alert_rule.id"), index=True)
    reason: Mapped[str]
    until: Mapped[datetime] = mapped_column(Timestamp)
    muted_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Bisection(Base):
    """The search for the one commit between two revisions, by A/B jobs on one target."""

    __tablename__ = "bisection"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    alert_id: Mapped[str] = mapped_column(ForeignKey("alert.id"), index=True)
    state: Mapped[str]
    """running | found | exhausted (the budget ended) | undecided (an A/B job could not tell) | failed."""
    base_commit: Mapped[str]
    """The revision every step is compared with: known to be good."""
    commits: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """`[{commit, author, at, subject}]`, oldest first, without the base; the last one is the head."""
    good: Mapped[int]
    bad: Mapped[int]
    """Indexes into `commits`; minus one is the base. The culprit lies in (good, bad]."""
    budget: Mapped[int]
    """A/B jobs that may be asked for."""
    steps: Mapped[list[dict[str, Any]]] = mapped_column(OrderedJson)
    """`[{index, commit, run_id, job_id, verdict, ratio, lower, upper, words}]` in order asked."""
    culprit: Mapped[dict[str, Any] | None] = mapped_column(OrderedJson)
    """`{commit, author, at, subject, ratio, lower, upper}`."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class TriageBatch(Base):
    """One bulk decision; `before` holds what it takes to undo it."""

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


class AuditEntry(Base):
    """Who changed what, in the order it happened. Appended in the transaction of the change."""

    __tablename__ = "audit_entry"
    __table_args__ = NEVER_REUSED
    id: Mapped[int] = mapped_column(Serial, primary_key=True, autoincrement=True)
    at: Mapped[datetime] = mapped_column(Timestamp)
    actor: Mapped[str]
    action: Mapped[str]
    object_kind: Mapped[str]
    object_id: Mapped[str] = mapped_column(String, index=True)
    detail: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
