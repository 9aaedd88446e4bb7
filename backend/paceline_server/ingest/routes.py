"""HTTP of uploads and of what people read back of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from paceline_server.accounts.auth import Principal, require
from paceline_server.ingest import reader, service
from paceline_server.ingest.schemas import ItemsIn, ItemsOut
from paceline_server.jobs.lease_claims import ClaimedLease
from paceline_server.jobs.schemas import (
    ConditionsOut,
    FinishIn,
    LogLineOut,
    ReportedLineOut,
)
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["ingest"])

Reader = Annotated[Principal, Depends(require("read"))]
After = Annotated[int, Query(ge=-1, lt=2**63)]
AttemptQuery = Annotated[int | None, Query(ge=1, lt=2**31)]


async def body_of(_: ClaimedLease, request: Request) -> bytes:
    """The body as it was sent, read only for a known agent; its size on the wire is bounded around us."""
    return await request.body()


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema with its `$defs` put in place, as OpenAPI has no room for them."""
    defs = schema.pop("$defs", {})

    def put(node: Any) -> Any:
        if isinstance(node, dict):
            ref = node.get("$ref")
            return (
                put(defs[ref.rsplit("/", 1)[1]])
                if ref
                else {key: put(each) for key, each in node.items()}
            )
        return [put(each) for each in node] if isinstance(node, list) else node

    inlined: dict[str, Any] = put(
        {key: each for key, each in schema.items() if key != "discriminator"}
    )
    return inlined


ITEMS_BYTES = 8 * 1024 * 1024
_ITEMS_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": _inlined(ItemsIn.model_json_schema())}
        },
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
    body: Annotated[bytes, Depends(body_of)],
    session: DbSession,
    content_encoding: Annotated[str, Header(max_length=100)] = "",
) -> ItemsOut:
    """Store samples, events, conditions, log lines and what a log reported; sent again they are duplicates,
    not more data."""
    return service.store(session, writer, service.read_items(body, content_encoding))


@router.post("/jobs/{job_id}/attempts/{attempt}/finish", status_code=204)
def finish(body: FinishIn, writer: ClaimedLease, session: DbSession) -> None:
    """End the attempt; `done` is taken once every item has arrived."""
    service.finish(session, writer, body)


_LOG_TEXT = {
    "description": "With `format=text` the whole log of the attempt as a file, sent while it is read; "
    "`after`, `tail`, `limit` and `cursor` are of pages only.",
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
    """Log lines, the oldest first; `tail=true` gives the last `limit` of them, `format=text` all of them."""
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
    """What the target was like, the oldest first; with `expand=raw`, of a device, what its commands
    printed."""
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
    """What a device's log reported in lines that the suite declares, the oldest first: an app's own figures,
    no samples."""
    return reader.reported_page(
        session, job_id, attempt=attempt, after=after, limit=limit, cursor=cursor
    )
