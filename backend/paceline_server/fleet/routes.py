"""Serves the fleet over HTTP: enrolment, heartbeats, agents and targets."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from sqlalchemy.orm import Session

from paceline_server.accounts.auth import ANYONE, Principal, require
from paceline_server.accounts.idempotency import Once
from paceline_server.fleet import queries, service, target_actions, target_views
from paceline_server.fleet.agents import routes as agents
from paceline_server.fleet.device_schemas import (
    Axis,
    HealthState,
    MaintenanceIn,
    ReasonIn,
    TargetEventOut,
)
from paceline_server.fleet.schemas import (
    AgentOut,
    EnrolIn,
    EnrolmentCodeIn,
    EnrolmentCodeOut,
    EnrolOut,
    HeartbeatIn,
    HeartbeatOut,
    TargetOut,
)
from paceline_server.fleet.target_events import list_events
from paceline_server.kernel import clock, settings
from paceline_server.kernel.wire import Page
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.page import Cursor, Limit, page
from paceline_server.store.session import DbSession, SystemSession
from paceline_server.store.tables.fleet import Agent, Target

router = APIRouter(tags=["fleet"])
router.include_router(agents.router)

Reader = Annotated[Principal, Depends(require("project.read"))]
Admin = Annotated[Principal, Depends(require("installation.admin"))]
AgentItself = Annotated[Principal, Depends(require("agent"))]

ENROL_BYTES = 16 * 1024
"""Just enough for the longest fields, because anyone may send this request."""
HEARTBEAT_BYTES = 8 * 1024 * 1024
"""Enough for all suites of an agent and the output of its devices' last checks."""


@router.post(
    "/agents/enrolment-codes", status_code=201, max_body_size=agents.GRANT_BYTES
)
def create_enrolment_code(
    who: Admin, session: SystemSession, once: Once, body: EnrolmentCodeIn | None = None
) -> EnrolmentCodeOut:
    """Create a one-time code with which one agent may enrol, and the agent's grant. Without a body it grants any
    repository and any target, for the request's project."""
    project = who.project.id if who.project is not None else DEFAULT_PROJECT_ID
    return once.answer_secret(
        session,
        lambda: service.create_enrolment_code(
            session, body or EnrolmentCodeIn(), who.name, project
        ),
    )


@router.post(
    "/agents/enrol", status_code=201, max_body_size=ENROL_BYTES, dependencies=[ANYONE]
)
def enrol(body: EnrolIn, session: SystemSession) -> EnrolOut:
    """Enrol an agent with a one-time code; its credential is returned only here. 409 `host_taken`: the host belongs to
    another agent, and the code still works."""
    return service.enrol(session, body)


@router.post("/agents/self/heartbeat", max_body_size=HEARTBEAT_BYTES)
def heartbeat(
    body: HeartbeatIn, agent: AgentItself, session: DbSession
) -> HeartbeatOut:
    """Report that the agent is online, its targets and, with `suites`, what it can run."""
    return service.heartbeat(session, agent.agent_id or "", body)


@router.get("/agents")
def list_agents(
    _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[AgentOut]:
    """List agents, newest first."""
    return page(
        session,
        queries.agents(),
        [Agent.id],
        lambda row: [row.id],
        target_views.agent_out,
        limit=limit,
        cursor=cursor,
    )


@router.get("/targets")
def list_targets(  # noqa: PLR0917 - query parameters, passed by name
    _: Reader,
    session: DbSession,
    kind: Literal["host", "device"] | None = None,
    state: Literal["online", "busy", "offline"] | None = None,
    health: HealthState | None = None,
    simulated: bool | None = None,
    q: Annotated[str | None, Query(max_length=200)] = None,
    fields: Literal["names"] | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[TargetOut]:
    """List targets in the order they were first seen; `q` searches name, serial, model and route.
    `fields=names` leaves out factors, preflight findings and the last check."""
    held_target_ids = target_views.held_for_others(session) if state is not None else ()
    filters = queries.TargetFilter(
        kind, state, health, simulated, q, frozenset(held_target_ids)
    )
    since = clock.now() - timedelta(seconds=settings.current().offline_after_s)
    query, names_only = queries.targets(filters, since), fields == "names"
    rows = page(
        session,
        queries.without_large_columns(query) if names_only else query,
        [Target.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    return Page(
        items=target_views.targets_out(session, rows.items, slim=names_only),
        next=rows.next,
    )


@router.get("/targets/{target_id}")
def get_target(target_id: str, _: Reader, session: DbSession) -> TargetOut:
    """Return one target with its preflight findings and the output of its last health check."""
    return _target_out(session, service.find_target(session, target_id))


def _target_out(session: Session, target: Target) -> TargetOut:
    return target_views.targets_out(session, [target], raw=True)[0]


@router.put("/targets/{target_id}/maintenance")
def set_maintenance(
    target_id: str, body: MaintenanceIn, who: Admin, session: DbSession
) -> TargetOut:
    """Put a target into maintenance, until an instant if one is given, or take it out again."""
    return _target_out(
        session, target_actions.set_maintenance(session, target_id, body, who.name)
    )


@router.post("/targets/{target_id}/quarantine")
def quarantine_target(
    target_id: str, body: ReasonIn, who: Admin, session: DbSession
) -> TargetOut:
    """Give a device no job until it is released; 409 `not_a_device` for a host."""
    return _target_out(
        session, target_actions.quarantine(session, target_id, body.reason, who.name)
    )


@router.post("/targets/{target_id}/release")
def release_target(
    target_id: str, body: ReasonIn, who: Admin, session: DbSession
) -> TargetOut:
    """Release a device from quarantine; it is checked before it gets a job."""
    return _target_out(
        session, target_actions.release(session, target_id, body.reason, who.name)
    )


@router.post("/targets/{target_id}/recheck")
def recheck_target(target_id: str, who: Admin, session: DbSession) -> TargetOut:
    """Request a health check as soon as no job holds the device; repeating it changes nothing."""
    return _target_out(session, target_actions.recheck(session, target_id, who.name))


@router.post("/targets/{target_id}/reboot")
def reboot_target(target_id: str, who: Admin, session: DbSession) -> TargetOut:
    """Request a restart as soon as no job holds the device; 409 `too_many_reboots` after two within a day."""
    return _target_out(session, target_actions.reboot(session, target_id, who.name))


@router.get("/targets/{target_id}/events")
def list_target_events(
    target_id: str,
    _: Reader,
    session: DbSession,
    axis: Axis | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[TargetEventOut]:
    """List the events of a target, the newest first."""
    service.find_target(session, target_id)
    return list_events(session, target_id, axis, limit=limit, cursor=cursor)
