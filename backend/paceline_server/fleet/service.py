"""Enrols agents, handles heartbeats and finds targets. Other features use the fleet only through this module.

    code --enrol--> agent with a credential --heartbeat--> its targets are online --silence--> offline

An enrolment code works once. A target is one row for ever, identified by (kind, serial), whichever agent
drives it. Whether it is reachable, busy, healthy or in maintenance are independent facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts import service as accounts
from paceline_server.catalog import service as catalog
from paceline_server.fleet import queries
from paceline_server.fleet.device_health import attempt_failed, run_succeeded
from paceline_server.fleet.expiry import delete_old_rows, sweep
from paceline_server.fleet.heartbeats import READING_EVERY, handle_targets
from paceline_server.fleet.imported_targets import imported_target
from paceline_server.fleet.schemas import (
    AgentOut,
    EnrolIn,
    EnrolmentCodeOut,
    EnrolOut,
    HeartbeatIn,
    HeartbeatOut,
)
from paceline_server.fleet.target_state import is_free_to_use, is_online
from paceline_server.fleet.target_views import agent_out, publish_target, targets_out
from paceline_server.kernel import clock, settings
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.kernel.ids import new_id, new_secret, sha256_hex
from paceline_server.store.tables.fleet import (
    Agent,
    EnrolmentCode,
    Target,
    TargetReading,
)

log = structlog.get_logger("paceline.fleet")

__all__ = [
    "READING_EVERY",
    "agents_heard_last",
    "attempt_failed",
    "create_enrolment_code",
    "delete_expired_codes",
    "delete_old_rows",
    "enrol",
    "find_target",
    "has_silent_targets",
    "heartbeat",
    "imported_target",
    "is_enrolled",
    "is_free_to_use",
    "is_online",
    "online_targets",
    "publish_silent_targets",
    "publish_target",
    "readings",
    "run_succeeded",
    "sweep",
    "targets_out",
]


def create_enrolment_code(session: Session) -> EnrolmentCodeOut:
    """Create a one-time code with which one agent may enrol."""
    code = new_secret("ple")
    at = clock.now()
    expires_at = at + timedelta(minutes=settings.current().enrolment_code_minutes)
    session.add(
        EnrolmentCode(
            code_sha256=sha256_hex(code),
            created_at=at,
            expires_at=expires_at,
            used_by=None,
        )
    )
    return EnrolmentCodeOut(code=code, expires_at=expires_at)


def delete_expired_codes(session: Session) -> None:
    """Delete enrolment codes that have expired."""
    queries.delete_expired_codes(session, clock.now())


def enrol(session: Session, spec: EnrolIn) -> EnrolOut:
    """Turn a code into an agent and its credential. Raises 401 `enrolment_code_invalid`."""
    at = clock.now()
    agent_id = new_id("agt")
    if not queries.take_code(session, sha256_hex(spec.code), agent_id, at):
        raise ProblemError(
            401,
            "enrolment_code_invalid",
            "This enrolment code was used already or has expired. Create a new one with "
            "`paceline-server enrolment-code`.",
        )
    session.add(
        Agent(
            id=agent_id,
            name=spec.name,
            version=spec.version,
            created_at=at,
            last_seen_at=None,
        )
    )
    _, credential = accounts.issue_token(
        session, spec.name, "pla", ["agent"], agent_id=agent_id
    )
    log.info("agent_enrolled", agent_id=agent_id, name=spec.name)
    return EnrolOut(agent_id=agent_id, credential=credential)


def is_enrolled(session: Session, agent_id: str) -> bool:
    """Whether this database has the agent."""
    return session.get(Agent, agent_id) is not None


def heartbeat(session: Session, agent_id: str, body: HeartbeatIn) -> HeartbeatOut:
    """Store that an agent is online, its targets and its suites; returns what was refused and, per target,
    what the agent should do. Raises 404 for an unknown agent.

    Omitted `suites` keep those announced before; an empty list withdraws them.
    """
    at = clock.now()
    agent = queries.agent(session, agent_id)
    if agent is None:
        raise not_found("agent", agent_id)
    was_online = is_online(agent.last_seen_at, at)
    agent.version, agent.last_seen_at = body.version, at
    reply = HeartbeatOut(heartbeat_s=settings.current().heartbeat_s)
    reply.refused_targets = list(body.refused_targets)
    for target in reply.refused_targets:
        log.warning(
            "target_refused", agent_id=agent_id, serial=target.serial, why=target.why
        )
    reply.targets = handle_targets(
        session, agent_id, body.targets, at, was_online=was_online
    )
    if "suites" in body.model_fields_set:
        reply.refused = catalog.announce(session, agent_id, body.suites).refused
    return reply


def agents_heard_last(session: Session, limit: int) -> list[AgentOut]:
    """At most `limit` agents, those heard of most recently first."""
    return [agent_out(agent) for agent in queries.agents_heard_last(session, limit)]


def find_target(session: Session, target_id: str) -> Target:
    """A target by id. Raises 404."""
    target = queries.target(session, target_id)
    if target is None:
        raise not_found("target", target_id)
    return target


def has_silent_targets(session: Session, since: datetime, until: datetime) -> bool:
    """Whether a target was last heard of in (since, until]."""
    return bool(queries.targets_gone_silent(session, since, until))


def publish_silent_targets(session: Session, since: datetime, until: datetime) -> int:
    """Emit a live event for each target last heard of in (since, until]; returns how many."""
    silent = queries.targets_gone_silent(session, since, until)
    for target in silent:
        log.warning("target_offline", target_id=target.id, name=target.name)
        publish_target(session, target)
    return len(silent)


def online_targets(session: Session, suite: str) -> list[Target]:
    """Targets that are free to use and whose agent announced `suite`, ordered by id."""
    at = clock.now()
    agents = queries.agents_of_suite(session, suite)
    candidates = [
        target
        for agent_id in agents
        for target in queries.targets_of(session, agent_id)
    ]
    return sorted(
        (target for target in candidates if is_free_to_use(target, at)),
        key=lambda target: target.id,
    )


def readings(
    session: Session, target_id: str, since: datetime, until: datetime, limit: int
) -> Sequence[TargetReading]:
    """A device's gate readings over time, the newest `limit` of them, oldest first."""
    return queries.readings(session, target_id, since, until, limit)
