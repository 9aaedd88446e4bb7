"""Stores, lists and deletes imported documents.

A document is stored once, however often it is uploaded. The importer of its format decides what is stored and
shown; a new format needs a file with an `Importer` and a line in `IMPORTERS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from paceline_contract import recordings
from paceline_contract.results import FORMAT, ResultError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.imports import queries, uploads
from paceline_server.imports.importer import Importer, make_digest
from paceline_server.imports.logcat import LogcatImporter
from paceline_server.imports.originals import Original, unpack_original
from paceline_server.imports.recordings import RecordingImporter
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
    "criterion": ResultImporter(),
    "logcat": LogcatImporter(),
    FORMAT: ResultImporter(),
    recordings.FORMAT: RecordingImporter(),
}
"""By format. Nothing sends `criterion` any more; documents that were stored as such are shown like every result."""


def store_import(
    session: Session, body: ImportIn, who: str
) -> tuple[ImportDetailOut, bool]:
    """Return (the stored document, whether it is new). Storing a document again changes nothing."""
    original = body.original
    file = None if original is None else _File(original.file, original.original)
    row, is_new = _store(session, body, file, who)
    return _detail(session, row), is_new


class _File(NamedTuple):
    name: str
    original: Original


def _store(
    session: Session, body: ImportIn, file: _File | None, who: str
) -> tuple[ImportDocument, bool]:
    document = body.document
    importer = IMPORTERS[document.format]
    digest = make_digest(importer.identity(document, body))
    stored = queries.document_with_digest(session, digest)
    if stored is not None:
        return stored, False
    columns = importer.columns(document, body)
    if file is None:
        kept = importer.make_original(document)
    else:
        columns["file"], kept = file
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
        return stored, False
    importer.store_samples(session, document, body, who, row)
    about = {"name": row.title, "file": row.file, "rows": row.row_count}
    audit.record(session, who, "import.create", "import", row.id, about)
    return row, True


def list_rereadable(session: Session) -> list[str]:
    """Return the ids of documents whose files can be read again, the oldest first."""
    return queries.rereadable_documents(session)


def reread(session: Session, import_id: str, who: str) -> str:
    """Read a document's kept file with today's reader, replace the document where it differs, and return in words what
    came of it. Raises 404."""
    row = _find(session, import_id)
    importer = IMPORTERS[row.format]
    if not isinstance(importer, ResultImporter) or "origin" not in row.document:
        return f"{row.id}: left as it is, because only its content was kept"
    if row.replaced_by is not None:
        return f"{row.id}: left as it is, because {row.replaced_by} replaced it"
    packed = row.original or b""
    try:
        result = importer.read_again(row, b"".join(unpack_original(packed)))
        body = ImportIn.model_validate(
            {
                "document": msgspec.to_builtins(result),
                "title": row.title,
                "measured_on": row.document["measured_on"],
                "judge": row.document["judged"],
                "notify": row.document["notifies"],
            }
        )
        file = _File(row.file, Original(packed, row.original_bytes or 0, row.sha256))
        with session.begin_nested():
            newer, is_new = _store(session, body, file, who)
    except (ResultError, ValueError, ProblemError) as error:
        return f"{row.id}: left as it is, because it cannot be read: {error}"
    if not is_new:
        return f"{row.id}: the same"
    if row.replaced_by is None:
        importer.replace(session, row, newer)
    return f"{row.id}: replaced by {newer.id}"


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
