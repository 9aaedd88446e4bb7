"""Resolves the project of a request and what its principal may do there.

A token belongs to one project. A person chooses with `?project=NAME`; without it the project is `default` if they
are a member of it, else their only one. Anybody may read a public project that the request names. A project that a
principal may not see answers 404, whether it exists or not.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy.orm import Session

from paceline_server.accounts import permissions, queries
from paceline_server.accounts.permissions import Role
from paceline_server.accounts.principal import Principal, ProjectHead
from paceline_server.kernel.errors import (
    ProblemError,
    forbidden,
    not_found,
    unauthenticated,
)
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.tables.accounts import Account, Token
from paceline_server.store.tables.projects import Project

ANYBODY = Principal("anonymous", frozenset(), "nothing", None, None, None)


def resolve_anonymous(session: Session, project_name: str | None) -> Principal:
    """Return the principal of a visitor who did not sign in, in the public project that the request names. Raises 401
    for any other project."""
    project = (
        None if project_name is None else queries.project_named(session, project_name)
    )
    if project is None or project.visibility != "public":
        raise unauthenticated()
    return replace(
        ANYBODY,
        permissions=permissions.ANONYMOUS_PERMISSIONS,
        project=_project_head(project),
    )


def resolve_account(
    session: Session, account: Account, project_name: str | None, *, optional: bool
) -> Principal:
    """Return the principal of a person, in the project the request names or else in their own.

    `optional`: the route works without a project. Raises 404 for a project the person may not see, 400
    `project_needed` if several are possible, 403 `no_project` if none is.
    """
    person = Principal(account.name, frozenset(), "session", account.id, None, None)
    if account.is_installation_admin:
        person = replace(person, permissions=permissions.OF_INSTALLATION_ADMIN)
    if project_name is not None:
        return _resolve_in_project(session, person, account, project_name)
    memberships = queries.memberships(session, account.id, limit=2)
    chosen = next(
        (member for member in memberships if member[0].id == DEFAULT_PROJECT_ID),
        memberships[0] if len(memberships) == 1 else None,
    )
    if chosen is not None:
        return _with_role(person, *chosen)
    if account.is_installation_admin:
        default = session.get_one(Project, DEFAULT_PROJECT_ID)
        return _with_role(person, default, None)
    if optional:
        return person
    if memberships:
        raise ProblemError(
            400,
            "project_needed",
            "You are a member of several projects: say which with ?project=NAME.",
        )
    raise forbidden(
        "You are not a member of any project yet: ask an admin to add you.",
        "no_project",
    )


def _resolve_in_project(
    session: Session, person: Principal, account: Account, project_name: str
) -> Principal:
    project = queries.project_named(session, project_name)
    role = (
        None
        if project is None
        else queries.role_in_project(session, project.id, account.id)
    )
    if project is not None and (role is not None or account.is_installation_admin):
        return _with_role(person, project, role)
    if project is not None and project.visibility == "public":
        return replace(
            person,
            permissions=permissions.ANONYMOUS_PERMISSIONS,
            project=_project_head(project),
        )
    raise not_found("project", project_name)


def _with_role(person: Principal, project: Project, role: Role | None) -> Principal:
    of_role = frozenset() if role is None else permissions.of_role(role)
    return replace(
        person,
        permissions=person.permissions | of_role,
        project=_project_head(project),
        role=role,
    )


def resolve_token(
    session: Session, token: Token, account: Account | None, project_name: str | None
) -> Principal:
    """Return the principal of a token, with those of its permissions that its maker still has. Raises 401 if its maker
    left the project or was disabled, 404 if the request names another project."""
    held = permissions.keep_known(token.permissions)
    program = Principal(
        token.name, held, "token", token.account_id, token.id, token.agent_id
    )
    if token.project_id is None:
        return program
    project = session.get_one(Project, token.project_id)
    if project_name is not None and project_name != project.name:
        raise not_found("project", project_name)
    if account is not None:
        role = queries.role_in_project(session, project.id, account.id)
        if account.disabled_at is not None or (
            role is None and not account.is_installation_admin
        ):
            raise unauthenticated(
                "This token is not valid any more: its maker has left the project."
            )
        maker = _with_role(
            replace(
                program,
                permissions=permissions.OF_INSTALLATION_ADMIN
                if account.is_installation_admin
                else frozenset(),
            ),
            project,
            role,
        )
        program = replace(program, permissions=held & maker.permissions)
    return replace(program, project=_project_head(project))


def projects_of_agent(session: Session, agent_id: str) -> tuple[str, ...]:
    """Return the ids of the projects that an agent's grant names."""
    return tuple(queries.projects_granted_to_agent(session, agent_id))


def _project_head(project: Project) -> ProjectHead:
    return ProjectHead(project.id, project.name)
