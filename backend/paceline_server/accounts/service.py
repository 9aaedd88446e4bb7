"""Signs in, creates accounts, and makes and revokes tokens.

No default password exists, and secrets are stored only as SHA-256 (random ones) or argon2id (passwords). Errors never
reveal whether an address exists. Sessions are in `sessions.py`, passwords and links in `credentials.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import null
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.accounts import credentials, queries, sessions, throttling
from paceline_server.accounts.names import name_key, normalize_email, normalize_name
from paceline_server.accounts.permissions import Permission
from paceline_server.accounts.principal import Principal
from paceline_server.accounts.schemas import TokenCreatedOut, TokenIn, TokenOut
from paceline_server.accounts.sessions import (
    CHANNEL,
    UNKNOWN_VISITOR,
    NewSession,
    Visitor,
)
from paceline_server.kernel import clock
from paceline_server.kernel.errors import (
    ProblemError,
    conflict,
    forbidden,
    not_found,
    unauthenticated,
)
from paceline_server.kernel.ids import new_id, new_secret, sha256_hex
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.session import hint
from paceline_server.store.tables.accounts import Account, Token

log = structlog.get_logger("paceline.accounts")


def create_account(
    session: Session,
    name: str,
    *,
    email: str | None = None,
    is_installation_admin: bool = False,
    password_hash: str | None = None,
) -> Account:
    """Create an account, which is a member of no project yet. Raises 409 if name or address is taken, 400 if one is
    invalid."""
    name = normalize_name(name)
    account = Account(
        id=new_id("acc"),
        name=name,
        name_key=name_key(name),
        email=None if email is None else normalize_email(email),
        password_hash=password_hash,
        is_installation_admin=is_installation_admin,
        created_at=clock.now(),
    )
    if password_hash is not None:
        credentials.guessable_words(account)
    try:
        with session.begin_nested():
            session.add(account)
            session.flush()
    except IntegrityError:
        raise conflict(
            "An account with this name or e-mail address exists already.",
            "account_exists",
        ) from None
    return account


def sign_in_by_link(
    session: Session, secret: str, days: float, visitor: Visitor = UNKNOWN_VISITOR
) -> NewSession:
    """Use up a sign-in link and begin a session. Raises 401 `link_invalid` if it is unknown, used or expired."""
    account = credentials.use_link(session, secret, "sign_in")
    return sessions.begin_session(session, account, days, "link", visitor)


@dataclass(frozen=True)
class AccountCredentials:
    """The account of an e-mail address, and the hash that a password is compared with."""

    account_id: str
    password_hash: str | None


def reserve_attempt(
    session: Session, keys: Mapping[str, str], email: str
) -> AccountCredentials | None:
    """Count an attempt as failed before its password is compared, and return the account. Raises 429 while a key is
    paused. A successful sign-in withdraws the failure (`sign_in_by_password`)."""
    throttling.count_failures(session, keys)
    account = queries.account_by_email(session, email)
    return (
        None
        if account is None
        else AccountCredentials(account.id, account.password_hash)
    )


def sign_in_by_password(
    session: Session,
    account_id: str | None,
    keys: Mapping[str, str],
    days: float,
    visitor: Visitor = UNKNOWN_VISITOR,
) -> NewSession:
    """Begin a session for the account whose password was right. Raises 401 for None; the failure then stays
    counted."""
    account = None if account_id is None else session.get(Account, account_id)
    if account is None or account.disabled_at is not None:
        log.warning("sign_in_failed", place=visitor.place)
        raise unauthenticated("The e-mail address or the password is wrong.")
    throttling.withdraw_failures(session, keys)
    return sessions.begin_session(session, account, days, "password", visitor)


def delete_expired(session: Session) -> None:
    """Delete ended sessions, expired links, and failures too old to count."""
    at = clock.now()
    queries.delete_expired(session, at, idle_since=at - sessions.idle_limit())
    queries.delete_throttles(session, before=at - throttling.FORGET_AFTER)


def create_token(
    session: Session, principal: Principal, spec: TokenIn
) -> TokenCreatedOut:
    """Create a token for a program; its secret is returned only here. Raises 403 for permissions its maker lacks."""
    if "agent" in spec.permissions:
        raise forbidden(
            "Agents get their credential by enrolling: create an enrolment code instead."
        )
    lacking = [name for name in spec.permissions if not principal.may(name)]
    if lacking:
        raise forbidden(
            f"You do not hold the permission {', '.join(lacking)} yourself."
        )
    return store_token(session, spec, principal.name, principal.account_id)


def store_token(
    session: Session, spec: TokenIn, actor: str, account_id: str | None = None
) -> TokenCreatedOut:
    """Store a program's token of the session's project without checking permissions; `account_id`: its maker's."""
    days = spec.expires_in_days
    expires_at = None if days is None else clock.now() + timedelta(days=days)
    token, secret = issue_token(
        session,
        spec.name,
        "plt",
        list(spec.permissions),
        account_id=account_id,
        expires_at=expires_at,
    )
    detail = {
        "name": token.name,
        "prefix": token.prefix,
        "permissions": token.permissions,
    }
    audit.record(session, actor, "create", "token", token.id, detail)
    made_by = actor if account_id is not None else None
    return TokenCreatedOut.of_row(token, made_by=made_by, secret=secret)


def list_tokens(session: Session, *, limit: int, cursor: str | None) -> Page[TokenOut]:
    """Return tokens of the session's project, the newest first."""
    rows = page(
        session,
        queries.tokens(),
        [Token.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    makers = queries.names_of(
        session, {row.account_id for row in rows.items if row.account_id is not None}
    )
    return Page(
        items=[
            TokenOut.of_row(row, made_by=makers.get(row.account_id))
            for row in rows.items
        ],
        next=rows.next,
    )


def issue_token(
    session: Session,
    name: str,
    kind: str,
    held: Sequence[Permission],
    *,
    account_id: str | None = None,
    agent_id: str | None = None,
    expires_at: datetime | None = None,
) -> tuple[Token, str]:
    """Store a token of the session's project and return it with its secret. `kind`: `plt` for programs, `pla`
    for agents, whose token belongs to no project."""
    prefix = f"{kind}_{new_id('t')[-8:]}"
    secret = new_secret(prefix)
    token = Token(
        id=new_id("tok"),
        name=name,
        prefix=prefix,
        secret_sha256=sha256_hex(secret),
        permissions=sorted(set(held)),
        account_id=account_id,
        agent_id=agent_id,
        created_at=clock.now(),
        last_used_at=None,
        expires_at=expires_at,
        revoked_at=None,
    )
    if agent_id is not None:
        token.project_id = null()
    session.add(token)
    return token, secret


def revoke_token(session: Session, token_id: str, actor: str) -> None:
    """Revoke a token for good; revoking twice changes nothing. Raises 404."""
    token = session.get(Token, token_id)
    if token is None:
        raise not_found("token", token_id)
    if token.revoked_at is None:
        token.revoked_at = clock.now()
        audit.record(session, actor, "revoke", "token", token.id, {"name": token.name})
        hint(session, CHANNEL)


def first_account(session: Session) -> Account | None:
    """Return the oldest account, if there is any."""
    return queries.first_account(session)


def find_account(session: Session, name: str | None) -> Account:
    """Return the account with this name or address; for None, the oldest account. Raises 404."""
    if name is None:
        account = queries.first_account(session)
    else:
        account = queries.account_by_name(session, name) or queries.account_by_email(
            session, name
        )
    if account is None and name is None:
        raise ProblemError(
            404,
            "not_found",
            "There is no account yet. Create one: paceline-server account create NAME --admin",
        )
    if account is None:
        raise not_found("account", str(name))
    return account
