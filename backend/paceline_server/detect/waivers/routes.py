"""Serves the HTTP routes of waivers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.accounts.idempotency import Once
from paceline_server.detect.waivers import service
from paceline_server.detect.waivers.schemas import WaiverIn, WaiverOut
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["waivers"])

Reader = Annotated[Principal, Depends(require("project.read"))]
Triager = Annotated[Principal, Depends(require("alerts.triage"))]


@router.post("/waivers", status_code=201)
def create_waiver(
    body: WaiverIn, who: Triager, session: DbSession, once: Once
) -> WaiverOut:
    """Let a failing gate, regression or arm pass visibly until an instant."""
    return once.answer(
        session, WaiverOut, lambda: service.create(session, body, who.name)
    )


@router.get("/waivers")
def list_waivers(
    _: Reader,
    session: DbSession,
    suite: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[WaiverOut]:
    """Return the waivers, the newest first, including those that ended."""
    return service.list_waivers(session, suite=suite, limit=limit, cursor=cursor)


@router.get("/waivers/{waiver_id}")
def get_waiver(waiver_id: str, _: Reader, session: DbSession) -> WaiverOut:
    """Return one waiver."""
    return service.get(session, waiver_id)


@router.post("/waivers/{waiver_id}/revoke")
def revoke_waiver(waiver_id: str, who: Triager, session: DbSession) -> WaiverOut:
    """End a waiver now; what passed by it stays."""
    return service.revoke(session, waiver_id, who.name)
