"""Serves runs, jobs and leases over HTTP. `finish` and `items` are routes of `ingest`, which knows what has arrived."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.concurrency import run_in_threadpool

from paceline_server.accounts.auth import Principal, require
from paceline_server.accounts.idempotency import Once
from paceline_server.jobs import leases, measured_manifests, schedules, service
from paceline_server.jobs.lease_claims import Agent, ClaimedLease
from paceline_server.jobs.queries import has_leasable_job
from paceline_server.jobs.schemas import (
    JobOut,
    LeaseIn,
    LeaseOut,
    ManifestIn,
    PlanOut,
    RenewOut,
    RunIn,
    RunOut,
    RunState,
    ScheduleIn,
    ScheduleOut,
    SchedulePatchIn,
    StateIn,
    Trigger,
)
from paceline_server.jobs.transitions import JOBS_CHANNEL
from paceline_server.kernel import clock, settings
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Before, Cursor, From, Limit
from paceline_server.store.session import DbSession, database, read_scope, session_scope

router = APIRouter(tags=["jobs"])

POLL_S = 1.0
"""A waiting agent queries at least this often, because hints may be lost (I4) and jobs become due."""

STATE_BYTES = 2 * 1024 * 1024
"""Enough for 1,000 commits between two revisions, each with its author and subject."""

MANIFESTS_BYTES = 8 * 1024 * 1024
"""Enough for two manifests: as many bytes as a heartbeat may have."""

Reader = Annotated[Principal, Depends(require("project.read"))]

Requester = Annotated[Principal, Depends(require("runs.create", "targets.use"))]
"""The principal of routes that start and stop measurements."""
Scheduler = Annotated[Principal, Depends(require("schedules.write"))]
"""The principal of routes that let the server start measurements by itself."""


@router.post("/runs", status_code=201)
def create_run(
    body: RunIn, principal: Requester, session: DbSession, once: Once
) -> RunOut:
    """Create a run. With a `concurrency_key`, older runs of the same key are cancelled."""
    return once.answer(
        session, RunOut, lambda: service.create_run(session, body, principal.name)
    )


@router.get("/runs")
def list_runs(  # noqa: PLR0917 - query parameters, passed by name
    _: Reader,
    session: DbSession,
    suite: str | None = None,
    target: str | None = None,
    state: RunState | None = None,
    trigger: Trigger | None = None,
    since: From = None,
    until: Before = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[RunOut]:
    """List runs, the newest first; `from` (included) and `to` (not included) bound when they were requested."""
    return service.list_runs(
        session,
        suite=suite,
        target=target,
        state=state,
        trigger=trigger,
        requested=(since, until),
        limit=limit,
        cursor=cursor,
    )


@router.get("/runs/{run_id}")
def get_run(run_id: str, _: Reader, session: DbSession) -> RunOut:
    """Return one run with its jobs."""
    return service.get_run(session, run_id)


@router.post("/runs/{run_id}/cancel")
def cancel_run(run_id: str, _: Requester, session: DbSession) -> RunOut:
    """Stop the jobs of a run that have not ended; repeating it changes nothing."""
    return service.cancel(session, run_id)


@router.post("/schedules", status_code=201)
def create_schedule(
    body: ScheduleIn, principal: Scheduler, session: DbSession, once: Once
) -> ScheduleOut:
    """Create a schedule of runs; it starts once it is enabled."""
    return once.answer(
        session, ScheduleOut, lambda: schedules.create(session, body, principal.name)
    )


@router.get("/schedules")
def list_schedules(
    _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[ScheduleOut]:
    """List schedules, the newest first."""
    return schedules.list_schedules(session, limit=limit, cursor=cursor)


@router.get("/schedules/{schedule_id}")
def get_schedule(schedule_id: str, _: Reader, session: DbSession) -> ScheduleOut:
    """Return one schedule."""
    return schedules.get(session, schedule_id)


@router.patch("/schedules/{schedule_id}")
def change_schedule(
    schedule_id: str, body: SchedulePatchIn, principal: Scheduler, session: DbSession
) -> ScheduleOut:
    """Enable a schedule (its next run is due at once), disable it, or change its interval."""
    return schedules.change(session, schedule_id, body, principal.name)


@router.delete("/schedules/{schedule_id}", status_code=204)
def remove_schedule(schedule_id: str, principal: Scheduler, session: DbSession) -> None:
    """Delete a schedule; its runs stay."""
    schedules.remove(session, schedule_id, principal.name)


@router.get("/jobs/{job_id}")
def get_job(job_id: str, _: Reader, session: DbSession) -> JobOut:
    """Return one job."""
    return service.get_job(session, job_id)


@router.post(
    "/agents/self/lease",
    response_model=LeaseOut,
    responses={204: {"description": "Nothing to do."}},
)
async def lease(body: LeaseIn, agent: Agent, request: Request) -> object:
    """Lease the next job, waiting up to `wait_s` for one; 204 if there is none.

    A waiting request holds neither a thread nor a database connection.
    """
    deadline = time.monotonic() + body.wait_s
    changed, loop = asyncio.Event(), asyncio.get_running_loop()

    def wake(channel: str) -> None:
        if channel == JOBS_CHANNEL:
            loop.call_soon_threadsafe(changed.set)

    stop = database().hints.listen(wake)
    try:
        while True:
            changed.clear()
            leased = await run_in_threadpool(_try_lease, agent.agent_id or "", body)
            left = deadline - time.monotonic()
            if leased is not None:
                return leased
            if left <= 0 or await request.is_disconnected():
                return Response(status_code=204)
            try:
                await asyncio.wait_for(changed.wait(), min(left, POLL_S))
            except TimeoutError:
                continue
    finally:
        stop()


def _try_lease(agent_id: str, body: LeaseIn) -> LeaseOut | None:
    """Try once to lease a job. It reads first, so that idle agents do not queue for the write lock."""
    with read_scope() as session:
        if not has_leasable_job(session, agent_id, body.target_ids, clock.now()):
            return None
    with session_scope() as session:
        return leases.lease_next_job(session, agent_id, body.target_ids)


@router.post("/jobs/{job_id}/attempts/{attempt}/renew")
def renew(claim: ClaimedLease, session: DbSession) -> RenewOut:
    """Extend the lease; `cancel` asks the agent to stop."""
    return RenewOut(
        cancel=leases.renew(session, claim), lease_s=settings.current().lease_s
    )


@router.post(
    "/jobs/{job_id}/attempts/{attempt}/state",
    status_code=204,
    max_body_size=STATE_BYTES,
)
def report_state(body: StateIn, claim: ClaimedLease, session: DbSession) -> None:
    """Report the state of the attempt: what the agent does next."""
    leases.report_state(session, claim, body)


@router.post(
    "/jobs/{job_id}/attempts/{attempt}/manifest", max_body_size=MANIFESTS_BYTES
)
def report_manifest(
    body: ManifestIn, claim: ClaimedLease, session: DbSession
) -> PlanOut:
    """Report the manifest at the commit that is about to be measured, which decides what the run measures. Repeatable."""
    reported = measured_manifests.read_report(body)
    return measured_manifests.plan_job(session, claim, reported)
