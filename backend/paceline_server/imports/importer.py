"""The interface of an importer: what one format needs to be stored, shown and deleted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from paceline_server.imports.schemas import ImportDetailOut, ImportOut, MeasuredOnIn
from paceline_server.store.tables.imports import ImportDocument

Document = TypeVar("Document", bound=BaseModel)


class Importer(ABC, Generic[Document]):
    """One format of imported documents."""

    has_samples: ClassVar[bool] = False
    """Its samples become runs, which stay when somebody asks to delete the document."""

    def identity(self, document: Document, where: MeasuredOnIn) -> dict[str, Any]:  # noqa: ARG002 - for those it matters to
        """What two uploads must agree in to be the same document, as plain JSON."""
        return document.model_dump(mode="json")

    @abstractmethod
    def columns(self, document: Document, where: MeasuredOnIn) -> dict[str, Any]:
        """The columns `document`, `devices`, `row_count` and `note_count` of a new row."""

    def store_samples(
        self,
        session: Session,
        document: Document,
        where: MeasuredOnIn,
        who: str,
        row: ImportDocument,
    ) -> None:
        """Store what belongs into other tables; called once, after the row was added."""

    @abstractmethod
    def detail(
        self, session: Session, row: ImportDocument, summary: ImportOut
    ) -> ImportDetailOut:
        """A stored document as people read it."""
