"""HTTP of imports: store, list, read and delete documents of other tools."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from paceline_server.accounts.auth import Principal, require
from paceline_server.imports import service
from paceline_server.imports.schemas import ImportDetailOut, ImportIn, ImportOut
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["imports"])

Reader = Annotated[Principal, Depends(require("read"))]
Writer = Annotated[Principal, Depends(require("ingest"))]
IMPORT_BYTES = 8 * 1024 * 1024
"""Of one document: the log of some 20,000 lines."""
Form = Annotated[str | None, Query(alias="format", max_length=50)]


@router.post(
    "/imports",
    status_code=201,
    max_body_size=IMPORT_BYTES,
    responses={200: {"model": ImportDetailOut}},
)
def store_import(
    body: ImportIn, principal: Writer, session: DbSession, response: Response
) -> ImportDetailOut:
    """Store a document as `paceline import` writes it. The same one again: 200, and nothing changes."""
    stored, new = service.store_import(session, body, principal.name)
    if not new:
        response.status_code = 200
    return stored


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
    """A document's rows with what they say, the policy it states, and how that compares with what was
    measured here."""
    return service.get_import(session, import_id)


@router.delete("/imports/{import_id}", status_code=204)
def delete_import(import_id: str, principal: Writer, session: DbSession) -> None:
    """Forget a document."""
    service.delete_import(session, import_id, principal.name)
