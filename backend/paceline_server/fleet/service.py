"""Decisions of the fleet: who may join, what a heartbeat changes, what state a target is in.

    code --enrol--> agent (credential) --heartbeat--> targets online --silence--> offline --heartbeat-->
    online

Invariants: an enrolment code joins one agent, once; a target is one row for ever, found by (kind, serial),
whichever agent drives it today; `state` is computed (silence, lease), `hold` is stored and independent of it.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts import service as accounts
from paceline_server.catalog import service as catalog
from paceline_server.catalog.schemas import SuiteRefusedOut
from paceline_server.fleet import queries
from paceline_server.fleet.schemas import (
    AgentOut,
    EnrolIn,
    EnrolmentCodeOut,
    EnrolOut,
    HeartbeatIn,
    MaintenanceIn,
    TargetAnnounceIn,
    TargetOut,
)
from paceline_server.kernel import clock, settings
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.kernel.ids import new_id, new_secret, sha256_hex
from paceline_server.store import live_events
from paceline_server.store.tables.fleet import Agent, EnrolmentCode, Target

log = structlog.get_logger("paceline.fleet")


def create_enrolment_code(session: Session) -> EnrolmentCodeOut:
    """A one-time code with which one agent may enrol."""
    code = new_secret("ple")
    at = clock.now()
    expires_at = at + timedelta(minutes=settings.current().enrolment_code_minutes)
    session.add(
        EnrolmentCode(code_sha256=sha256_hex(code), created_at=at, expires_at=expires_at, used_by=None)
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
    session.add(Agent(id=agent_id, name=spec.name, version=spec.version, created_at=at, last_seen_at=None))
    _, credential = accounts.issue_token(session, spec.name, "pla", ["agent"], agent_id=agent_id)
    log.info("agent_enrolled", agent_id=agent_id, name=spec.name)
    return EnrolOut(agent_id=agent_id, credential=credential)


def heartbeat(session: Session, agent_id: str, said: HeartbeatIn) -> list[SuiteRefusedOut]:
    """Note that an agent lives, what it drives and what it can run; returns the suites that are refused.

    `suites` left out keeps what was announced before; an empty list takes it back.
    """
    at = clock.now()
    agent = queries.agent(session, agent_id)
    if agent is None:
        raise not_found("agent", agent_id)
    was_online = is_online(agent.last_seen_at, at)
    agent.version, agent.last_seen_at = said.version, at
    for announced in said.targets:
        _see_target(session, agent_id, announced, at, news=not was_online)
    if "suites" not in said.model_fields_set:
        return []
    return catalog.announce(session, agent_id, said.suites).refused


def _see_target(session: Session, agent_id: str, said: TargetAnnounceIn, at: datetime, *, news: bool) -> None:
    unseen: dict[str, Any] = {
        "hold": None,
        "hold_reason": None,
        "refuses": None,
        "factors": {},
        "fingerprint": "",
        "preflight": [],
    }
    identity = {"id": new_id("tgt"), "kind": said.kind, "serial": said.serial, "name": said.name}
    rest = {"agent_id": agent_id, "simulated": said.simulated, "last_seen_at": None, "created_at": at}
    queries.insert_target_once(session, {**identity, **unseen, **rest})
    target = queries.target_by_serial(session, said.kind, said.serial)
    if target is None:
        raise not_found("target", said.serial)
    if target.agent_id != agent_id:
        log.warning("target_moved", target_id=target.id, from_agent=target.agent_id, to_agent=agent_id)
    preflight = [finding.model_dump() for finding in said.preflight]
    news = (
        news
        or not is_online(target.last_seen_at, at)
        or (target.refuses, target.agent_id, target.preflight) != (said.refuses, agent_id, preflight)
    )
    target.agent_id, target.name, target.refuses = agent_id, said.name, said.refuses
    if target.fingerprint != said.fingerprint:
        queries.remember_factors(session, said.fingerprint, dict(said.factors), at)
    target.factors, target.fingerprint, target.preflight = dict(said.factors), said.fingerprint, preflight
    target.simulated, target.last_seen_at = said.simulated, at
    if news:
        tell(session, target)


def is_online(last_seen_at: datetime | None, at: datetime) -> bool:
    """Whether something last heard of then counts as reachable now."""
    if last_seen_at is None:
        return False
    return (at - last_seen_at).total_seconds() <= settings.current().offline_after_s


def set_maintenance(session: Session, target_id: str, spec: MaintenanceIn) -> Target:
    """A person's hold. Taking it off leaves holds of health checks alone. Raises 404."""
    target = find_target(session, target_id)
    if spec.on:
        target.hold, target.hold_reason = "maintenance", spec.reason
    elif target.hold == "maintenance":
        target.hold, target.hold_reason = None, None
    tell(session, target)
    return target


def find_target(session: Session, target_id: str) -> Target:
    """A target. Raises 404."""
    target = queries.target(session, target_id)
    if target is None:
        raise not_found("target", target_id)
    return target


def tell(session: Session, target: Target) -> None:
    """Let streams know that a target may look different now (also called when a lease begins or ends)."""
    session.flush()
    shown = {"id", "state", "hold", "active_job_id"}
    data = targets_out(session, [target])[0].model_dump(mode="json", include=shown)
    live_events.emit(session, "target", None, None, data)


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


def targets_out(session: Session, targets: list[Target]) -> list[TargetOut]:
    """Wire shapes, in order, with state and active job from one query each."""
    at = clock.now()
    names = queries.agent_names(session, {target.agent_id for target in targets})
    active = queries.active_jobs(session, [target.id for target in targets])
    made = []
    for target in targets:
        online = is_online(target.last_seen_at, at)
        state = "offline" if not online else "busy" if target.id in active else "online"
        columns = {key: getattr(target, key) for key in TargetOut.model_fields if hasattr(target, key)}
        made.append(
            TargetOut.model_validate(
                {
                    **columns,
                    "agent_name": names.get(target.agent_id, ""),
                    "state": state,
                    "active_job_id": active.get(target.id),
                }
            )
        )
    return made


def agent_out(agent: Agent) -> AgentOut:
    """The wire shape of an agent."""
    return AgentOut(
        id=agent.id,
        name=agent.name,
        version=agent.version,
        state="online" if is_online(agent.last_seen_at, clock.now()) else "offline",
        last_seen_at=agent.last_seen_at,
        created_at=agent.created_at,
    )


def online_targets(session: Session, suite: str) -> list[Target]:
    """Reachable targets without a hold whose agent announced `suite`, by id."""
    at = clock.now()
    agents = queries.agents_of_suite(session, suite)
    candidates = [target for agent_id in agents for target in queries.targets_of(session, agent_id)]
    usable = [target for target in candidates if target.hold is None and is_online(target.last_seen_at, at)]
    return sorted(usable, key=lambda target: target.id)
