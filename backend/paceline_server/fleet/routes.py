"""HTTP of the fleet: enrolment, heartbeats, agents and targets."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.fleet import queries, service
from paceline_server.fleet.schemas import (
    AgentOut,
    EnrolIn,
    EnrolmentCodeOut,
    EnrolOut,
    HeartbeatIn,
    HeartbeatOut,
    MaintenanceIn,
    TargetOut,
)
from paceline_server.kernel import settings
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit, page
from paceline_server.store.session import DbSession
from paceline_server.store.tables.fleet import Agent, Target

router = APIRouter(tags=["fleet"])

Reader = Annotated[Principal, Depends(require("read"))]
Admin = Annotated[Principal, Depends(require("admin"))]
AgentItself = Annotated[Principal, Depends(require("agent"))]


@router.post("/agents/enrolment-codes", status_code=201)
def create_enrolment_code(_: Admin, session: DbSession) -> EnrolmentCodeOut:
    """Make a one-time code for one agent."""
    return service.create_enrolment_code(session)


@router.post("/agents/enrol", status_code=201)
def enrol(body: EnrolIn, session: DbSession) -> EnrolOut:
    """Join with a one-time code; the credential is in this answer only."""
    return service.enrol(session, body)


@router.post("/agents/self/heartbeat")
def heartbeat(body: HeartbeatIn, agent: AgentItself, session: DbSession) -> HeartbeatOut:
    """Say that the agent lives, what it drives and (when `suites` is given) what it can run."""
    refused = service.heartbeat(session, agent.agent_id or "", body)
    return HeartbeatOut(heartbeat_s=settings.current().heartbeat_s, refused=refused)


@router.get("/agents")
def list_agents(_: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None) -> Page[AgentOut]:
    """Agents, newest first."""
    return page(
        session,
        queries.agents(),
        [Agent.id],
        lambda row: [row.id],
        service.agent_out,
        limit=limit,
        cursor=cursor,
    )


@router.get("/targets")
def list_targets(_: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None) -> Page[TargetOut]:
    """Targets in the order they were first seen."""
    rows = page(
        session, queries.targets(), [Target.id], lambda row: [row.id], lambda row: row,
        limit=limit, cursor=cursor, descending=False,
    )  # fmt: skip
    return Page(items=service.targets_out(session, rows.items), next=rows.next)


@router.get("/targets/{target_id}")
def get_target(target_id: str, _: Reader, session: DbSession) -> TargetOut:
    """One target with its preflight findings."""
    return service.targets_out(session, [service.find_target(session, target_id)])[0]


@router.put("/targets/{target_id}/maintenance")
def set_maintenance(target_id: str, body: MaintenanceIn, _: Admin, session: DbSession) -> TargetOut:
    """Hold a target back for maintenance, or give it free again."""
    return service.targets_out(session, [service.set_maintenance(session, target_id, body)])[0]
