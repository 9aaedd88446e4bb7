"""Serves the HTTP routes of policy advice."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from paceline_server.accounts.auth import Principal, require
from paceline_server.detect.policies import service
from paceline_server.detect.policies.schemas import PolicyAdviceOut
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["policies"])

Reader = Annotated[Principal, Depends(require("project.read"))]
Params = Annotated[
    str | None,
    Query(max_length=4000, description="A JSON object of params; omitted: all params."),
]


@router.get("/policies")
def list_policies(  # noqa: PLR0917 - query parameters, passed by name
    _: Reader,
    session: DbSession,
    suite: str | None = None,
    policy: str | None = None,
    target: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[PolicyAdviceOut]:
    """Return the newest advice for each target, policy and combination of params."""
    return service.list_newest_advice(
        session, suite=suite, policy=policy, target=target, limit=limit, cursor=cursor
    )


@router.get("/policies/history")
def list_policy_history(  # noqa: PLR0917 - query parameters, passed by name
    suite: str,
    policy: str,
    target: str,
    _: Reader,
    session: DbSession,
    params: Params = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[PolicyAdviceOut]:
    """Return all advice about a policy on a target, newest first."""
    return service.list_advice_history(
        session,
        suite=suite,
        policy=policy,
        target=target,
        params=params,
        limit=limit,
        cursor=cursor,
    )
