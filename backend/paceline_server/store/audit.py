"""Writes the audit log, and reads it for those who write it: who changed what, in order.

Every feature writes its entry in the transaction of the change, so there is neither one without the other. Entries
are only added. Details are plain JSON for people, without secrets and without what the object itself shows.
"""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import null, select
from sqlalchemy.orm import Session

from paceline_server.kernel import clock
from paceline_server.store import access
from paceline_server.store.access import Actor
from paceline_server.store.tables.audit import AuditEntry

ObjectKind = Literal[
    "alert",
    "rule",
    "schedule",
    "suite",
    "benchmark",
    "token",
    "account",
    "project",
    "member",
    "agent",
    "enrolment_code",
    "triage_batch",
    "target",
    "import",
    "waiver",
    "channel",
]


def record(  # noqa: PLR0917 - the fields of one entry, in the log's order
    session: Session,
    actor: str,
    action: str,
    object_kind: ObjectKind,
    object_id: str,
    detail: dict[str, Any] | None = None,
) -> None:
    """Record that `actor` (a principal's name) did `action` (a verb of the API) to one object.

    Kind and id of the actor are those of the request; a name that is not its principal's is the system's. Without
    one project the entry is of the installation.
    """
    limits = access.of_session(session)
    who = limits.actor
    if who is None or who.name != actor:
        who = Actor("system", None, actor)
    entry = AuditEntry(
        at=clock.now(),
        actor=who.name,
        actor_kind=who.kind,
        actor_id=who.id,
        action=action,
        object_kind=object_kind,
        object_id=object_id,
        detail=detail or {},
    )
    if limits.project is None:
        entry.project_id = null()
    session.add(entry)


def details(
    session: Session, action: str, object_kind: ObjectKind, object_id: str
) -> list[dict[str, Any]]:
    """Return the details of every entry of one action about one object."""
    query = select(AuditEntry.detail).where(
        AuditEntry.object_id == object_id,
        AuditEntry.object_kind == object_kind,
        AuditEntry.action == action,
    )
    return list(session.scalars(query))
