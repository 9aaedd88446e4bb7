"""Lists agents, changes what is granted to them, and replaces or revokes their credentials.

    enrolled ──rotate──▶ asked for a new credential ──the agent uses it──▶ enrolled
       └──revoke──▶ revoked, for good: 401, its leases run out, its workloads stop

Sessions here see every project, because an agent belongs to the installation. A replaced credential works until the
agent has used the new one, so that neither a crash nor a lost response locks it out.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.accounts import service as accounts
from paceline_server.fleet import agent_audit, claims, grants
from paceline_server.fleet import queries as fleet_queries
from paceline_server.fleet.agents import queries
from paceline_server.fleet.agents.schemas import (
    AgentNameOut,
    BoundTargetOut,
    ClaimOut,
    CredentialOut,
    EnrolledAgentOut,
    GrantIn,
    GrantOut,
)
from paceline_server.fleet.grants import Grant
from paceline_server.fleet.target_state import is_online
from paceline_server.kernel import clock
from paceline_server.kernel.errors import conflict, not_found, unauthenticated
from paceline_server.kernel.wire import Page
from paceline_server.projects import service as projects
from paceline_server.store.page import page
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Agent, TargetClaim


def list_agents(
    session: Session, *, limit: int, cursor: str | None
) -> Page[EnrolledAgentOut]:
    """Return agents of the installation, newest first."""
    rows: Page[Agent] = page(
        session,
        fleet_queries.agents(),
        [Agent.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    return Page(items=_agents_out(session, rows.items), next=rows.next)


def all_agents(session: Session) -> list[EnrolledAgentOut]:
    """Return every agent, oldest first."""
    query = fleet_queries.agents().order_by(Agent.id)
    return _agents_out(session, list(session.scalars(query)))


def get_agent(session: Session, agent_id: str) -> EnrolledAgentOut:
    """Return one agent. Raises 404."""
    agent = fleet_queries.agent(session, agent_id)
    if agent is None or agent.id == IMPORTS_AGENT:
        raise not_found("agent", agent_id)
    return _agents_out(session, [agent])[0]


def find_called(session: Session, name_or_id: str) -> Agent:
    """Return the agent with this id, or the only one with this name that is not revoked. Raises 404, 409 `ambiguous`."""
    agent = queries.lock_agent(session, name_or_id)
    if agent is not None:
        return agent
    named = queries.agents_called(session, name_or_id)
    if not named:
        raise not_found("agent", name_or_id)
    if len(named) > 1:
        raise conflict(
            f"Several agents are called {name_or_id!r}: give the id of one.",
            "ambiguous",
        )
    return named[0]


def describe_namesakes(session: Session, agent: Agent, at: datetime) -> list[str]:
    """Return a sentence about other online agents with the name of `agent`, if there are any. Agents are identified by
    id, so nothing is mixed up, but people cannot tell them apart."""
    others = [
        other.id
        for other in queries.agents_called(session, agent.name)
        if other.id != agent.id and is_online(other.last_seen_at, at)
    ]
    if not others:
        return []
    return [
        f"Another agent at work is called {agent.name!r}, too: {', '.join(others)}; this one is {agent.id}. Give one of "
        "them a name of its own: set `name` under [agent] in its agent.toml and enrol it again with a code made with "
        "--replaces, which keeps its targets."
    ]


def set_grant(
    session: Session, agent_id: str, spec: GrantIn, actor: str
) -> EnrolledAgentOut:
    """Change what an agent may do from now on. Raises 404 for an unknown agent or project, 409 `agent_revoked`."""
    agent = _find_active(session, agent_id)
    project_ids = {projects.find_project(session, name).id for name in spec.projects}
    agent_audit.record(
        session,
        agent,
        actor,
        "regrant",
        {"repositories": spec.repositories, "targets": spec.targets},
    )
    grants.assign_grant(
        agent, Grant(sorted(project_ids), spec.repositories, spec.targets)
    )
    return get_agent(session, agent_id)


def set_silence_limit(
    session: Session, agent_id: str, limit_s: int | None, actor: str
) -> EnrolledAgentOut:
    """Change how long an agent may be silent; None: for ever. Raises 404, 409 `agent_revoked`."""
    agent = _find_active(session, agent_id)
    if agent.silence_limit_s != limit_s:
        agent.silence_limit_s = limit_s
        detail = {"limit_s": limit_s}
        agent_audit.record(session, agent, actor, "limit_silence", detail)
    return get_agent(session, agent_id)


def request_rotation(session: Session, agent_id: str, actor: str) -> EnrolledAgentOut:
    """Ask an agent to replace its credential with its next heartbeat; repeatable. Raises 404, 409
    `agent_revoked`."""
    agent = _find_active(session, agent_id)
    if agent.rotation_requested_at is None:
        agent.rotation_requested_at = clock.now()
        agent_audit.record(session, agent, actor, "rotate")
    return get_agent(session, agent_id)


def renew_credential(session: Session, agent_id: str, token_id: str) -> CredentialOut:
    """Issue a new credential if one was requested. A call that is made with the new one revokes the others and
    returns null.

    `token_id`: the credential of the request. Raises 401 if it was revoked meanwhile.
    """
    agent = queries.lock_agent(session, agent_id)
    valid = queries.credentials(session, [agent_id]).get(agent_id, [])
    used = next((token for token in valid if token.id == token_id), None)
    if agent is None or used is None:
        raise unauthenticated("This credential is not valid any more.")
    at, requested_at = clock.now(), agent.rotation_requested_at
    if requested_at is None:
        return CredentialOut(credential=None)
    if used.created_at >= requested_at:
        for token in valid:
            if token is not used:
                token.revoked_at = at
        agent.rotation_requested_at = None
        agent_audit.record(session, agent, agent.name, "rotated")
        return CredentialOut(credential=None)
    for token in valid:
        # A credential as new as the request was issued for it, but the response was lost.
        if token.created_at >= requested_at:
            token.revoked_at = at
    _, secret = accounts.issue_token(
        session, agent.name, "pla", ["agent"], agent_id=agent.id
    )
    return CredentialOut(credential=secret)


def revoke(session: Session, agent_id: str, actor: str) -> None:
    """Refuse an agent for good from now on; the sweeper ends its leases. Repeatable. Raises 404."""
    agent = _find(session, agent_id)
    if agent.revoked_at is not None:
        return
    at = clock.now()
    agent.revoked_at, agent.rotation_requested_at = at, None
    for token in queries.credentials(session, [agent.id]).get(agent.id, []):
        token.revoked_at = at
    agent_audit.record(session, agent, actor, "revoke")


def replace(session: Session, before: str, agent: Agent, actor: str) -> None:
    """Give a new agent the targets and the limit of silence of the agent `before`, and revoke that one."""
    agent.silence_limit_s = _find(session, before).silence_limit_s
    queries.give_targets(session, before, agent.id)
    revoke(session, before, actor)


def agent_to_replace(session: Session, who: str) -> str | None:
    """Return the id of the agent that enrolled last with a code that `who` made; None if there is none."""
    agent = queries.newest_enrolled_by(session, who)
    return None if agent is None else agent.id


def list_claims(
    session: Session, state: str | None, *, limit: int, cursor: str | None
) -> Page[ClaimOut]:
    """Return claims of agents to targets of other agents, newest first."""
    rows: Page[TargetClaim] = page(
        session,
        queries.claims(state),
        [TargetClaim.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    return Page(items=_claims_out(session, rows.items), next=rows.next)


def open_claims(session: Session) -> list[ClaimOut]:
    """Return every open claim, oldest first."""
    query = queries.claims("open").order_by(TargetClaim.id)
    return _claims_out(session, list(session.scalars(query)))


def move_target(session: Session, claim_id: str, actor: str) -> ClaimOut:
    """Give the target of a claim to the agent that claims it. Raises 404, 409."""
    claims.move_claimed_target(session, claim_id, actor)
    return _claim_out(session, claim_id)


def dismiss_claim(session: Session, claim_id: str, actor: str) -> ClaimOut:
    """Leave the target of a claim where it is. Raises 404, 409."""
    claims.dismiss_claim(session, claim_id, actor)
    return _claim_out(session, claim_id)


def _claim_out(session: Session, claim_id: str) -> ClaimOut:
    session.flush()
    return _claims_out(session, [session.get_one(TargetClaim, claim_id)])[0]


def _claims_out(session: Session, rows: list[TargetClaim]) -> list[ClaimOut]:
    targets = fleet_queries.targets_by_id(session, {row.target_id for row in rows})
    agent_ids = {row.agent_id for row in rows} | {
        target.agent_id for target in targets.values()
    }
    names = fleet_queries.agent_names(session, agent_ids)
    return [
        ClaimOut.of_row(
            row,
            target=BoundTargetOut.of_row(targets[row.target_id]),
            agent=AgentNameOut(id=row.agent_id, name=names[row.agent_id]),
            owner=AgentNameOut(
                id=targets[row.target_id].agent_id,
                name=names[targets[row.target_id].agent_id],
            ),
        )
        for row in rows
    ]


def _find(session: Session, agent_id: str) -> Agent:
    agent = queries.lock_agent(session, agent_id)
    if agent is None:
        raise not_found("agent", agent_id)
    return agent


def _find_active(session: Session, agent_id: str) -> Agent:
    agent = _find(session, agent_id)
    if agent.revoked_at is not None:
        raise conflict(
            f"The agent {agent.name!r} is revoked for good: enrol it again.",
            "agent_revoked",
        )
    return agent


def _agents_out(session: Session, agents: list[Agent]) -> list[EnrolledAgentOut]:
    session.flush()
    ids = [agent.id for agent in agents]
    credentials = queries.credentials(session, ids)
    targets = queries.targets_of(session, ids)
    names = queries.project_names(session)
    return [
        EnrolledAgentOut.of_row(
            agent,
            state=_state(agent),
            credential_since=(
                credentials[agent.id][-1].created_at
                if agent.id in credentials
                else None
            ),
            grant=GrantOut(
                projects=sorted(
                    names[project_id] for project_id in agent.granted_projects
                ),
                repositories=agent.granted_repositories,
                targets=agent.granted_targets,
            ),
            targets=[
                BoundTargetOut.of_row(target) for target in targets.get(agent.id, [])
            ],
        )
        for agent in agents
    ]


def _state(agent: Agent) -> str:
    if agent.revoked_at is not None:
        return "revoked"
    return "online" if is_online(agent.last_seen_at, clock.now()) else "offline"
