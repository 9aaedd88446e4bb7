"""Defines agents, enrolment codes, targets, and the events, claims, orders and readings of targets."""

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
from paceline_server.store.owned import TargetOwned


class Granted:
    """The grant of an agent; an enrolment code carries it to the agent that uses the code."""

    granted_projects: Mapped[list[str]] = mapped_column(Json)
    """Ids of the projects whose jobs it may lease; new targets that it announces are granted to them."""
    granted_repositories: Mapped[list[str]] = mapped_column(Json)
    """Patterns of locations (`paceline_contract/locations.py`) whose suites it may announce."""
    granted_targets: Mapped[list[str]] = mapped_column(Json)
    """Patterns `KIND:SERIAL` of the targets that it may announce."""


class EnrolmentCode(Granted, Base):
    __tablename__ = "enrolment_code"
    code_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    created_by: Mapped[str]
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_by: Mapped[str | None]
    replaces: Mapped[str | None] = mapped_column(ForeignKey("agent.id"))
    """The agent whose targets the new one gets and which is revoked when the code is used."""


IMPORTS_AGENT = "agt_imports"
"""Id of the agent row that imported targets belong to. No process stands behind it, so lists of agents omit it."""


class Agent(Granted, Base):
    __tablename__ = "agent"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    version: Mapped[str]
    enrolled_by: Mapped[str | None]
    """Who made its enrolment code; null for agents that enrolled before this was stored."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_seen_at: Mapped[datetime | None] = mapped_column(Timestamp)
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    """Once it is set, its credentials are refused for good."""
    rotation_requested_at: Mapped[datetime | None] = mapped_column(
        Timestamp, default=None
    )
    """Set while the agent should replace its credential; null again once it uses a newer one."""
    silence_limit_s: Mapped[int | None] = mapped_column(default=None)
    """After how long without a heartbeat its projects are alerted; null: never."""


class ServerUptime(Base):
    """A time in which the API was up without a pause; the newest may go on. Silence counts only these: a server that
    was down, or asleep with its machine, heard nobody."""

    __tablename__ = "server_uptime"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    since: Mapped[datetime] = mapped_column(Timestamp)
    seen_at: Mapped[datetime] = mapped_column(Timestamp)
    """When a process that serves the API last noted that it is up."""


class Target(Base):
    """A host or device, identified by `(kind, serial)`. Its fingerprint may change; only an admin changes its agent."""

    __tablename__ = "target"
    __table_args__ = (UniqueConstraint("kind", "serial"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    kind: Mapped[str]
    serial: Mapped[str]
    name: Mapped[str]
    agent_id: Mapped[str] = mapped_column(ForeignKey("agent.id"), index=True)
    bound_at: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    """When it was bound to its agent, the first that reached it. Null: no agent has reached it yet."""
    refuses: Mapped[str | None]
    factors: Mapped[dict[str, Any]] = mapped_column(Json)
    fingerprint: Mapped[str]
    preflight: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    simulated: Mapped[bool]
    last_seen_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_at: Mapped[datetime] = mapped_column(Timestamp)

    connection: Mapped[str | None] = mapped_column(default=None)
    """absent | offline | unauthorized | booting | online, as last reported by the agent; null for hosts."""
    connection_reason: Mapped[str | None] = mapped_column(default=None)
    connection_advice: Mapped[str | None] = mapped_column(default=None)
    connection_route: Mapped[str | None] = mapped_column(default=None)
    connection_since: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    boot_id: Mapped[str | None] = mapped_column(default=None)

    health: Mapped[str] = mapped_column(default="unknown")
    """A state of `fleet/health.py`, whose state machine also uses the fields below."""
    health_reason: Mapped[str | None] = mapped_column(default=None)
    health_since: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    failures: Mapped[int] = mapped_column(default=0)
    checked: Mapped[bool] = mapped_column(default=False)
    check_after: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    held_for: Mapped[list[str]] = mapped_column(Json, default=list)

    maintenance_by: Mapped[str | None] = mapped_column(default=None)
    """While it is set, the target gets no jobs, whatever its health."""
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
    """The output of its commands; large, so loaded only when accessed."""

    @property
    def spoken_name(self) -> str:
        """The name in sentences, which always say that a simulated target is simulated."""
        return f"{self.name} (simulated)" if self.simulated else self.name


REAL_TARGETS = select(Target.id).where(Target.simulated.is_(False))
"""Ids of targets that are not simulated. Totals and averages over the fleet use only these."""


class TargetClaim(TargetOwned, Base):
    """The claim of an agent that reached another agent's target. A person moves the target or dismisses the claim."""

    __tablename__ = "target_claim"
    __table_args__ = (
        UniqueConstraint("target_id", "agent_id"),
        Index("ix_target_claim_state_id", "state", "id"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"))
    agent_id: Mapped[str] = mapped_column(ForeignKey("agent.id"))
    """The agent that claims it."""
    state: Mapped[str]
    """open | moved | dismissed"""
    first_at: Mapped[datetime] = mapped_column(Timestamp)
    last_at: Mapped[datetime] = mapped_column(Timestamp)
    decided_by: Mapped[str | None]
    decided_at: Mapped[datetime | None] = mapped_column(Timestamp)


class TargetEvent(TargetOwned, Base):
    """A change of a target's state on one of its axes."""

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
    """The agent's id of its report; a repeated report is not stored again."""


class TargetOrder(TargetOwned, Base):
    """A person's order to an agent about a device, which replies to heartbeats carry."""

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
    """Why the agent refused it."""


class TargetReading(TargetOwned, Base):
    """A device's readings at an instant, stored when they change and every ten minutes."""

    __tablename__ = "target_reading"
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(Timestamp, primary_key=True, index=True)
    battery_c: Mapped[float | None] = mapped_column(Float)
    battery_percent: Mapped[float | None] = mapped_column(Float)
    charging: Mapped[bool | None]
    thermal_status: Mapped[int | None]
    free_bytes: Mapped[int | None] = mapped_column(BigInteger)
