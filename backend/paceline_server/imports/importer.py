"""The interface of an importer: how a format is stored, shown and deleted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from paceline_server.imports.schemas import ImportDetailOut, ImportOut, MeasuredOnIn
from paceline_server.store.tables.imports import ImportDocument

Document = TypeVar("Document", bound=BaseModel)


class Importer(ABC, Generic[Document]):
    """An importer of one document format."""

    has_samples: ClassVar[bool] = False
    """Whether its samples become runs; such a document cannot be deleted."""

    def identity(self, document: Document, where: MeasuredOnIn) -> dict[str, Any]:  # noqa: ARG002 - for those it matters to
        """Return plain JSON that is equal for two uploads of the same document."""
        return document.model_dump(mode="json")

    @abstractmethod
    def columns(self, document: Document, where: MeasuredOnIn) -> dict[str, Any]:
        """Return the columns `document`, `devices` and `row_count` of a new row."""

    def store_samples(
        self,
        session: Session,
        document: Document,
        where: MeasuredOnIn,
        who: str,
        row: ImportDocument,
    ) -> None:
        """Store the samples of a new document; called once, after its row was added."""

    @abstractmethod
    def detail(
        self, session: Session, row: ImportDocument, summary: ImportOut
    ) -> ImportDetailOut:
        """Return the wire shape of a stored document with its rows."""
