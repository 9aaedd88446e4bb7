"""Serves exported tables over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from paceline_server.accounts.auth import Principal, require
from paceline_server.publish.exports import service
from paceline_server.publish.exports.queries import RowFilter, TimeRange
from paceline_server.publish.exports.service import TablePart
from paceline_server.publish.exports.shapes import MEDIA_TYPES, TableFormat, TableName
from paceline_server.store.page import Cursor
from paceline_server.store.session import DbSession

router = APIRouter(tags=["exports"])

Reader = Annotated[Principal, Depends(require("project.read"))]
Format = Annotated[TableFormat, Query(alias="format")]
Rows = Annotated[
    int | None,
    Query(
        ge=1,
        le=100_000_000,
        description="About how many rows this part should have; all unless given.",
    ),
]
_TABLE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The table. If more rows follow, the header `Link` has the address of the next part.",
        "content": {
            media.split(";")[0]: {"schema": {"type": "string", "format": "binary"}}
            for media in MEDIA_TYPES.values()
        },
    }
}


def _answer(request: Request, part: TablePart, form: TableFormat) -> StreamingResponse:
    headers = {"Content-Disposition": f'attachment; filename="{part.filename}"'}
    if part.next is not None:
        query = request.url.include_query_params(cursor=part.next).query
        headers["Link"] = f'<{request.url.path}?{query}>; rel="next"'
    return StreamingResponse(part.chunks, media_type=MEDIA_TYPES[form], headers=headers)


@router.get(
    "/runs/{run_id}/samples", response_class=StreamingResponse, responses=_TABLE
)
def export_samples(  # noqa: PLR0917 - query parameters, passed by name
    run_id: str,
    request: Request,
    _: Reader,
    session: DbSession,
    form: Format = "ndjson",
    limit: Rows = None,
    cursor: Cursor = None,
) -> StreamingResponse:
    """Export every sample of a run with its target, case, launch, round and counters, one row each."""
    part = service.samples_of_run(session, run_id, form, limit=limit, cursor=cursor)
    return _answer(request, part, form)


@router.get("/tables/{table}", response_class=StreamingResponse, responses=_TABLE)
def export_table(  # noqa: PLR0917 - query parameters, passed by name
    table: TableName,
    request: Request,
    _: Reader,
    session: DbSession,
    run: Annotated[str | None, Query(description="Id of a run.")] = None,
    series: Annotated[
        str | None, Query(description="Id of a series: of points and findings.")
    ] = None,
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
    form: Format = "ndjson",
    limit: Rows = None,
    cursor: Cursor = None,
) -> StreamingResponse:
    """Export all alerts, comparisons, conditions, findings or points, or those of a run, a series or a period (`from`
    included, `to` not)."""
    row_filter = RowFilter(TimeRange(since, until), run, series)
    part = service.rows_of_table(
        session, table, form, row_filter, limit=limit, cursor=cursor
    )
    return _answer(request, part, form)
