"""Serves projects over HTTP: the list, settings, members and granted targets of the request's project.

These routes read accounts and targets of the whole installation, so their sessions see every project; each route works
in the project of its principal.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from paceline_server.accounts.auth import Principal, require
from paceline_server.accounts.idempotency import Once
from paceline_server.kernel.errors import forbidden
from paceline_server.kernel.wire import Page
from paceline_server.projects import service
from paceline_server.projects.schemas import (
    GrantedTargetOut,
    MemberIn,
    MemberOut,
    ProjectIn,
    ProjectOut,
    ProjectPatchIn,
    RoleIn,
)
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import SystemSession

router = APIRouter(tags=["projects"])

SignedIn = Annotated[Principal, Depends(require())]
MembersReader = Annotated[Principal, Depends(require("members.read"))]
MembersWriter = Annotated[Principal, Depends(require("members.write"))]
ProjectWriter = Annotated[Principal, Depends(require("project.write"))]
Admin = Annotated[Principal, Depends(require("installation.admin"))]


@router.get("/projects")
def list_projects(
    who: SignedIn, session: SystemSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[ProjectOut]:
    """List projects you are a member of and public ones, by name."""
    return service.list_projects(session, who, limit=limit, cursor=cursor)


@router.post("/projects", status_code=201)
def create_project(
    body: ProjectIn, who: Admin, session: SystemSession, once: Once
) -> ProjectOut:
    """Create a project, which has no members and no targets yet."""
    return once.answer(
        session, ProjectOut, lambda: service.create_project(session, body, who.name)
    )


@router.patch("/project")
def change_project(
    body: ProjectPatchIn, who: ProjectWriter, session: SystemSession
) -> ProjectOut:
    """Change the settings of the project."""
    return service.change_project(session, _project_of(who), body, who.name)


@router.get("/members")
def list_members(
    who: MembersReader, session: SystemSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[MemberOut]:
    """List the members of the project with their roles."""
    return service.list_members(session, _project_of(who), limit=limit, cursor=cursor)


@router.post("/members", status_code=201)
def add_member(
    body: MemberIn, who: MembersWriter, session: SystemSession, once: Once
) -> MemberOut:
    """Make the owner of an account a member; if they are a member already, they get the new role."""
    return once.answer(
        session,
        MemberOut,
        lambda: service.add_member(
            session, _project_of(who), body.account, body.role, who.name, principal=who
        ),
    )


@router.put("/members/{account_id}")
def change_role(
    account_id: str, body: RoleIn, who: MembersWriter, session: SystemSession
) -> MemberOut:
    """Give a member another role. 409 `last_admin` for the project's last admin."""
    return service.change_role(session, _project_of(who), account_id, body.role, who)


@router.delete("/members/{account_id}", status_code=204)
def remove_member(account_id: str, who: MembersWriter, session: SystemSession) -> None:
    """Remove a member from the project at once. 409 `last_admin` for the project's last admin."""
    service.remove_member(session, _project_of(who), account_id, who.name)


@router.get("/project/targets")
def list_grantable_targets(
    who: Admin, session: SystemSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[GrantedTargetOut]:
    """List every target of the installation, and whether the project may use it."""
    return service.list_targets(session, _project_of(who), limit=limit, cursor=cursor)


@router.put("/project/targets/{target_id}", status_code=204)
def grant_target(target_id: str, who: Admin, session: SystemSession) -> None:
    """Grant a target to the project, which can then see and use it."""
    service.grant_target(session, _project_of(who), target_id, who.name)


@router.delete("/project/targets/{target_id}", status_code=204)
def withdraw_target(target_id: str, who: Admin, session: SystemSession) -> None:
    """Withdraw a target from the project; its results stay."""
    service.withdraw_target(session, _project_of(who), target_id, who.name)


def _project_of(principal: Principal) -> str:
    if principal.project is None:
        raise forbidden("Choose a project with ?project=NAME.", "no_project")
    return principal.project.id
