"""Who writes: the dependency of every route an agent writes through.

Place: the edge of HTTP, shared by the routes of jobs and ingest. Invariant: it only reads the request;
whether the lease holds is decided by `leases.hold`, in the transaction of the write.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Path

from paceline_server.accounts.auth import Principal, require
from paceline_server.jobs.leases import LeaseClaim

Agent = Annotated[Principal, Depends(require("agent"))]
AttemptNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


def lease_claim(
    job_id: str,
    attempt: AttemptNumber,
    agent: Agent,
    lease_token: Annotated[str, Header(alias="Lease-Token", max_length=200)],
) -> LeaseClaim:
    """The lease an agent's write claims to hold."""
    return LeaseClaim(agent.agent_id or "", job_id, attempt, lease_token)


ClaimedLease = Annotated[LeaseClaim, Depends(lease_claim)]
