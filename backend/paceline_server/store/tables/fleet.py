"""Agents, the targets they drive and what happened to them, enrolment codes."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Float,
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    select,
)
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp


class EnrolmentCode(Base):
    __tablename__ = "enrolment_code"
    code_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_by: Mapped[str | None]


IMPORTS_AGENT = "agt_imports"
"""Id of the row that imported targets belong to: no program, so no list of agents has it."""


class Agent(Base):
    __tablename__ = "agent"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    version: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_seen_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Target(Base):
    """Identity is `(kind, serial)`; the route (agent) and the fingerprint may change and are kept current."""

    __tablename__ = "target"
    __table_args__ = (UniqueConstraint("kind", "serial"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    kind: Mapped[str]
    serial: Mapped[str]
    name: Mapped[str]
    agent_id: Mapped[str] = mapped_column(ForeignKey("agent.id"), index=True)
    refuses: Mapped[str | None]
    factors: Mapped[dict[str, Any]] = mapped_column(Json)
    fingerprint: Mapped[str]
    preflight: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    simulated: Mapped[bool]
    last_seen_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp)

    connection: Mapped[str | None] = mapped_column(default=None)
    """absent | offline | unauthorized | booting | online, as the agent said last; null: a host, which is its
    own connection."""
    connection_reason: Mapped[str | None] = mapped_column(default=None)
    connection_advice: Mapped[str | None] = mapped_column(default=None)
    connection_route: Mapped[str | None] = mapped_column(default=None)
    connection_since: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    boot_id: Mapped[str | None] = mapped_column(default=None)

    health: Mapped[str] = mapped_column(default="unknown")
    """A state of `fleet/health.py`, with what that machine remembers below."""
    health_reason: Mapped[str | None] = mapped_column(default=None)
    health_since: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    failures: Mapped[int] = mapped_column(default=0)
    checked: Mapped[bool] = mapped_column(default=False)
    check_after: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    held_for: Mapped[list[str]] = mapped_column(Json, default=list)

    maintenance_by: Mapped[str | None] = mapped_column(default=None)
    """Set: a person holds it back, whatever its health."""
    maintenance_reason: Mapped[str | None] = mapped_column(default=None)
    maintenance_since: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    maintenance_until: Mapped[datetime | None] = mapped_column(Timestamp, default=None)

    gates: Mapped[dict[str, Any] | None] = mapped_column(Json, default=None)
    gates_at: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    configuration: Mapped[list[str]] = mapped_column(Json, default=list)
    last_check: Mapped[dict[str, Any] | None] = mapped_column(Json, default=None)
    last_check_raw: Mapped[list[dict[str, Any]]] = mapped_column(
        Json, default=list, deferred=True
    )
    """What its commands printed; large, so loaded only when touched."""

    @property
    def spoken_name(self) -> str:
        """Its name inside a sentence: a simulated target is never named without saying so."""
        return f"{self.name} (simulated)" if self.simulated else self.name


REAL_TARGETS = select(Target.id).where(Target.simulated.is_(False))
"""Ids of targets that are not simulated: what is counted or averaged over the fleet is of these alone."""


class TargetEvent(Base):
    """One step in a target's life, on one of its axes."""

    __tablename__ = "target_event"
    __table_args__ = (
        Index("ix_target_event_target_id_ref", "target_id", "ref"),
        Index("ix_target_event_target_id_at_id", "target_id", "at", "id"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"))
    at: Mapped[datetime] = mapped_column(Timestamp, index=True)
    axis: Mapped[str]
    """connection | health | maintenance | order | recovery"""
    event: Mapped[str]
    from_state: Mapped[str | None]
    to_state: Mapped[str | None]
    reason: Mapped[str | None]
    evidence: Mapped[dict[str, Any]] = mapped_column(Json)
    actor: Mapped[str]
    ref: Mapped[str | None]
    """What the agent calls the thing it reported: said again, it is not kept again."""


class TargetOrder(Base):
    """What a person asked an agent to do with a device; carried by its heartbeats."""

    __tablename__ = "target_order"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"), index=True)
    kind: Mapped[str]
    """check | reboot"""
    life: Mapped[str]
    """pending | done | refused | expired"""
    requested_by: Mapped[str]
    requested_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    ended_at: Mapped[datetime | None] = mapped_column(Timestamp)
    why: Mapped[str | None] = mapped_column(default=None)
    """Why its agent refused it."""


class TargetReading(Base):
    """A device's gate readings at an instant: kept when they changed, and every ten minutes."""

    __tablename__ = "target_reading"
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(Timestamp, primary_key=True, index=True)
    battery_c: Mapped[float | None] = mapped_column(Float)
    battery_percent: Mapped[float | None] = mapped_column(Float)
    charging: Mapped[bool | None]
    thermal_status: Mapped[int | None]
    free_bytes: Mapped[int | None] = mapped_column(BigInteger)
