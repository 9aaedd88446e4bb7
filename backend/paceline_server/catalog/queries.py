"""All SQL of the catalogue."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from paceline_server.store.tables.catalog import Suite, SuiteAgent
from paceline_server.store.tables.jobs import BASELINE_TRIGGERS, Run


def suites() -> Select[Any]:
    return select(Suite)


def suite(session: Session, name: str) -> Suite | None:
    return session.get(Suite, name)


def last_runs(session: Session, suite: str | None = None) -> dict[str, datetime]:
    """When the newest run of each suite (or of one) was requested, by suite; of those that people, clocks and
    CI ask for: what Paceline asks itself, or another tool measured, moves nobody's page."""
    newest = func.max(Run.created_at, type_=Run.created_at.type)
    query = select(Run.suite, newest.label("at")).where(
        Run.trigger.in_(BASELINE_TRIGGERS)
    )
    if suite is not None:
        query = query.where(Run.suite == suite)
    return {row.suite: row.at for row in session.execute(query.group_by(Run.suite))}


def upsert_suite(session: Session, values: dict[str, Any]) -> None:
    """Keep the newest announcement of a suite."""
    insert = (
        postgresql.insert
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert
    )
    statement = insert(Suite).values(**values)
    changed = {key: statement.excluded[key] for key in values if key != "name"}
    session.execute(
        statement.on_conflict_do_update(index_elements=["name"], set_=changed)
    )


def remember_agents_suites(
    session: Session, agent_id: str, names: list[str], at: datetime
) -> None:
    """Make `names` the suites this agent can run."""
    session.execute(
        delete(SuiteAgent).where(
            SuiteAgent.agent_id == agent_id, SuiteAgent.suite.not_in(names)
        )
    )
    insert = (
        postgresql.insert
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert
    )
    for name in names:
        statement = insert(SuiteAgent).values(suite=name, agent_id=agent_id, seen_at=at)
        session.execute(
            statement.on_conflict_do_update(
                index_elements=["suite", "agent_id"], set_={"seen_at": at}
            )
        )
