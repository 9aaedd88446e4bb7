"""Writes the audit log: who changed what, in order.

Every feature writes its entry in the transaction of the change, so there is neither one without the other. Entries
are only added. Details are plain JSON for people, without secrets and without what the object itself shows.
"""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy.orm import Session

from paceline_server.kernel import clock
from paceline_server.store.tables.rules import AuditEntry

ObjectKind = Literal[
    "alert",
    "rule",
    "schedule",
    "benchmark",
    "token",
    "triage_batch",
    "target",
    "import",
]


def record(  # noqa: PLR0917 - the fields of one entry, in the log's order
    session: Session,
    actor: str,
    action: str,
    object_kind: ObjectKind,
    object_id: str,
    detail: dict[str, Any] | None = None,
) -> None:
    """Record that `actor` (a principal's name) did `action` (a verb of the API) to one object."""
    session.add(
        AuditEntry(
            at=clock.now(),
            actor=actor,
            action=action,
            object_kind=object_kind,
            object_id=object_id,
            detail=detail or {},
        )
    )
