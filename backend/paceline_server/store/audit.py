"""The audit log: who changed what, in the order it happened.

Place: written by every feature in the transaction of the change, so that there is no change without its entry
and no entry without its change; read through `reports`. Invariant: rows are only added. Details are plain
JSON for a person: never a secret, never what can be read from the object itself.
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
    """Keep that `actor` (the principal's name) did `action` (a verb, as the API has it) to one object."""
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
