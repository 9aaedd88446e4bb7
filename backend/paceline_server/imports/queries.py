"""All SQL of imports."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, defer

from paceline_server.store.tables.imports import ImportDocument


def documents(form: str | None) -> Select[Any]:
    """Return all documents, or those of a format, without their large `document` column."""
    query = select(ImportDocument).options(
        defer(ImportDocument.document, raiseload=True)
    )
    return query if form is None else query.where(ImportDocument.format == form)


def document(session: Session, import_id: str) -> ImportDocument | None:
    return session.get(ImportDocument, import_id)


def document_with_digest(session: Session, digest: str) -> ImportDocument | None:
    return session.scalars(
        select(ImportDocument).where(ImportDocument.digest == digest)
    ).one_or_none()
