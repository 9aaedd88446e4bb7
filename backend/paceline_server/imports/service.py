"""Decisions about imports: which document is new, and how its policy compares with what was measured here.

Place: above `detect`, whose advice it asks for through its service; nothing asks this feature. Invariants:
the same document is stored once; nothing of a log becomes a sample or a point, and nothing imported a finding
or an alert; criterion's samples become runs (`criterion/`), which stay; deleting a document leaves an entry
in the audit log.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.detect.policies import service as policies
from paceline_server.imports import queries, reading
from paceline_server.imports.criterion import service as criterion
from paceline_server.imports.criterion.schemas import (
    CriterionIn,
    ImportedRunOut,
    MeasuredOnIn,
)
from paceline_server.imports.schemas import (
    DocumentIn,
    ImportDetailOut,
    ImportedAdviceOut,
    ImportIn,
    ImportOut,
    PolicyIn,
)
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import ProblemError, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.tables.imports import ImportDocument

CRITERION = "criterion"
PARAM = "batch"
"""What the documents' rows vary, and what a policy to compare with must be about."""


def store(session: Session, body: ImportIn, who: str) -> tuple[ImportDetailOut, bool]:
    """(the stored document, whether it is new). The same document again changes nothing."""
    said = body.document
    digest = _digest(body)
    found = queries.with_digest(session, digest)
    if found is not None:
        return _detail(session, found), False
    row = ImportDocument(
        id=ids.new_id("imp"),
        format=said.format,
        file=said.file,
        title=body.title or said.file,
        sha256=said.sha256,
        digest=digest,
        imported_by=who,
        created_at=clock.now(),
        **(
            _of_log(said)
            if isinstance(said, DocumentIn)
            else _of_criterion(said, body.measured_on)
        ),
    )
    try:
        with session.begin_nested():
            session.add(row)
            session.flush()
    except IntegrityError:  # another request stored the same one meanwhile
        found = queries.with_digest(session, digest)
        if found is None:
            raise
        return _detail(session, found), False
    if isinstance(said, CriterionIn):
        runs = criterion.keep(session, said, body.measured_on, who, row.id)
        row.document = {
            **row.document,
            "runs": [one.model_dump(mode="json") for one in runs],
        }
    about = {"name": row.title, "file": row.file, "rows": row.row_count}
    audit.record(session, who, "import.create", "import", row.id, about)
    return _detail(session, row), True


def _digest(body: ImportIn) -> str:
    """Of what is stored: criterion's runs depend on where they were measured, too."""
    document = body.document.model_dump(mode="json")
    if isinstance(body.document, CriterionIn):
        document["measured_on"] = body.measured_on.model_dump(mode="json")
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _of_log(said: DocumentIn) -> dict[str, Any]:
    rows = reading.rows_of(said)
    return {
        "document": said.model_dump(mode="json"),
        "devices": reading.devices_of(said),
        "row_count": len(rows),
        "note_count": sum(bool(one.notes) for one in rows),
    }


def _of_criterion(said: CriterionIn, where: MeasuredOnIn) -> dict[str, Any]:
    """Its samples are kept as those of its runs, not a second time with the document."""
    return {
        "document": said.model_dump(mode="json", exclude={"series"}),
        "devices": [where.on],
        "row_count": len(said.series),
        "note_count": 0,
    }


def list_documents(
    session: Session, *, form: str | None, limit: int, cursor: str | None
) -> Page[ImportOut]:
    """Stored documents, the newest first."""
    return page(
        session,
        queries.documents(form),
        [ImportDocument.created_at, ImportDocument.id],
        lambda row: [row.created_at, row.id],
        _out,
        limit=limit,
        cursor=cursor,
    )


def get(session: Session, import_id: str) -> ImportDetailOut:
    """One document with its rows. Raises 404."""
    return _detail(session, _find(session, import_id))


def delete(session: Session, import_id: str, who: str) -> None:
    """Forget a document. Raises 404; 409 `samples_stay` for one whose samples became runs."""
    row = _find(session, import_id)
    if row.format == CRITERION:
        raise ProblemError(
            409,
            "samples_stay",
            "Its samples are those of runs, and samples are never taken away.",
        )
    said = {"name": row.title, "file": row.file, "sha256": row.sha256}
    audit.record(session, who, "import.remove", "import", row.id, said)
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
        note_count=row.note_count,
    )


def _detail(session: Session, row: ImportDocument) -> ImportDetailOut:
    if row.format == CRITERION:
        return _runs_of(row)
    document = DocumentIn.model_validate(row.document)
    return ImportDetailOut(
        **_out(row).model_dump(),
        rows=reading.rows_of(document),
        policy=reading.policy_of(document.log.policy),
        advice=_advice(session, document),
        other_lines=reading.other_lines(document),
        why_no_samples=document.why_no_samples,
    )


def _runs_of(row: ImportDocument) -> ImportDetailOut:
    """A document that has runs and no rows."""
    return ImportDetailOut(
        **_out(row).model_dump(),
        rows=[],
        policy=None,
        advice=[],
        other_lines=[],
        why_no_samples="",
        why_no_verdict=row.document["why_no_verdict"],
        runs=[ImportedRunOut.model_validate(one) for one in row.document["runs"]],
    )


def _advice(session: Session, document: DocumentIn) -> list[ImportedAdviceOut]:
    """The document's policy against every target that was measured, then against its own devices."""
    policy = document.log.policy
    if policy is None:
        return []
    return [
        *_measured(session, policy),
        *map(_unmeasured, reading.devices_of(document)),
    ]


def _measured(session: Session, policy: PolicyIn) -> list[ImportedAdviceOut]:
    judged = policies.judge_elsewhere(
        session,
        param=PARAM,
        reference=reading.REFERENCE,
        minimum=policy.minimum,
        warmup_rounds=policy.warmup_rounds,
    )
    return [
        ImportedAdviceOut(
            target_id=one.advice.target_id,
            target_name=one.advice.target_name,
            simulated=one.simulated,
            suite=one.advice.suite,
            policy=one.advice.policy,
            params=one.advice.params,
            measured_at=one.advice.measured_at,
            holds=one.holds,
            words=one.words,
            why=one.why,
        )
        for one in judged
    ]


def _unmeasured(device: str) -> ImportedAdviceOut:
    return ImportedAdviceOut(
        target_id=None,
        target_name=device,
        simulated=False,
        suite=None,
        policy=None,
        params={},
        measured_at=None,
        holds=None,
        words=f"On {device} nothing was measured here",
        why=f"{reading.INSUFFICIENT} of this device; its averages cannot say where native begins to win",
    )
