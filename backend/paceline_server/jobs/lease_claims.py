"""Reads which lease an agent claims to hold from a request; it is a dependency of routes of jobs and ingest.

It only parses: `leases.check_lease` decides in the transaction of the write whether the claim is true.
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
    """Return the claim of the current request."""
    return LeaseClaim(agent.agent_id or "", job_id, attempt, lease_token)


ClaimedLease = Annotated[LeaseClaim, Depends(lease_claim)]
