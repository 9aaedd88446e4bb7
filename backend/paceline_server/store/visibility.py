"""Limits what a session reads and writes to the projects of its access (I18).

Every ORM statement of a limited session gets a criterion for each table it names, also in joins, aggregates,
subqueries, `session.get` and bulk changes. A statement outside the ORM (Core, text) is refused if it names a table of
projects. On PostgreSQL, row-level security backs both up (`store/row_security.py`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Insert,
    Table,
    TextClause,
    and_,
    or_,
    select,
)
from sqlalchemy.orm import (
    ORMExecuteState,
    Session,
    UOWTransaction,
    attributes,
    with_loader_criteria,
)
from sqlalchemy.sql.base import ExecutableOption
from sqlalchemy.sql.visitors import iterate

from paceline_server.store import access
from paceline_server.store.access import ForeignProjectError
from paceline_server.store.base import Base
from paceline_server.store.owned import (
    Owned,
    PerhapsOwned,
    ProjectOwned,
    TargetOwned,
)
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.store.tables.projects import ProjectMember, TargetGrant


class UnlimitedStatementError(Exception):
    """A limited session got a statement whose rows it cannot limit. This is a bug of ours."""


@lru_cache(maxsize=1024)
def _criteria(
    projects: tuple[str, ...], has_fleet: bool
) -> tuple[ExecutableOption, ...]:
    ids = list(projects)
    granted = select(TargetGrant.target_id).where(TargetGrant.project_id.in_(ids))
    members = select(ProjectMember.account_id).where(ProjectMember.project_id.in_(ids))
    about_target: ColumnElement[bool] = LiveEvent.project_id.is_(None)
    if not has_fleet:
        about_target = and_(about_target, LiveEvent.target_id.in_(granted))
    limits: list[tuple[Any, Any]] = [
        (ProjectOwned, lambda table: table.project_id.in_(ids)),
        (PerhapsOwned, lambda table: table.project_id.in_(ids)),
        (LiveEvent, or_(LiveEvent.project_id.in_(ids), about_target)),
        (Account, Account.id.in_(members)),
    ]
    if not has_fleet:
        drivers = select(Target.agent_id).where(Target.id.in_(granted))
        limits += [
            (TargetOwned, lambda table: table.target_id.in_(granted)),
            (Target, Target.id.in_(granted)),
            (Agent, Agent.id.in_(drivers)),
        ]
    return tuple(
        with_loader_criteria(entity, limit, include_aliases=True)
        for entity, limit in limits
    )


@lru_cache(maxsize=1)
def owned_tables() -> frozenset[Table]:
    """Return the tables whose rows are limited: those of projects and targets, agents and accounts."""
    return frozenset(
        mapper.local_table
        for mapper in Base.registry.mappers
        if issubclass(mapper.class_, (Owned, TargetOwned, Target, Agent, Account))
        and isinstance(mapper.local_table, Table)
    )


def limit_statement(state: ORMExecuteState) -> None:
    """Add the criteria of the session's access to a statement. Raises UnlimitedStatementError for a statement that
    cannot take them, or for an insert that names a project."""
    limits = access.of_session(state.session)
    if limits.projects is None:
        return
    statement = state.statement
    if isinstance(statement, Insert):
        _refuse_named_project(statement, state.parameters)
    elif state.is_orm_statement:
        if not state.is_column_load:
            state.statement = statement.options(
                *_criteria(limits.projects, limits.has_fleet)
            )
    else:
        _refuse_owned(statement)


def _refuse_named_project(statement: Insert, parameters: Any) -> None:
    if statement.table not in owned_tables():
        return
    rows = parameters if isinstance(parameters, list) else [parameters or {}]
    named = any("project_id" in row for row in rows)
    values = getattr(statement, "_values", None) or {}
    if named or any(
        getattr(column, "key", column) == "project_id" for column in values
    ):
        raise UnlimitedStatementError(
            f"an insert into {statement.table.name} names a project; the session does"
        )


def _refuse_owned(statement: Any) -> None:
    if isinstance(statement, TextClause):
        raise UnlimitedStatementError("a limited session takes no textual statement")
    for element in iterate(statement):
        if isinstance(element, Table) and element in owned_tables():
            raise UnlimitedStatementError(
                f"the statement reads the table {element.name} itself; select its class instead"
            )


def refuse_foreign_rows(session: Session, _: UOWTransaction, __: Any) -> None:
    """Raise ForeignProjectError if a row of another project would be added or a row's project changed."""
    limits = access.of_session(session)
    for row in session.new:
        project_id = row.__dict__.get("project_id") if isinstance(row, Owned) else None
        if isinstance(project_id, str) and not limits.includes(project_id):
            raise ForeignProjectError(project_id)
    for row in session.dirty:
        if isinstance(row, Owned):
            history = attributes.get_history(row, "project_id")
            if history.added and history.deleted:
                raise ForeignProjectError(str(history.added[0]))
