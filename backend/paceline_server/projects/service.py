"""Creates projects, changes their members, and grants them targets.

A project always keeps an admin who can sign in. Members and grants are changed under a lock of their project, so if two
admins remove each other, one of them is refused. Sessions here see all accounts; each function works in the project it
is given.
"""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.accounts.permissions import ROLES, Role
from paceline_server.accounts.principal import Principal
from paceline_server.accounts.schemas import AccountOut, TokenCreatedOut, TokenIn
from paceline_server.accounts.service import store_token
from paceline_server.accounts.sessions import CHANNEL
from paceline_server.kernel import clock
from paceline_server.kernel.errors import conflict, forbidden, not_found
from paceline_server.kernel.ids import new_id
from paceline_server.kernel.wire import Page
from paceline_server.projects import queries
from paceline_server.projects.schemas import (
    GrantedTargetOut,
    MemberOut,
    ProjectIn,
    ProjectOut,
    ProjectPatchIn,
)
from paceline_server.store import access, audit
from paceline_server.store.page import page
from paceline_server.store.session import hint
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.fleet import IMPORTS_AGENT, Target
from paceline_server.store.tables.projects import Project, ProjectMember, TargetGrant


def create_project(session: Session, spec: ProjectIn, actor: str) -> ProjectOut:
    """Create a project without members and targets. Raises 409 `name_taken`."""
    project = Project(
        id=new_id("prj"),
        name=spec.name,
        title=spec.title,
        default_branch=spec.default_branch,
        visibility=spec.visibility,
        retention_days=None,
        created_at=clock.now(),
    )
    try:
        with session.begin_nested():
            session.add(project)
            session.flush()
    except IntegrityError:
        raise conflict(
            f"A project named {spec.name!r} exists already: choose another name.",
            "name_taken",
        ) from None
    with access.within_project(session, project.id):
        detail = {"name": spec.name, "visibility": spec.visibility}
        audit.record(session, actor, "create", "project", project.id, detail)
    return ProjectOut.of_row(project)


def change_project(
    session: Session, project_id: str, patch: ProjectPatchIn, actor: str
) -> ProjectOut:
    """Change the settings that `patch` names."""
    project = queries.lock_project(session, project_id)
    changed = patch.model_dump(exclude_unset=True)
    for name, value in changed.items():
        if value is not None or name == "retention_days":
            setattr(project, name, value)
    with access.within_project(session, project_id):
        audit.record(session, actor, "change", "project", project_id, changed)
    hint(session, CHANNEL)
    return ProjectOut.of_row(project)


def create_token(
    session: Session, project_id: str, spec: TokenIn, actor: str
) -> TokenCreatedOut:
    """Create a token for a program that acts in one project."""
    with access.within_project(session, project_id):
        return store_token(session, spec, actor)


def find_project(session: Session, name: str) -> Project:
    """Return a project by name. Raises 404."""
    project = queries.project_named(session, name)
    if project is None:
        raise not_found("project", name)
    return project


def all_projects(session: Session) -> list[ProjectOut]:
    """Return every project, by name."""
    query = queries.projects_visible(None, every=True)
    return sorted(
        (ProjectOut.of_row(row) for row in session.scalars(query)),
        key=lambda project: project.name,
    )


def list_projects(
    session: Session, principal: Principal, *, limit: int, cursor: str | None
) -> Page[ProjectOut]:
    """Return the projects that the principal may choose, by name."""
    every = principal.may("installation.admin")
    return page(
        session,
        queries.projects_visible(principal.account_id, every=every),
        [Project.name],
        lambda row: [row.name],
        ProjectOut.of_row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )


def list_members(
    session: Session, project_id: str, *, limit: int, cursor: str | None
) -> Page[MemberOut]:
    """Return the members of a project, in the order of their accounts."""
    rows = page(
        session,
        queries.members(project_id),
        [ProjectMember.account_id],
        lambda row: [row.account_id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    accounts = queries.accounts(session, {row.account_id for row in rows.items})
    return Page(
        items=[_member_out(row, accounts[row.account_id]) for row in rows.items],
        next=rows.next,
    )


def add_member(
    session: Session,
    project_id: str,
    name_or_email: str,
    role: Role,
    actor: str,
    *,
    principal: Principal | None = None,
) -> MemberOut:
    """Make the owner of an account a member, or give a member another role. Raises 404 for an unknown account, 403
    `own_role` if it is the `principal`'s, 409 `last_admin`."""
    account = queries.account_called(session, name_or_email)
    if account is None:
        raise not_found("account", name_or_email)
    if principal is not None:
        _refuse_own_role(principal, account.id)
    return set_member(session, project_id, account, role, actor)


def change_role(
    session: Session, project_id: str, account_id: str, role: Role, principal: Principal
) -> MemberOut:
    """Give a member another role. Raises 404, 403 `own_role` for the principal's own role, 409 `last_admin`."""
    _refuse_own_role(principal, account_id)
    member = queries.member(session, project_id, account_id)
    account = queries.account(session, account_id)
    if member is None or account is None:
        raise not_found("member", account_id)
    return set_member(session, project_id, account, role, principal.name)


def _refuse_own_role(principal: Principal, account_id: str) -> None:
    if account_id == principal.account_id and not principal.may("installation.admin"):
        raise forbidden("Another admin changes your role: you cannot.", "own_role")


def set_member(
    session: Session, project_id: str, account: Account, role: Role, actor: str
) -> MemberOut:
    """Make an account a member with this role. Raises 409 `last_admin`."""
    if role not in ROLES:
        raise ValueError(f"no role is called {role!r}")
    queries.lock_project(session, project_id)
    member = queries.member(session, project_id, account.id)
    before = None if member is None else member.role
    if member is None:
        member = ProjectMember(
            project_id=project_id,
            account_id=account.id,
            role=role,
            created_at=clock.now(),
        )
        session.add(member)
    elif before != role:
        _refuse_last_admin(session, project_id, member)
        member.role = role
    if before != role:
        _audit_member(session, project_id, account, actor, "set", before, role)
    return _member_out(member, account)


def remove_member(
    session: Session, project_id: str, account_id: str, actor: str
) -> None:
    """Remove a member from a project; their sessions and tokens lose access at once. Raises 404, 409 `last_admin`."""
    queries.lock_project(session, project_id)
    member = queries.member(session, project_id, account_id)
    account = queries.account(session, account_id)
    if member is None or account is None:
        raise not_found("member", account_id)
    _refuse_last_admin(session, project_id, member)
    session.delete(member)
    _audit_member(session, project_id, account, actor, "remove", member.role, None)


def _refuse_last_admin(
    session: Session, project_id: str, leaving: ProjectMember
) -> None:
    session.flush()
    if leaving.role == "admin" and queries.count_admins(session, project_id) <= 1:
        raise conflict(
            "This is the project's last admin: make somebody else an admin first.",
            "last_admin",
        )


def _audit_member(  # noqa: PLR0917 - the fields of one entry
    session: Session,
    project_id: str,
    account: Account,
    actor: str,
    action: str,
    before: str | None,
    after: str | None,
) -> None:
    detail = {"name": account.name, "before": before, "after": after}
    with access.within_project(session, project_id):
        audit.record(session, actor, action, "member", account.id, detail)
    hint(session, CHANNEL)


def list_targets(
    session: Session, project_id: str, *, limit: int, cursor: str | None
) -> Page[GrantedTargetOut]:
    """Return every target of the installation, and whether the project may use it."""
    rows = page(
        session,
        queries.targets(),
        [Target.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    granted = queries.granted_target_ids(
        session, project_id, [row.id for row in rows.items]
    )
    return Page(
        items=[
            GrantedTargetOut.of_row(row, granted=row.id in granted)
            for row in rows.items
        ],
        next=rows.next,
    )


def grant_target(session: Session, project_id: str, target_id: str, actor: str) -> None:
    """Grant a target to a project, and the project to the target's agent; granting twice changes nothing. Raises
    404."""
    target = queries.target(session, target_id)
    if target is None:
        raise not_found("target", target_id)
    queries.lock_project(session, project_id)
    if queries.grant(session, project_id, target_id) is None:
        session.add(
            TargetGrant(
                project_id=project_id, target_id=target_id, created_at=clock.now()
            )
        )
        agent = queries.lock_agent(session, target.agent_id)
        if agent.id != IMPORTS_AGENT and project_id not in agent.granted_projects:
            agent.granted_projects = sorted([*agent.granted_projects, project_id])
        _audit_grant(session, project_id, target, actor, "grant")


def withdraw_target(
    session: Session, project_id: str, target_id: str, actor: str
) -> None:
    """Withdraw a target from a project; its results and the grant of its agent stay. Raises 404."""
    target = queries.target(session, target_id)
    grant = queries.grant(session, project_id, target_id)
    if target is None or grant is None:
        raise not_found("granted target", target_id)
    session.delete(grant)
    _audit_grant(session, project_id, target, actor, "withdraw")


def _audit_grant(
    session: Session, project_id: str, target: Target, actor: str, action: str
) -> None:
    with access.within_project(session, project_id):
        audit.record(session, actor, action, "target", target.id, {"name": target.name})


def _member_out(member: ProjectMember, account: Account) -> MemberOut:
    return MemberOut(
        account=AccountOut.model_validate(account),
        role=member.role,  # type: ignore[arg-type]  # checked when it was stored
        since=member.created_at,
        disabled=account.disabled_at is not None,
    )
