"""Decisions of the fleet: who may join, what a heartbeat changes, which targets are free to use.

    code --enrol--> agent (credential) --heartbeat--> targets online --silence--> offline --heartbeat-->
    online

Invariants: an enrolment code joins one agent, once; a target is one row for ever, found by (kind, serial),
whichever agent drives it today; reachability, use, health and maintenance are independent of each other (see
`shapes.py`, `health.py`, `actions.py`). Also the front door of the fleet for other features.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts import service as accounts
from paceline_server.catalog import service as catalog
from paceline_server.fleet import announced, queries
from paceline_server.fleet.imported import imported_target
from paceline_server.fleet.life import READING_EVERY, attempt_failed, run_succeeded
from paceline_server.fleet.schemas import (
    AgentOut,
    EnrolIn,
    EnrolmentCodeOut,
    EnrolOut,
    HeartbeatIn,
    HeartbeatOut,
)
from paceline_server.fleet.shapes import (
    agent_out,
    is_free_to_use,
    is_online,
    targets_out,
    tell,
)
from paceline_server.fleet.upkeep import forget, sweep
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
    "any_silent",
    "attempt_failed",
    "create_enrolment_code",
    "enrol",
    "find_target",
    "forget",
    "forget_expired",
    "heartbeat",
    "imported_target",
    "is_enrolled",
    "is_free_to_use",
    "is_online",
    "online_targets",
    "readings",
    "run_succeeded",
    "sweep",
    "targets_out",
    "tell",
    "tell_silent",
]


def create_enrolment_code(session: Session) -> EnrolmentCodeOut:
    """A one-time code with which one agent may enrol."""
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


def forget_expired(session: Session) -> None:
    """Remove enrolment codes that can never be used again."""
    queries.forget_codes(session, clock.now())


def enrol(session: Session, spec: EnrolIn) -> EnrolOut:
    """Turn a code into an agent and its credential. Raises 401 `enrolment_code_invalid`."""
    at = clock.now()
    agent_id = new_id("agt")
    if not queries.take_code(session, sha256_hex(spec.code), agent_id, at):
        raise ProblemError(
            401,
            "enrolment_code_invalid",
            "This enrolment code was used already or has expired; make a new one with "
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
    """Whether this database knows the agent."""
    return session.get(Agent, agent_id) is not None


def heartbeat(session: Session, agent_id: str, said: HeartbeatIn) -> HeartbeatOut:
    """Note that an agent lives, what it drives and what it can run; answers the suites and targets that are
    refused and, per target, what is asked of it.

    `suites` left out keeps what was announced before; an empty list takes it back.
    """
    at = clock.now()
    agent = queries.agent(session, agent_id)
    if agent is None:
        raise not_found("agent", agent_id)
    was_online = is_online(agent.last_seen_at, at)
    agent.version, agent.last_seen_at = said.version, at
    heard = HeartbeatOut(heartbeat_s=settings.current().heartbeat_s)
    heard.refused_targets = list(said.refused_targets)
    for target in heard.refused_targets:
        log.warning(
            "target_refused", agent_id=agent_id, serial=target.serial, why=target.why
        )
    heard.targets = announced.see(
        session, agent_id, said.targets, at, news=not was_online
    )
    if "suites" in said.model_fields_set:
        heard.refused = catalog.announce(session, agent_id, said.suites).refused
    return heard


def agents_heard_last(session: Session, limit: int) -> list[AgentOut]:
    """The agents, those heard of last first, at most `limit`."""
    return [agent_out(one) for one in queries.agents_heard_last(session, limit)]


def find_target(session: Session, target_id: str) -> Target:
    """A target. Raises 404."""
    target = queries.target(session, target_id)
    if target is None:
        raise not_found("target", target_id)
    return target


def any_silent(session: Session, since: datetime, until: datetime) -> bool:
    """Whether a target was last heard of in (since, until]."""
    return bool(queries.gone_silent(session, since, until))


def tell_silent(session: Session, since: datetime, until: datetime) -> int:
    """Tell streams of targets that were last heard of in (since, until]; returns how many."""
    silent = queries.gone_silent(session, since, until)
    for target in silent:
        log.warning("target_offline", target_id=target.id, name=target.name)
        tell(session, target)
    return len(silent)


def online_targets(session: Session, suite: str) -> list[Target]:
    """Reachable targets without a hold whose agent announced `suite`, by id."""
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
