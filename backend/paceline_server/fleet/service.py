"""Enrols agents, handles heartbeats and finds targets. Other features use the fleet only through this module.

    code --enrol--> agent with a credential --heartbeat--> its targets are online --silence--> offline

An enrolment code works once and carries the grant of its agent. A target is one row for ever, identified by
(kind, serial), whichever agent drives it. Whether it is reachable, busy, healthy or in maintenance are independent
facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import chain

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts import service as accounts
from paceline_server.catalog import service as catalog
from paceline_server.fleet import agent_audit, claims, grants, queries
from paceline_server.fleet.agents import service as agents
from paceline_server.fleet.device_health import count_failed_attempt, reset_failures
from paceline_server.fleet.expiry import delete_old_rows, sweep
from paceline_server.fleet.grants import Grant
from paceline_server.fleet.heartbeats import READING_EVERY, handle_targets
from paceline_server.fleet.imported_targets import (
    ensure_imported_target,
    report_facts,
)
from paceline_server.fleet.queries import (
    projects_of_target,
    projects_with_quarantine,
    projects_with_silence_limits,
    quarantined_targets,
    targets_by_id,
)
from paceline_server.fleet.schemas import (
    AgentOut,
    EnrolIn,
    EnrolmentCodeIn,
    EnrolmentCodeOut,
    EnrolOut,
    HeartbeatIn,
    HeartbeatOut,
    TargetAnnouncementIn,
    TargetRefusedOut,
)
from paceline_server.fleet.silence import (
    SilentAgent,
    has_heard_agents,
    note_uptime,
    read_uptime,
    silent_agents,
    why_not_silent,
)
from paceline_server.fleet.target_messages import refusal_of
from paceline_server.fleet.target_state import (
    is_free_to_use,
    is_in_maintenance,
    is_online,
)
from paceline_server.fleet.target_views import (
    agent_out,
    held_for_others,
    publish_target,
    targets_out,
)
from paceline_server.kernel import clock, settings
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.kernel.ids import new_id, new_secret, sha256_hex
from paceline_server.projects import service as known_projects
from paceline_server.store import access, audit
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.tables.fleet import (
    IMPORTS_AGENT,
    Agent,
    EnrolmentCode,
    Target,
    TargetReading,
)

log = structlog.get_logger("paceline.fleet")

__all__ = [
    "READING_EVERY",
    "SilentAgent",
    "agents_heard_last",
    "count_failed_attempt",
    "create_enrolment_code",
    "delete_expired_codes",
    "delete_old_rows",
    "enrol",
    "ensure_imported_target",
    "find_target",
    "has_heard_agents",
    "has_silent_targets",
    "heartbeat",
    "held_for_others",
    "is_enrolled",
    "is_free_to_use",
    "is_in_maintenance",
    "is_online",
    "note_uptime",
    "online_targets",
    "projects_of_target",
    "projects_with_quarantine",
    "projects_with_silence_limits",
    "publish_silent_targets",
    "publish_target",
    "quarantined_targets",
    "read_uptime",
    "readings",
    "refusal_of",
    "report_facts",
    "reset_failures",
    "silent_agents",
    "sweep",
    "targets_by_id",
    "targets_out",
    "why_not_silent",
]


def create_enrolment_code(
    session: Session,
    spec: EnrolmentCodeIn,
    actor: str,
    project_id: str = DEFAULT_PROJECT_ID,
) -> EnrolmentCodeOut:
    """Create a one-time code with which one agent may enrol, and the grant that the agent gets.

    `project_id`: where it works if `spec` names no projects. Raises 404 for an unknown project or agent to replace.
    """
    code = new_secret("ple")
    at = clock.now()
    expires_at = at + timedelta(minutes=settings.current().enrolment_code_minutes)
    grant = _grant_of(session, spec, project_id)
    row = EnrolmentCode(
        code_sha256=sha256_hex(code),
        created_at=at,
        created_by=actor,
        expires_at=expires_at,
        used_by=None,
        replaces=spec.replaces,
    )
    grants.assign_grant(row, grant)
    session.add(row)
    detail = {"repositories": grant.repositories, "targets": grant.targets}
    for granted_project in grant.projects:
        with access.within_project(session, granted_project):
            audit.record(
                session,
                actor,
                "create",
                "enrolment_code",
                row.code_sha256[:12],
                {**detail, "replaces": spec.replaces},
            )
    return EnrolmentCodeOut(code=code, expires_at=expires_at)


def _grant_of(session: Session, spec: EnrolmentCodeIn, project_id: str) -> Grant:
    """Return what a code grants: what `spec` names, else the grant of the agent that it replaces."""
    projects = sorted(
        {known_projects.find_project(session, name).id for name in spec.projects or ()}
    )
    if spec.replaces is None:
        return Grant(projects or [project_id], spec.repositories, spec.targets)
    replaced = queries.agent(session, spec.replaces)
    if replaced is None or replaced.id == IMPORTS_AGENT:
        raise not_found("agent", spec.replaces)
    given = spec.model_fields_set
    return Grant(
        projects or replaced.granted_projects,
        spec.repositories if "repositories" in given else replaced.granted_repositories,
        spec.targets if "targets" in given else replaced.granted_targets,
    )


def delete_expired_codes(session: Session) -> None:
    """Delete enrolment codes that have expired."""
    queries.delete_expired_codes(session, clock.now())


def enrol(session: Session, spec: EnrolIn) -> EnrolOut:
    """Turn a code into an agent and its credential. Raises 401 `enrolment_code_invalid`, and 409 `host_taken`, after
    which the code still works."""
    at = clock.now()
    agent_id = new_id("agt")
    code = queries.take_code(session, sha256_hex(spec.code), agent_id, at)
    if code is None:
        raise ProblemError(
            401,
            "enrolment_code_invalid",
            "This enrolment code was used already or has expired. Create a new one with "
            "`paceline-server enrolment-code`.",
        )
    agent = Agent(
        id=agent_id,
        name=spec.name,
        version=spec.version,
        enrolled_by=code.created_by,
        created_at=at,
        last_seen_at=None,
    )
    grants.assign_grant(
        agent,
        Grant(code.granted_projects, code.granted_repositories, code.granted_targets),
    )
    if spec.host_serial is not None:
        claims.refuse_taken_host(session, agent, spec.host_serial, code.replaces)
    session.add(agent)
    _, credential = accounts.issue_token(
        session, spec.name, "pla", ["agent"], agent_id=agent_id
    )
    agent_audit.record(session, agent, code.created_by, "enrol")
    if code.replaces is not None:
        session.flush()
        agents.replace(session, code.replaces, agent, code.created_by)
    log.info("agent_enrolled", agent_id=agent_id, name=spec.name)
    return EnrolOut(agent_id=agent_id, credential=credential)


def is_enrolled(session: Session, agent_id: str) -> bool:
    """Return whether this database has the agent."""
    return session.get(Agent, agent_id) is not None


def heartbeat(session: Session, agent_id: str, body: HeartbeatIn) -> HeartbeatOut:
    """Store that an agent is online, its targets and its suites. Returns what was refused and what the agent should
    do with each target. Raises 404 for an unknown agent.

    Omitted `suites` keep those announced before; an empty list withdraws them.
    """
    at = clock.now()
    announcement = catalog.read_announcement(body.suites)
    agent = queries.agent(session, agent_id)
    if agent is None:
        raise not_found("agent", agent_id)
    was_online = is_online(agent.last_seen_at, at)
    claim_sentences = claims.describe_claims(session, agent, at)
    agent.version, agent.last_seen_at = body.version, at
    reply = HeartbeatOut(
        heartbeat_s=settings.current().heartbeat_s,
        rotate_credential=agent.rotation_requested_at is not None,
        notes=[
            *agents.describe_namesakes(session, agent, at),
            *chain.from_iterable(claim_sentences.values()),
        ],
    )
    reply.refused_targets = list(body.refused_targets)
    granted = []
    for target in body.targets:
        if grants.may_announce_target(agent, target.kind, target.serial):
            granted.append(target)
        else:
            reply.refused_targets.append(_refuse_ungranted(agent, target))
    reply.targets, refused_claims = handle_targets(
        session,
        agent,
        granted,
        at,
        was_online=was_online,
        claim_sentences=claim_sentences,
    )
    reply.refused_targets += refused_claims
    for refused in reply.refused_targets:
        log.debug(
            "target_refused", agent_id=agent_id, serial=refused.serial, why=refused.why
        )
    if "suites" in body.model_fields_set:
        announced = catalog.store_announcement(
            session, agent_id, announcement, agent.granted_repositories
        )
        reply.refused, reply.manifests_wanted = announced.refused, announced.wanted
    return reply


def _refuse_ungranted(agent: Agent, target: TargetAnnouncementIn) -> TargetRefusedOut:
    return TargetRefusedOut(
        kind=target.kind,
        serial=target.serial,
        why=f"This agent may not announce {target.kind}:{target.serial}: its grant names "
        f"{grants.describe(agent.granted_targets)}. An admin of the installation can change the grant.",
    )


def agents_heard_last(session: Session, limit: int) -> list[AgentOut]:
    """Return at most `limit` agents that are not revoked, those heard of most recently first."""
    return [agent_out(agent) for agent in queries.agents_heard_last(session, limit)]


def find_target(session: Session, target_id: str) -> Target:
    """Return a target by id. Raises 404."""
    target = queries.target(session, target_id)
    if target is None:
        raise not_found("target", target_id)
    return target


def has_silent_targets(session: Session, since: datetime, until: datetime) -> bool:
    """Return whether a target was last heard of in (since, until]."""
    return bool(queries.targets_gone_silent(session, since, until))


def publish_silent_targets(session: Session, since: datetime, until: datetime) -> int:
    """Emit a live event for each target last heard of in (since, until]; returns how many."""
    silent = queries.targets_gone_silent(session, since, until)
    for target in silent:
        log.warning("target_offline", target_id=target.id, name=target.name)
        publish_target(session, target)
    return len(silent)


def online_targets(session: Session, suite: str) -> list[Target]:
    """Return targets that are free to use and whose agent announced `suite`, ordered by id."""
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
    """Return a device's readings over time, the newest `limit` of them, oldest first."""
    return queries.readings(session, target_id, since, until, limit)
