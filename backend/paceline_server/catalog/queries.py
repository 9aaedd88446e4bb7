"""Holds the SQL of the catalogue."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, select, union, update
from sqlalchemy.orm import Session, defer, undefer

from paceline_server.store.insert import insert_into
from paceline_server.store.tables.catalog import Suite, SuiteAgent
from paceline_server.store.tables.jobs import (
    BASELINE_TRIGGERS,
    IMPORTED,
    RECORDED,
    Run,
)


def suites() -> Select[Any]:
    return select(Suite)


_WITH_MANIFEST = (IMPORTED, RECORDED)
"""Triggers of runs that came with their manifest, so that their suite need not be announced."""
_known = union(
    select(Suite.name), select(Run.suite).where(Run.trigger.in_(_WITH_MANIFEST))
).subquery("known_suite")
KNOWN_NAME = _known.c.name
"""The name of a suite that was announced, imported or recorded."""


def known_names() -> Select[Any]:
    """Return a query for the names of all suites that were announced or imported."""
    return select(KNOWN_NAME)


def suites_called(session: Session, names: Collection[str]) -> dict[str, Suite]:
    """Return those of these suites that were announced, by name."""
    rows = session.scalars(select(Suite).where(Suite.name.in_(names)))
    return {row.name: row for row in rows}


def newest_imported_runs(session: Session, suite: str, limit: int) -> list[Run]:
    """Return the newest imported or recorded runs of a suite with their manifests, without those that a corrected file
    replaced."""
    query = (
        select(Run)
        .where(
            Run.suite == suite,
            Run.trigger.in_(_WITH_MANIFEST),
            Run.superseded_by.is_(None),
        )
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(limit)
        .options(undefer(Run.manifest))
    )
    return list(session.scalars(query))


def suite(session: Session, name: str) -> Suite | None:
    return session.scalars(select(Suite).where(Suite.name == name)).one_or_none()


def suite_names(session: Session, limit: int) -> list[str]:
    """Return the first names in alphabetical order."""
    return list(session.scalars(select(Suite.name).order_by(Suite.name).limit(limit)))


def last_runs(session: Session, suite: str | None = None) -> dict[str, datetime]:
    """Return when the newest run of each suite was requested, by suite.

    Only runs of people, schedules and CI count, not confirmations, bisections or imports."""
    newest = func.max(Run.created_at, type_=Run.created_at.type)
    query = select(Run.suite, newest.label("at")).where(
        Run.trigger.in_(BASELINE_TRIGGERS)
    )
    if suite is not None:
        query = query.where(Run.suite == suite)
    return {row.suite: row.at for row in session.execute(query.group_by(Run.suite))}


def suite_without_manifest(session: Session, name: str) -> Suite | None:
    """Return a suite whose manifest is loaded only when accessed, because heartbeats compare only its hash."""
    query = select(Suite).where(Suite.name == name).options(defer(Suite.manifest))
    return session.scalars(query).one_or_none()


def insert_suite(session: Session, values: dict[str, Any]) -> None:
    """Store a suite that is announced for the first time. If two agents do so at once, the second changes nothing."""
    statement = insert_into(session, Suite).values(**values)
    session.execute(
        statement.on_conflict_do_nothing(index_elements=["project_id", "name"])
    )


def update_suite(session: Session, name: str, values: dict[str, Any]) -> None:
    """Store the fields that a newer announcement changed."""
    session.execute(
        update(Suite)
        .where(Suite.name == name)
        .values(**values)
        .execution_options(synchronize_session=False)
    )


def agents_of(session: Session, suite: str) -> set[str]:
    """Return the ids of the agents that announce a suite."""
    query = select(SuiteAgent.agent_id).where(SuiteAgent.suite == suite)
    return set(session.scalars(query))


def replace_suites_of_agent(
    session: Session, agent_id: str, repositories: Mapping[str, str], at: datetime
) -> None:
    """Replace the suites that an agent can run. `repositories`: by suite, the agent's name for its repository."""
    session.execute(
        delete(SuiteAgent).where(
            SuiteAgent.agent_id == agent_id,
            SuiteAgent.suite.not_in(list(repositories)),
        )
    )
    for name, repository in repositories.items():
        statement = insert_into(session, SuiteAgent).values(
            suite=name, agent_id=agent_id, repository=repository, seen_at=at
        )
        session.execute(
            statement.on_conflict_do_update(
                index_elements=["project_id", "suite", "agent_id"],
                set_={"seen_at": at, "repository": repository},
            )
        )
