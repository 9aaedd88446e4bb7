"""HTTP of noise floors."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.kernel.wire import Page
from paceline_server.series.noise import service
from paceline_server.series.noise.queries import NoiseFloorFilters
from paceline_server.series.noise.schemas import NoiseFloorOut
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["series"])


@router.get("/noise-floors")
def list_noise_floors(  # noqa: PLR0917 - query parameters, passed by name
    _: Annotated[Principal, Depends(require("read"))],
    session: DbSession,
    suite: str | None = None,
    benchmark: str | None = None,
    arm: str | None = None,
    metric: str | None = None,
    target: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[NoiseFloorOut]:
    """What targets resolve, by their newest A/A job, the newest first; with the threshold proposed to
    rules."""
    filters = NoiseFloorFilters(suite, benchmark, arm, metric, target)
    return service.list_floors(session, filters, limit=limit, cursor=cursor)
