"""Serves suites over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.catalog import service
from paceline_server.catalog.schemas import SuiteOut
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["catalog"])

Reader = Annotated[Principal, Depends(require("project.read"))]


@router.get("/suites")
def list_suites(
    _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[SuiteOut]:
    """List the suites that agents announce and those that were imported, by name."""
    return service.list_suites(session, limit=limit, cursor=cursor)


@router.get("/suites/{name}")
def get_suite(name: str, _: Reader, session: DbSession) -> SuiteOut:
    """Return a suite with its benchmarks, arms, params, metrics and knobs."""
    return service.get_suite(session, name)
