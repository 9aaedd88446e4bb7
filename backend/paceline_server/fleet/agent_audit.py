"""Records what is done to agents in the audit log of every project that an agent acts for.

An agent belongs to no project, and the people of each one it works for should know who let it in and who stopped it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from paceline_server.fleet import queries
from paceline_server.store import access, audit
from paceline_server.store.tables.fleet import Agent, Target


def record(
    session: Session,
    agent: Agent,
    actor: str,
    action: str,
    detail: dict[str, Any] | None = None,
) -> None:
    """Record `action` on an agent; the session sees its projects."""
    for project_id in agent.granted_projects:
        with access.within_project(session, project_id):
            audit.record(
                session,
                actor,
                action,
                "agent",
                agent.id,
                {"name": agent.name, **(detail or {})},
            )


def record_target(
    session: Session,
    target: Target,
    actor: str,
    action: str,
    detail: dict[str, Any],
) -> None:
    """Record what was decided about a target, in every project that it is granted to."""
    for project_id in queries.projects_of_target(session, target.id):
        with access.within_project(session, project_id):
            audit.record(
                session,
                actor,
                action,
                "target",
                target.id,
                {"name": target.name, **detail},
            )
