"""All SQL of imports."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session, defer

from paceline_server.store import access
from paceline_server.store.tables.imports import ImportDocument
from paceline_server.store.tables.projects import Project


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


def rereadable_documents(session: Session) -> list[str]:
    """Return the documents of files that are kept and that nothing has replaced, the oldest first."""
    query = select(ImportDocument.id).where(
        ImportDocument.original.is_not(None), ImportDocument.replaced_by.is_(None)
    )
    return list(session.scalars(query.order_by(ImportDocument.id)))


def documents_of_measurement(
    session: Session, row: ImportDocument
) -> list[ImportDocument]:
    """Return the other documents about the measurement of this one that nothing has replaced, locked."""
    query = (
        select(ImportDocument)
        .where(
            ImportDocument.measurement == row.measurement,
            ImportDocument.replaced_by.is_(None),
            ImportDocument.id != row.id,
        )
        .order_by(ImportDocument.id)
        .with_for_update()
    )
    return [] if row.measurement is None else list(session.scalars(query))


def default_branch(session: Session) -> str:
    """Return the branch that the history of the session's project is about."""
    return session.get_one(Project, access.of_session(session).project).default_branch
