"""Holds all SQL of projects; returns rows or None."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, exists, func, or_, select
from sqlalchemy.orm import Session

from paceline_server.accounts.names import email_key, name_key
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.projects import Project, ProjectMember, TargetGrant


def project_named(session: Session, name: str) -> Project | None:
    return session.scalars(select(Project).where(Project.name == name)).one_or_none()


def lock_project(session: Session, project_id: str) -> Project:
    """Return an existing project, locked until the transaction ends. Changes of its members need this lock."""
    query = select(Project).where(Project.id == project_id)
    return session.scalars(
        query.with_for_update(key_share=True).execution_options(populate_existing=True)
    ).one()


def projects_visible(account_id: str | None, *, every: bool) -> Select[Any]:
    """Return a query for the projects an account is a member of and public ones; with `every`, for all projects."""
    query = select(Project)
    if every:
        return query
    member = exists().where(
        ProjectMember.project_id == Project.id,
        ProjectMember.account_id == account_id,
    )
    return query.where(or_(Project.visibility == "public", member))


def members(project_id: str) -> Select[Any]:
    return select(ProjectMember).where(ProjectMember.project_id == project_id)


def member(session: Session, project_id: str, account_id: str) -> ProjectMember | None:
    return session.get(ProjectMember, (project_id, account_id))


def accounts(session: Session, account_ids: Collection[str]) -> dict[str, Account]:
    query = select(Account).where(Account.id.in_(list(account_ids)))
    return {account.id: account for account in session.scalars(query)}


def account(session: Session, account_id: str) -> Account | None:
    return session.get(Account, account_id)


def account_called(session: Session, name_or_email: str) -> Account | None:
    """Return the account with this name or e-mail address, in any case."""
    called = or_(
        Account.name_key == name_key(name_or_email),
        Account.email == email_key(name_or_email),
    )
    query = select(Account).where(called).order_by(Account.id).limit(1)
    return session.scalars(query).one_or_none()


def count_admins(session: Session, project_id: str) -> int:
    """Return the number of a project's admins who can sign in."""
    query = (
        select(func.count())
        .select_from(ProjectMember)
        .join(Account, Account.id == ProjectMember.account_id)
        .where(
            ProjectMember.project_id == project_id,
            ProjectMember.role == "admin",
            Account.disabled_at.is_(None),
        )
    )
    return session.execute(query).scalar_one()


def targets() -> Select[Any]:
    """Return a query for every target of the installation."""
    return select(Target)


def target(session: Session, target_id: str) -> Target | None:
    return session.get(Target, target_id)


def lock_agent(session: Session, agent_id: str) -> Agent:
    """Return an existing agent, locked until the transaction ends. Changes of its grant need this lock."""
    query = select(Agent).where(Agent.id == agent_id)
    return session.scalars(
        query.with_for_update(key_share=True).execution_options(populate_existing=True)
    ).one()


def granted_target_ids(
    session: Session, project_id: str, target_ids: Collection[str]
) -> set[str]:
    """Return the ids of those of these targets that a project may use."""
    query = select(TargetGrant.target_id).where(
        TargetGrant.project_id == project_id,
        TargetGrant.target_id.in_(list(target_ids)),
    )
    return set(session.scalars(query))


def grant(session: Session, project_id: str, target_id: str) -> TargetGrant | None:
    return session.get(TargetGrant, (target_id, project_id))
