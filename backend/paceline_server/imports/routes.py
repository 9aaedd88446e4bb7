"""HTTP of imports: store, list, read, download and delete documents of other tools."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from paceline_contract.manifest import NAME
from paceline_contract.readers.registry import StatedOrigin
from paceline_contract.recordings import MAX_REQUEST_BYTES
from sqlalchemy.orm import Session

from paceline_server.accounts.auth import Principal, require
from paceline_server.accounts.idempotency import IdempotentAnswer, Once
from paceline_server.imports import service
from paceline_server.imports.schemas import (
    ImportDetailOut,
    ImportIn,
    ImportOut,
    ImportPreviewOut,
)
from paceline_server.imports.uploads import UploadedFile
from paceline_server.kernel.wire import Instant, Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["imports"])

Reader = Annotated[Principal, Depends(require("project.read"))]
Writer = Annotated[Principal, Depends(require("imports.write"))]
IMPORT_BYTES = MAX_REQUEST_BYTES
"""Bytes of a document, enough for a log of about 20,000 lines."""
BYTES = "application/octet-stream"
_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file.",
        "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}},
    }
}
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file as its tool wrote it, at most 8 MiB.",
        "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}},
    }
}
_TEXT = r"^[^\x00]+$"
Form = Annotated[str | None, Query(alias="format", max_length=50)]


@router.post(
    "/imports",
    status_code=201,
    max_body_size=IMPORT_BYTES,
    responses={200: {"model": ImportDetailOut}},
)
def store_import(
    body: ImportIn,
    principal: Writer,
    session: DbSession,
    response: Response,
    once: Once,
) -> ImportDetailOut:
    """Store a document that `paceline import` wrote. Storing it again changes nothing: 200."""
    return _store(body, principal, session, response, once)


def _store(
    body: ImportIn,
    principal: Principal,
    session: Session,
    response: Response,
    once: IdempotentAnswer,
) -> ImportDetailOut:
    def store() -> ImportDetailOut:
        stored, new = service.store_import(session, body, principal.name)
        if not new:
            response.status_code = 200
        return stored

    return once.answer(session, ImportDetailOut, store)


async def read_upload(
    request: Request,
    *,
    file: Annotated[str, Query(max_length=200, pattern=_TEXT)],
    on: Annotated[str, Query(max_length=100, pattern=_TEXT)] = "imported",
    commit: Annotated[str | None, Query(pattern="^[0-9a-f]{7,64}$")] = None,
    branch: Annotated[str | None, Query(max_length=200, pattern=_TEXT)] = None,
    at: Annotated[Instant | None, Query()] = None,
    suite: Annotated[str | None, Query(pattern=f"^{NAME}$")] = None,
    judge: bool = False,
) -> UploadedFile:
    """Return the body as a file of this name. `on` names the target that measured; `commit`, `branch` and `at` stand
    instead of what the file says. `suite` and `judge` are those of `POST /imports`."""
    origin = StatedOrigin(commit, branch, at)
    return UploadedFile(file, await request.body(), origin, on, suite, judge)


Upload = Annotated[UploadedFile, Depends(read_upload)]


@router.post("/imports/preview", openapi_extra=_UPLOAD, max_body_size=IMPORT_BYTES)
def preview_import(_: Writer, file: Upload) -> ImportPreviewOut:
    """What `POST /imports/files` would store of a file. Stores nothing."""
    return service.preview_file(file)


@router.post(
    "/imports/files",
    status_code=201,
    openapi_extra=_UPLOAD,
    max_body_size=IMPORT_BYTES,
    responses={200: {"model": ImportDetailOut}},
)
def store_file(
    file: Upload,
    principal: Writer,
    session: DbSession,
    response: Response,
    once: Once,
) -> ImportDetailOut:
    """Store a file of another tool, which is recognised and read here. Storing it again changes nothing: 200."""
    return _store(service.read_file(file), principal, session, response, once)


@router.get("/imports")
def list_imports(
    _: Reader,
    session: DbSession,
    form: Form = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ImportOut]:
    """Stored documents, the newest first."""
    return service.list_documents(session, form=form, limit=limit, cursor=cursor)


@router.get("/imports/{import_id}")
def read_import(import_id: str, _: Reader, session: DbSession) -> ImportDetailOut:
    """A document's rows, the policy it states, and how that compares with measurements of this server."""
    return service.get_import(session, import_id)


@router.get(
    "/imports/{import_id}/original",
    response_class=StreamingResponse,
    responses=_FILE,
)
def read_original(import_id: str, _: Reader, session: DbSession) -> StreamingResponse:
    """The file that a document was read from, or the document itself where no file was sent."""
    original = service.read_original(session, import_id)
    name = f"attachment; filename*=UTF-8''{quote(original.name, safe='')}"
    return StreamingResponse(
        original.pieces, media_type=BYTES, headers={"Content-Disposition": name}
    )


@router.delete("/imports/{import_id}", status_code=204)
def delete_import(import_id: str, principal: Writer, session: DbSession) -> None:
    """Delete a document."""
    service.delete_import(session, import_id, principal.name)
