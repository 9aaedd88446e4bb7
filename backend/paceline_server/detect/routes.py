"""HTTP route by which an agent asks between launches what is undecided."""

from __future__ import annotations

from fastapi import APIRouter

from paceline_server.detect import service
from paceline_server.detect.schemas import UndecidedOut
from paceline_server.jobs.lease_claims import ClaimedLease
from paceline_server.jobs.service import check_lease
from paceline_server.store import access
from paceline_server.store.session import read_scope, session_scope

router = APIRouter(tags=["jobs"])


@router.post("/jobs/{job_id}/attempts/{attempt}/undecided")
def list_undecided(claim: ClaimedLease) -> UndecidedOut:
    """List the benchmarks that more launches may decide, by what was delivered. Nothing is locked while they are judged."""
    with session_scope() as session:
        # The agent still measures, so that a lost attempt goes on as if it renewed.
        project_id = check_lease(session, claim, renews=True).job.project_id
    with read_scope() as session:
        access.enter_project(session, project_id)
        return UndecidedOut(
            benchmarks=service.undecided_benchmarks(session, claim.job_id)
        )
