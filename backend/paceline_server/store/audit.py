"""Writes the audit log, which says who changed what, in order.

Every feature writes its entry in the transaction of the change, so neither exists without the other. Entries are never
changed. Details are plain JSON for people, without secrets and without what the object itself shows.
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

    Kind and id of the actor are those of the request's principal if it has that name, else the actor is part of the
    system. An entry of a session without a single project belongs to the installation.
    """
    limits = access.of_session(session)
    author = limits.actor
    if author is None or author.name != actor:
        author = Actor("system", None, actor)
    entry = AuditEntry(
        at=clock.now(),
        actor=author.name,
        actor_kind=author.kind,
        actor_id=author.id,
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
