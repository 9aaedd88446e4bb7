"""Stores, lists and deletes imported documents.

A document is stored once, however often it is uploaded. The importer of its format decides what is stored and
shown; a new format needs a file with an `Importer` and a line in `IMPORTERS`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paceline_contract.results import FORMAT
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.imports import queries, uploads
from paceline_server.imports.criterion import CriterionImporter
from paceline_server.imports.importer import Importer
from paceline_server.imports.logcat import LogcatImporter
from paceline_server.imports.originals import unpack_original
from paceline_server.imports.results import ResultImporter
from paceline_server.imports.schemas import (
    ImportDetailOut,
    ImportIn,
    ImportOut,
    ImportPreviewOut,
)
from paceline_server.imports.uploads import UploadedFile
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.tables.imports import ImportDocument

IMPORTERS: dict[str, Importer[Any]] = {
    "criterion": CriterionImporter(),
    "logcat": LogcatImporter(),
    FORMAT: ResultImporter(),
}


def store_import(
    session: Session, body: ImportIn, who: str
) -> tuple[ImportDetailOut, bool]:
    """Return (the stored document, whether it is new). Storing a document again changes nothing."""
    document, where = body.document, body.measured_on
    importer = IMPORTERS[document.format]
    identity = json.dumps(importer.identity(document, where), sort_keys=True)
    digest = hashlib.sha256(identity.encode()).hexdigest()
    stored = queries.document_with_digest(session, digest)
    if stored is not None:
        return _detail(session, stored), False
    columns = importer.columns(document, where)
    if body.original is None:
        kept = importer.make_original(document)
    else:
        kept, columns["file"] = body.original.original, body.original.file
    if kept is not None:
        columns["sha256"] = kept.sha256
        columns["original"], columns["original_bytes"] = kept.packed, kept.size
    row = ImportDocument(
        id=ids.new_id("imp"),
        format=document.format,
        title=body.title or columns["file"],
        digest=digest,
        imported_by=who,
        created_at=clock.now(),
        **columns,
    )
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:  # another request stored the same document meanwhile
        stored = queries.document_with_digest(session, digest)
        if stored is None:
            raise
        return _detail(session, stored), False
    importer.store_samples(session, document, where, who, row)
    about = {"name": row.title, "file": row.file, "rows": row.row_count}
    audit.record(session, who, "import.create", "import", row.id, about)
    return _detail(session, row), True


def preview_file(file: UploadedFile) -> ImportPreviewOut:
    """Return what would be stored of an uploaded file. Raises 400 if nothing would be."""
    return uploads.preview(file)


def read_file(file: UploadedFile) -> ImportIn:
    """Return the body that stores an uploaded file. Raises 400."""
    return uploads.make_import(file)


def list_documents(
    session: Session, *, form: str | None, limit: int, cursor: str | None
) -> Page[ImportOut]:
    """Return stored documents, the newest first."""
    return page(
        session,
        queries.documents(form),
        [ImportDocument.created_at, ImportDocument.id],
        lambda row: [row.created_at, row.id],
        _out,
        limit=limit,
        cursor=cursor,
    )


def get_import(session: Session, import_id: str) -> ImportDetailOut:
    """Return one document with its rows. Raises 404."""
    return _detail(session, _find(session, import_id))


@dataclass(frozen=True)
class OriginalFile:
    """The kept bytes of a document's file, unpacked in pieces, and its name."""

    name: str
    pieces: Iterator[bytes]


def read_original(session: Session, import_id: str) -> OriginalFile:
    """Return the file of a document. Raises 404, also if it was not kept."""
    row = _find(session, import_id)
    if row.original is None:
        raise ProblemError(
            404,
            "not_found",
            "The file of this import was not kept. It is known by its SHA-256.",
        )
    return OriginalFile(row.file, unpack_original(row.original))


def delete_import(session: Session, import_id: str, who: str) -> None:
    """Delete a document. Raises 404; 409 `samples_stay` if its samples became runs."""
    row = _find(session, import_id)
    if IMPORTERS[row.format].has_samples:
        raise ProblemError(
            409,
            "samples_stay",
            "Its samples became runs, and samples are never deleted.",
        )
    about = {"name": row.title, "file": row.file, "sha256": row.sha256}
    audit.record(session, who, "import.remove", "import", row.id, about)
    session.delete(row)


def _find(session: Session, import_id: str) -> ImportDocument:
    row = queries.document(session, import_id)
    if row is None:
        raise not_found("import", import_id)
    return row


def _out(row: ImportDocument) -> ImportOut:
    return ImportOut(
        id=row.id,
        title=row.title,
        format=row.format,
        source=row.file,
        sha256=row.sha256,
        imported_at=row.created_at,
        imported_by=row.imported_by,
        devices=row.devices,
        row_count=row.row_count,
        original_bytes=row.original_bytes,
    )


def _detail(session: Session, row: ImportDocument) -> ImportDetailOut:
    return IMPORTERS[row.format].detail(session, row, _out(row))
