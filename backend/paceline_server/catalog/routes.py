"""Serves suites over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.catalog import queries, service
from paceline_server.catalog.schemas import SuiteOut
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit, page
from paceline_server.store.session import DbSession
from paceline_server.store.tables.catalog import Suite

router = APIRouter(tags=["catalog"])

Reader = Annotated[Principal, Depends(require("project.read"))]


@router.get("/suites")
def list_suites(
    _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[SuiteOut]:
    """List suites by name."""
    last_runs = queries.last_runs(session)
    return page(
        session,
        queries.suites(),
        [Suite.name],
        lambda row: [row.name],
        lambda row: service.suite_out(row, last_runs.get(row.name)),
        limit=limit,
        cursor=cursor,
        descending=False,
    )


@router.get("/suites/{name}")
def get_suite(name: str, _: Reader, session: DbSession) -> SuiteOut:
    """Return a suite with its benchmarks, arms, params, metrics and knobs."""
    return service.suite_out(
        service.find(session, name), queries.last_runs(session, name).get(name)
    )
