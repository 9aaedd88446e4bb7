"""The interface of an importer: how a format is stored, shown and deleted."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from paceline_contract.imported_series import LeftOut
from pydantic import BaseModel
from sqlalchemy.orm import Session

from paceline_server.imports.originals import Original
from paceline_server.imports.schemas import (
    ImportDetailOut,
    ImportedRunOut,
    ImportIn,
    ImportOut,
    LeftOutOut,
)
from paceline_server.store.tables.imports import ImportDocument

Document = TypeVar("Document", bound=BaseModel)


def make_digest(identity: object) -> str:
    """Return a hash of plain JSON, by which it is found again."""
    text = json.dumps(identity, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Importer(ABC, Generic[Document]):
    """An importer of one document format."""

    has_samples: ClassVar[bool] = False
    """Whether its samples become runs; such a document cannot be deleted."""

    def identity(self, document: Document, request: ImportIn) -> dict[str, Any]:  # noqa: ARG002 - for those it matters to
        """Return plain JSON that is equal for two uploads of the same document."""
        return document.model_dump(mode="json")

    @abstractmethod
    def columns(self, document: Document, request: ImportIn) -> dict[str, Any]:
        """Return the columns of a new row that depend on the format: the document itself, the name and hash of its file,
        devices and number of rows."""

    def make_original(self, document: Document) -> Original | None:  # noqa: ARG002 - for those that can be one
        """Return what is kept of a document whose file was not sent."""
        return None

    def store_samples(
        self,
        session: Session,
        document: Document,
        request: ImportIn,
        who: str,
        row: ImportDocument,
    ) -> None:
        """Store the samples of a new document; called once, after its row was added."""

    @abstractmethod
    def detail(
        self, session: Session, row: ImportDocument, summary: ImportOut
    ) -> ImportDetailOut:
        """Return the wire shape of a stored document with its rows."""


class SampleImporter(Importer[Document]):
    """An importer of documents with samples, which become runs."""

    has_samples = True

    @abstractmethod
    def store_runs(
        self,
        session: Session,
        document: Document,
        request: ImportIn,
        who: str,
        import_id: str,
    ) -> tuple[Sequence[ImportedRunOut], Sequence[LeftOut]]:
        """Store the samples and return (their runs, what is in none of them). Raises 404 for a suite that is not
        announced; 400 if nothing can be stored."""

    def store_samples(
        self,
        session: Session,
        document: Document,
        request: ImportIn,
        who: str,
        row: ImportDocument,
    ) -> None:
        runs, left_out = self.store_runs(session, document, request, who, row.id)
        row.document = {
            **row.document,
            "runs": [run.model_dump(mode="json") for run in runs],
            "left_out": [
                *row.document["left_out"],
                *(msgspec.to_builtins(entry) for entry in left_out),
            ],
        }
        row.row_count = sum(len(run.series) for run in runs)

    def detail(
        self,
        session: Session,  # noqa: ARG002 - of the interface
        row: ImportDocument,
        summary: ImportOut,
    ) -> ImportDetailOut:
        document = row.document
        return ImportDetailOut(
            **summary.model_dump(),
            rows=[],
            policy=None,
            advice=[],
            other_lines=[],
            why_no_samples="",
            why_no_verdict=document["why_no_verdict"],
            runs=[ImportedRunOut.model_validate(run) for run in document["runs"]],
            left_out=[
                LeftOutOut.model_validate(entry)
                for entry in document.get("left_out", [])
            ],
            tool=document.get("tool"),
            facts=document.get("facts", {}),
            judged=document.get("judged", False),
            notifies=document.get("notifies", False),
            replaced_by=row.replaced_by,
        )
