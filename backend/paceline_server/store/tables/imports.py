"""Defines documents imported from other tools' output."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, OrderedJson, Timestamp
from paceline_server.store.owned import ProjectRoot


class ImportDocument(ProjectRoot, Base):
    """A file as the importer read it; importing the same document again adds no row."""

    __tablename__ = "import_document"
    __table_args__ = (
        UniqueConstraint("project_id", "digest"),
        Index("ix_import_document_created_at", "project_id", "created_at"),
        Index("ix_import_document_measurement", "project_id", "measurement"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    format: Mapped[str]
    file: Mapped[str]
    title: Mapped[str]
    sha256: Mapped[str] = mapped_column(String, index=True)
    """Hash of the file's bytes."""
    digest: Mapped[str]
    """Hash of the document; it may differ for the same file, because a newer importer may read more from it."""
    document: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    devices: Mapped[list[str]] = mapped_column(OrderedJson)
    row_count: Mapped[int]
    original: Mapped[bytes | None] = mapped_column(LargeBinary, deferred=True)
    """The file's bytes in gzip, where they are kept."""
    original_bytes: Mapped[int | None]
    """How many they are, unpacked."""
    measurement: Mapped[str | None]
    """Hash of what was measured: tool, build, target, commit, branch and time; null where commit or time is unknown.
    Another document about it is a correction."""
    replaced_by: Mapped[str | None]
    """The import of the corrected file, whose points count instead of its own."""
    imported_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
