"""Holds all SQL of accounts; returns rows or None."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from typing import Any, cast

from sqlalchemy import (
    CursorResult,
    Select,
    and_,
    case,
    delete,
    or_,
    select,
    update,
)
from sqlalchemy.orm import Session

from paceline_server.accounts.names import email_key, name_key
from paceline_server.accounts.permissions import Role
from paceline_server.store.access import DEFAULT_PROJECT_ID
from paceline_server.store.insert import insert_into
from paceline_server.store.tables.accounts import (
    Account,
    BrowserSession,
    SignInLink,
    SignInThrottle,
    Token,
)
from paceline_server.store.tables.fleet import Agent
from paceline_server.store.tables.projects import Project, ProjectMember


def browser_session(
    session: Session, token_sha256: str, at: datetime, idle_since: datetime
) -> tuple[BrowserSession, Account] | None:
    """Return the session of a cookie with its account, unless it expired or was last used before `idle_since`."""
    query = (
        select(BrowserSession, Account)
        .join(Account, Account.id == BrowserSession.account_id)
        .where(
            BrowserSession.token_sha256 == token_sha256,
            BrowserSession.expires_at > at,
            BrowserSession.last_seen_at > idle_since,
            Account.disabled_at.is_(None),
        )
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1])


def sessions_of(account_id: str, at: datetime, idle_since: datetime) -> Select[Any]:
    """Return a query for the sessions of an account that have not ended."""
    return select(BrowserSession).where(
        BrowserSession.account_id == account_id,
        BrowserSession.expires_at > at,
        BrowserSession.last_seen_at > idle_since,
    )


def touch_session(session: Session, session_id: str, at: datetime) -> None:
    """Store that a session was used."""
    session.execute(
        update(BrowserSession)
        .where(BrowserSession.id == session_id)
        .values(last_seen_at=at)
    )


def valid_token(
    session: Session, secret_sha256: str, at: datetime
) -> tuple[Token, Account | None] | None:
    """Return the token with this hash, unless revoked or expired, with its account if it has one."""
    query = (
        select(Token, Account)
        .outerjoin(Account, Account.id == Token.account_id)
        .where(Token.secret_sha256 == secret_sha256, Token.revoked_at.is_(None))
    )
    row = session.execute(query).one_or_none()
    if row is None or (row[0].expires_at is not None and row[0].expires_at <= at):
        return None
    return row[0], row[1]


PROJECT_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def project_named(session: Session, name: str) -> Project | None:
    """Return the project with this name. A name that no project can have is not looked up."""
    if PROJECT_NAME.fullmatch(name) is None:
        return None
    return session.scalars(select(Project).where(Project.name == name)).one_or_none()


def role_in_project(session: Session, project_id: str, account_id: str) -> Role | None:
    """Return the role of an account in a project, if it is a member."""
    member = session.get(ProjectMember, (project_id, account_id))
    return None if member is None else cast("Role", member.role)


def memberships(
    session: Session, account_id: str, limit: int
) -> list[tuple[Project, Role]]:
    """Return the projects an account is a member of, with its role in each: `default` first, then by name."""
    query = (
        select(Project, ProjectMember.role)
        .join(ProjectMember, ProjectMember.project_id == Project.id)
        .where(ProjectMember.account_id == account_id)
        .order_by(Project.id != DEFAULT_PROJECT_ID, Project.name)
        .limit(limit)
    )
    return [(project, cast("Role", role)) for project, role in session.execute(query)]


def projects_of_account(
    session: Session, account: Account
) -> list[tuple[Project, Role | None]]:
    """Return the projects that a person can choose, with their role in each. An admin of the installation can choose
    any project."""
    query = select(Project, ProjectMember.role).order_by(Project.name).limit(1000)
    is_member = and_(
        ProjectMember.project_id == Project.id, ProjectMember.account_id == account.id
    )
    query = query.join(ProjectMember, is_member, isouter=account.is_installation_admin)
    return [
        (project, cast("Role | None", role)) for project, role in session.execute(query)
    ]


def projects_granted_to_agent(session: Session, agent_id: str) -> list[str]:
    """Return the ids of the projects that an agent's grant names; none for an unknown agent."""
    query = select(Agent.granted_projects).where(Agent.id == agent_id)
    return sorted(session.scalars(query).one_or_none() or ())


def touch_token(session: Session, token_id: str, at: datetime) -> None:
    """Store that a token was used."""
    session.execute(update(Token).where(Token.id == token_id).values(last_used_at=at))


def usable_link(
    session: Session, token_sha256: str, purpose: str, at: datetime
) -> SignInLink | None:
    """Return the link with this hash and purpose, unless used or expired."""
    query = select(SignInLink).where(
        SignInLink.token_sha256 == token_sha256,
        SignInLink.purpose == purpose,
        SignInLink.used_at.is_(None),
        SignInLink.expires_at > at,
    )
    return session.scalars(query).one_or_none()


def take_link(
    session: Session, token_sha256: str, purpose: str, at: datetime
) -> str | None:
    """Use up a link and return its account id; None if it is unknown, used or expired. It is a single UPDATE, so only
    one of several concurrent requests succeeds."""
    query = (
        update(SignInLink)
        .where(
            SignInLink.token_sha256 == token_sha256,
            SignInLink.purpose == purpose,
            SignInLink.used_at.is_(None),
            SignInLink.expires_at > at,
        )
        .values(used_at=at)
        .returning(SignInLink.account_id)
    )
    return session.execute(query).scalar_one_or_none()


def account_by_email(session: Session, email: str) -> Account | None:
    """Return the account with this address, however it is written."""
    query = select(Account).where(Account.email == email_key(email))
    return session.scalars(query).one_or_none()


def account_by_name(session: Session, name: str) -> Account | None:
    """Return the account with this name, in any case."""
    query = select(Account).where(Account.name_key == name_key(name))
    return session.scalars(query).one_or_none()


def first_account(session: Session) -> Account | None:
    return session.scalars(select(Account).order_by(Account.id).limit(1)).one_or_none()


def accounts() -> Select[Any]:
    return select(Account)


def tokens() -> Select[Any]:
    """Return a query for all tokens except the credentials of agents."""
    return select(Token).where(Token.agent_id.is_(None))


def names_of(session: Session, account_ids: Collection[str]) -> dict[str, str]:
    """Return the names of these accounts by id, of those that the session sees."""
    query = select(Account).where(Account.id.in_(list(account_ids)))
    return {account.id: account.name for account in session.scalars(query)}


def end_session(session: Session, token_sha256: str) -> bool:
    query = delete(BrowserSession).where(BrowserSession.token_sha256 == token_sha256)
    return cast("CursorResult[Any]", session.execute(query)).rowcount > 0


def end_session_by_id(session: Session, account_id: str, session_id: str) -> bool:
    query = delete(BrowserSession).where(
        BrowserSession.id == session_id, BrowserSession.account_id == account_id
    )
    return cast("CursorResult[Any]", session.execute(query)).rowcount > 0


def end_sessions_of(session: Session, account_id: str, but: str | None) -> int:
    """End the sessions of an account, except the one with the id `but`; returns how many."""
    query = delete(BrowserSession).where(BrowserSession.account_id == account_id)
    if but is not None:
        query = query.where(BrowserSession.id != but)
    return cast("CursorResult[Any]", session.execute(query)).rowcount


def delete_links_of(session: Session, account_id: str) -> None:
    """Delete the unused links of an account."""
    session.execute(
        delete(SignInLink).where(
            SignInLink.account_id == account_id, SignInLink.used_at.is_(None)
        )
    )


def delete_expired(session: Session, at: datetime, idle_since: datetime) -> None:
    """Delete expired and idle sessions, and expired links."""
    ended = or_(
        BrowserSession.expires_at <= at, BrowserSession.last_seen_at <= idle_since
    )
    session.execute(delete(BrowserSession).where(ended))
    session.execute(delete(SignInLink).where(SignInLink.expires_at <= at))


def blocked_until(session: Session, key: str) -> datetime | None:
    """Return when the pause of a key ends, if it has one."""
    return session.scalar(
        select(SignInThrottle.blocked_until).where(SignInThrottle.key == key)
    )


def subtract_failure(session: Session, key: str, *, unblock_below: int) -> None:
    """Subtract one failure from a key, and end its pause if fewer than `unblock_below` are left."""
    left = SignInThrottle.failures - 1
    pause = case((left < unblock_below, None), else_=SignInThrottle.blocked_until)
    statement = update(SignInThrottle).where(
        SignInThrottle.key == key, SignInThrottle.failures > 0
    )
    session.execute(statement.values(failures=left, blocked_until=pause))


def count_failure(
    session: Session, key: str, at: datetime, forget_before: datetime
) -> int:
    """Count a failure of a key, and return their number. It is one statement, so concurrent failures all count."""
    counted = case(
        (SignInThrottle.updated_at < forget_before, 1),
        else_=SignInThrottle.failures + 1,
    )
    statement = (
        insert_into(session, SignInThrottle)
        .values(key=key, failures=1, blocked_until=None, updated_at=at)
        .on_conflict_do_update(
            index_elements=["key"], set_={"failures": counted, "updated_at": at}
        )
        .returning(SignInThrottle.failures)
    )
    return session.execute(statement).scalar_one()


def block(session: Session, key: str, until: datetime) -> None:
    session.execute(
        update(SignInThrottle)
        .where(SignInThrottle.key == key)
        .values(blocked_until=until)
    )


def delete_throttles(session: Session, before: datetime) -> None:
    """Delete counts of failures that last grew before an instant."""
    session.execute(delete(SignInThrottle).where(SignInThrottle.updated_at < before))


def clear_throttles(session: Session, keys: list[str]) -> None:
    session.execute(delete(SignInThrottle).where(SignInThrottle.key.in_(keys)))


def accounts_matching(text: str | None) -> Select[Any]:
    """Return a query for accounts whose name or address contains `text`, without wildcards; None: all."""
    query = select(Account)
    if text:
        folded = name_key(text)
        query = query.where(
            or_(
                Account.name_key.contains(folded, autoescape=True),
                Account.email.contains(folded, autoescape=True),
            )
        )
    return query


def lock_installation_admins(session: Session) -> list[Account]:
    """Return admins of the installation who can sign in, locked until the transaction ends. Removing one takes all
    these locks."""
    query = (
        select(Account)
        .where(Account.is_installation_admin.is_(True), Account.disabled_at.is_(None))
        .order_by(Account.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return list(session.scalars(query))
