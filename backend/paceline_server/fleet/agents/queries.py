"""Holds the SQL of agents and their credentials; returns rows or None."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from paceline_server.store.tables.accounts import Token
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Agent, Target, TargetClaim
from paceline_server.store.tables.projects import Project

NAMESAKES = 20
"""At most this many agents of one name are read."""


def lock_agent(session: Session, agent_id: str) -> Agent | None:
    """Return an enrolled agent, locked until the transaction ends."""
    query = select(Agent).where(Agent.id == agent_id, Agent.id != IMPORTS_AGENT)
    return session.scalars(
        query.with_for_update(key_share=True).execution_options(populate_existing=True)
    ).one_or_none()


def agents_called(session: Session, name: str) -> list[Agent]:
    """Return agents with this name that are not revoked, newest first; names are not unique."""
    query = select(Agent).where(
        Agent.name == name, Agent.revoked_at.is_(None), Agent.id != IMPORTS_AGENT
    )
    return list(session.scalars(query.order_by(Agent.id.desc()).limit(NAMESAKES)))


def newest_enrolled_by(session: Session, who: str) -> Agent | None:
    """Return the newest agent that enrolled with a code of `who`."""
    query = select(Agent).where(Agent.enrolled_by == who)
    return session.scalars(query.order_by(Agent.id.desc()).limit(1)).one_or_none()


def credentials(session: Session, agent_ids: Collection[str]) -> dict[str, list[Token]]:
    """Return the credentials of these agents that are not revoked, by agent id, the oldest first."""
    query = select(Token).where(
        Token.agent_id.in_(list(agent_ids)), Token.revoked_at.is_(None)
    )
    by_agent: dict[str, list[Token]] = {}
    for token in session.scalars(query.order_by(Token.created_at, Token.id)):
        by_agent.setdefault(token.agent_id or "", []).append(token)
    return by_agent


def targets_of(session: Session, agent_ids: Collection[str]) -> dict[str, list[Target]]:
    """Return targets by agent id, hosts before devices."""
    query = select(Target).where(Target.agent_id.in_(list(agent_ids)))
    by_agent: dict[str, list[Target]] = {}
    for target in session.scalars(query.order_by(Target.kind.desc(), Target.id)):
        by_agent.setdefault(target.agent_id, []).append(target)
    return by_agent


def project_names(session: Session) -> dict[str, str]:
    """Return the names of all projects by id."""
    return {
        row.id: row.name for row in session.execute(select(Project.id, Project.name))
    }


def give_targets(session: Session, before: str, after: str) -> None:
    """Give every target of the agent `before` to the agent `after`."""
    session.execute(
        update(Target).where(Target.agent_id == before).values(agent_id=after)
    )


def claims(state: str | None) -> Select[Any]:
    query = select(TargetClaim)
    return query if state is None else query.where(TargetClaim.state == state)
