"""Decisions about imports: which document is new, and how its policy compares with what was measured here.

Place: above `detect`, whose advice it asks for through its service; nothing asks this feature. Invariants:
the same document is stored once; nothing imported becomes a sample, a point, a finding or an alert; deleting
a document leaves an entry in the audit log.
"""

from __future__ import annotations

import hashlib
import json

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.detect.policies import service as policies
from paceline_server.imports import queries, reading
from paceline_server.imports.schemas import (
    DocumentIn,
    ImportDetailOut,
    ImportedAdviceOut,
    ImportIn,
    ImportOut,
    PolicyIn,
)
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.tables.imports import ImportDocument

PARAM = "batch"
"""What the documents' rows vary, and what a policy to compare with must be about."""


def store(session: Session, body: ImportIn, who: str) -> tuple[ImportDetailOut, bool]:
    """(the stored document, whether it is new). The same document again changes nothing."""
    document = body.document.model_dump(mode="json")
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    found = queries.with_digest(session, digest)
    if found is not None:
        return _detail(session, found), False
    rows = reading.rows_of(body.document)
    row = ImportDocument(
        id=ids.new_id("imp"),
        format=body.document.format,
        file=body.document.file,
        title=body.title or body.document.file,
        sha256=body.document.sha256,
        digest=digest,
        document=document,
        devices=reading.devices_of(body.document),
        row_count=len(rows),
        note_count=sum(bool(one.notes) for one in rows),
        imported_by=who,
        created_at=clock.now(),
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
    said = {"name": row.title, "file": row.file, "rows": len(rows)}
    audit.record(session, who, "import.create", "import", row.id, said)
    return _detail(session, row), True


def list_documents(session: Session, *, form: str | None, limit: int, cursor: str | None) -> Page[ImportOut]:
    """Stored documents, the newest first."""
    return page(
        session, queries.documents(form), [ImportDocument.created_at, ImportDocument.id],
        lambda row: [row.created_at, row.id], _out, limit=limit, cursor=cursor,
    )  # fmt: skip


def get(session: Session, import_id: str) -> ImportDetailOut:
    """One document with its rows. Raises 404."""
    return _detail(session, _find(session, import_id))


def delete(session: Session, import_id: str, who: str) -> None:
    """Forget a document. Raises 404."""
    row = _find(session, import_id)
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
    document = DocumentIn.model_validate(row.document)
    return ImportDetailOut(
        **_out(row).model_dump(),
        rows=reading.rows_of(document),
        policy=reading.policy_of(document.log.policy),
        advice=_advice(session, document),
        other_lines=reading.other_lines(document),
        why_no_samples=document.why_no_samples,
    )


def _advice(session: Session, document: DocumentIn) -> list[ImportedAdviceOut]:
    """The document's policy against every target that was measured, then against its own devices."""
    policy = document.log.policy
    if policy is None:
        return []
    return [*_measured(session, policy), *map(_unmeasured, reading.devices_of(document))]


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
