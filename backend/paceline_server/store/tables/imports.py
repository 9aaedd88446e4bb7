"""Documents read from other tools' output: averages, or what became runs. Nothing here is ever judged."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, OrderedJson, Timestamp


class ImportDocument(Base):
    """One file as the importer read it; the same document again is the same row."""

    __tablename__ = "import_document"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    format: Mapped[str]
    file: Mapped[str]
    title: Mapped[str]
    sha256: Mapped[str] = mapped_column(String, index=True)
    """Of the file's bytes."""
    digest: Mapped[str] = mapped_column(String, unique=True)
    """Of the document: a newer importer may read more out of the same file."""
    document: Mapped[dict[str, Any]] = mapped_column(OrderedJson)
    devices: Mapped[list[str]] = mapped_column(OrderedJson)
    row_count: Mapped[int]
    note_count: Mapped[int]
    """Rows that something in the document disagrees with."""
    imported_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp, index=True)
