"""Serves the installation's agents over HTTP: the list, grants, credentials, and claims to targets.

An agent belongs to the installation, so these sessions see every project. All routes but the agent's own need
`installation.admin`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.fleet.agents import service
from paceline_server.fleet.agents.schemas import (
    ClaimOut,
    CredentialOut,
    EnrolledAgentOut,
    GrantIn,
    SilenceLimitIn,
)
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import SystemSession

router = APIRouter()

Admin = Annotated[Principal, Depends(require("installation.admin"))]
AgentItself = Annotated[Principal, Depends(require("agent"))]

GRANT_BYTES = 512 * 1024
"""Enough for a grant of 100 patterns of each kind with every character escaped."""


@router.post("/agents/self/credential")
def renew_credential(agent: AgentItself, session: SystemSession) -> CredentialOut:
    """Replace the agent's credential if the reply to its heartbeat asked for it.

    The first call returns a new one; the second, made with it, ends the old one and returns null."""
    return service.renew_credential(session, agent.agent_id or "", agent.token_id or "")


@router.get("/installation/agents")
def list_enrolled_agents(
    _: Admin, session: SystemSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[EnrolledAgentOut]:
    """List agents of the installation with their grants and targets, newest first."""
    return service.list_agents(session, limit=limit, cursor=cursor)


@router.get("/installation/agents/{agent_id}")
def get_enrolled_agent(
    agent_id: str, _: Admin, session: SystemSession
) -> EnrolledAgentOut:
    """Return one agent."""
    return service.get_agent(session, agent_id)


@router.put("/installation/agents/{agent_id}/grant", max_body_size=GRANT_BYTES)
def set_agent_grant(
    agent_id: str, body: GrantIn, who: Admin, session: SystemSession
) -> EnrolledAgentOut:
    """Change which projects, repositories and targets an agent may act for."""
    return service.set_grant(session, agent_id, body, who.name)


@router.put("/installation/agents/{agent_id}/silence-limit")
def set_silence_limit(
    agent_id: str, body: SilenceLimitIn, who: Admin, session: SystemSession
) -> EnrolledAgentOut:
    """Change after how long without a heartbeat the agent's projects are alerted."""
    return service.set_silence_limit(session, agent_id, body.limit_s, who.name)


@router.post("/installation/agents/{agent_id}/rotate")
def rotate_agent(agent_id: str, who: Admin, session: SystemSession) -> EnrolledAgentOut:
    """Let the agent replace its credential with its next heartbeat; the old one works until then."""
    return service.request_rotation(session, agent_id, who.name)


@router.post("/installation/agents/{agent_id}/revoke")
def revoke_agent(agent_id: str, who: Admin, session: SystemSession) -> EnrolledAgentOut:
    """Refuse the agent for good: its credential is invalid at once, its leases end, its workloads stop."""
    service.revoke(session, agent_id, who.name)
    return service.get_agent(session, agent_id)


@router.get("/installation/claims")
def list_claims(
    _: Admin,
    session: SystemSession,
    state: Literal["open", "moved", "dismissed"] | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ClaimOut]:
    """List claims, newest first: agents that announce a target of another agent."""
    return service.list_claims(session, state, limit=limit, cursor=cursor)


@router.post("/installation/claims/{claim_id}/move")
def move_claimed_target(claim_id: str, who: Admin, session: SystemSession) -> ClaimOut:
    """Give the target to the agent that claims it; 409 `target_busy` while a job runs on it."""
    return service.move_target(session, claim_id, who.name)


@router.post("/installation/claims/{claim_id}/dismiss")
def dismiss_claim(claim_id: str, who: Admin, session: SystemSession) -> ClaimOut:
    """Leave the target with its agent; the claiming agent stays refused and is not reported again."""
    return service.dismiss_claim(session, claim_id, who.name)
