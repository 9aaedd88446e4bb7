"""Serves uploads of agents over HTTP, and the logs, conditions and reported lines that people read."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from paceline_contract.items import Items

from paceline_server.accounts.auth import Principal, require
from paceline_server.ingest import reader, service
from paceline_server.ingest.schemas import ItemsOut
from paceline_server.jobs.lease_claims import ClaimedLease
from paceline_server.jobs.schemas import (
    ConditionsOut,
    FinishIn,
    LogLineOut,
    ReportedLineOut,
)
from paceline_server.kernel.openapi import inlined_schema
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["ingest"])

Reader = Annotated[Principal, Depends(require("project.read"))]
After = Annotated[int, Query(ge=-1, lt=2**63)]
AttemptQuery = Annotated[int | None, Query(ge=1, lt=2**31)]


async def read_body(_: ClaimedLease, request: Request) -> bytes:
    """Return the body as sent, once the lease is known to be valid. The middleware limits its size."""
    return await request.body()


ITEMS_BYTES = 8 * 1024 * 1024
_ITEMS_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": inlined_schema(Items)}},
        "description": "At most 8 MiB as sent and 64 MiB of JSON; optionally `Content-Encoding: gzip`.",
    }
}


@router.post(
    "/jobs/{job_id}/attempts/{attempt}/items",
    openapi_extra=_ITEMS_BODY,
    max_body_size=ITEMS_BYTES,
)
def store_items(
    writer: ClaimedLease,
    body: Annotated[bytes, Depends(read_body)],
    session: DbSession,
    content_encoding: Annotated[str, Header(max_length=100)] = "",
) -> ItemsOut:
    """Store samples, events, conditions, log lines and reported lines. Items that are sent again count as
    duplicates."""
    return service.store(session, writer, service.read_items(body, content_encoding))


@router.post("/jobs/{job_id}/attempts/{attempt}/finish", status_code=204)
def finish(body: FinishIn, writer: ClaimedLease, session: DbSession) -> None:
    """End the attempt; `done` is accepted only after every item has arrived."""
    service.finish(session, writer, body)


_LOG_TEXT = {
    "description": "With `format=text`, the attempt's whole log as a streamed file; "
    "`after`, `tail`, `limit` and `cursor` apply to pages only.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


@router.get(
    "/jobs/{job_id}/log", response_model=Page[LogLineOut], responses={200: _LOG_TEXT}
)
def read_log(  # noqa: PLR0917 - query parameters, passed by name
    job_id: str,
    _: Reader,
    session: DbSession,
    after: After = -1,
    attempt: AttemptQuery = None,
    tail: Annotated[bool, Query()] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    form: Annotated[Literal["json", "text"], Query(alias="format")] = "json",
) -> Page[LogLineOut] | Response:
    """List log lines, oldest first; `tail=true` returns the last `limit`, `format=text` all of them."""
    if form == "text":
        whole = reader.log_text(session, job_id, attempt=attempt)
        headers = {"Content-Disposition": f'attachment; filename="{whole.filename}"'}
        return StreamingResponse(
            whole.lines, media_type="text/plain; charset=utf-8", headers=headers
        )
    if tail:
        return reader.log_tail(session, job_id, attempt=attempt, lines=limit)
    return reader.log_page(
        session, job_id, attempt=attempt, after=after, limit=limit, cursor=cursor
    )


@router.get("/jobs/{job_id}/conditions")
def read_conditions(  # noqa: PLR0917 - query parameters, passed by name
    job_id: str,
    _: Reader,
    session: DbSession,
    after: After = -1,
    attempt: AttemptQuery = None,
    expand: Literal["raw"] | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ConditionsOut]:
    """List conditions of the target, oldest first; `expand=raw` adds the output of a device's commands."""
    return reader.conditions_page(
        session,
        job_id,
        attempt=attempt,
        after=after,
        raw=expand == "raw",
        limit=limit,
        cursor=cursor,
    )


@router.get("/jobs/{job_id}/reported")
def read_reported(  # noqa: PLR0917 - query parameters, passed by name
    job_id: str,
    _: Reader,
    session: DbSession,
    after: After = -1,
    attempt: AttemptQuery = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ReportedLineOut]:
    """List values in a device's log lines that match the suite's patterns, oldest first. They are not samples."""
    return reader.reported_page(
        session, job_id, attempt=attempt, after=after, limit=limit, cursor=cursor
    )
