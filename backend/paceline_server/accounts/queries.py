"""All SQL of accounts; returns rows or None."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, Select, case, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from paceline_server.store.tables.accounts import (
    Account,
    BrowserSession,
    SignInLink,
    SignInThrottle,
    Token,
)


def browser_session(
    session: Session, token_sha256: str, at: datetime
) -> tuple[BrowserSession, Account] | None:
    """The unexpired session of a cookie with its account."""
    query = (
        select(BrowserSession, Account)
        .join(Account, Account.id == BrowserSession.account_id)
        .where(
            BrowserSession.token_sha256 == token_sha256, BrowserSession.expires_at > at
        )
    )
    row = session.execute(query).one_or_none()
    return None if row is None else (row[0], row[1])


def valid_token(
    session: Session, secret_sha256: str, at: datetime
) -> tuple[Token, Account | None] | None:
    """The token with this hash, unless revoked or expired, with its account if it has one."""
    query = (
        select(Token, Account)
        .outerjoin(Account, Account.id == Token.account_id)
        .where(Token.secret_sha256 == secret_sha256, Token.revoked_at.is_(None))
    )
    row = session.execute(query).one_or_none()
    if row is None or (row[0].expires_at is not None and row[0].expires_at <= at):
        return None
    return row[0], row[1]


def touch_token(session: Session, token_id: str, at: datetime) -> None:
    """Store that a token was used."""
    session.execute(update(Token).where(Token.id == token_id).values(last_used_at=at))


def take_link(session: Session, token_sha256: str, at: datetime) -> str | None:
    """Use up a sign-in link; its account id, or None if it is unknown, used or expired. One UPDATE decides
    between concurrent requests."""
    query = (
        update(SignInLink)
        .where(
            SignInLink.token_sha256 == token_sha256,
            SignInLink.used_at.is_(None),
            SignInLink.expires_at > at,
        )
        .values(used_at=at)
        .returning(SignInLink.account_id)
    )
    return session.execute(query).scalar_one_or_none()


def account_by_email(session: Session, email: str) -> Account | None:
    return session.scalars(
        select(Account).where(func.lower(Account.email) == email.lower())
    ).one_or_none()


def account_by_name(session: Session, name: str) -> Account | None:
    return session.scalars(select(Account).where(Account.name == name)).one_or_none()


def first_account(session: Session) -> Account | None:
    return session.scalars(select(Account).order_by(Account.id).limit(1)).one_or_none()


def accounts() -> Select[Any]:
    return select(Account)


def tokens() -> Select[Any]:
    """Tokens except the credentials of agents."""
    return select(Token).where(Token.agent_id.is_(None))


def end_session(session: Session, token_sha256: str) -> bool:
    query = delete(BrowserSession).where(BrowserSession.token_sha256 == token_sha256)
    return cast("CursorResult[Any]", session.execute(query)).rowcount > 0


def delete_expired(session: Session, at: datetime) -> None:
    """Delete expired sessions and links."""
    session.execute(delete(BrowserSession).where(BrowserSession.expires_at <= at))
    session.execute(delete(SignInLink).where(SignInLink.expires_at <= at))


def blocked_until(session: Session, key: str) -> datetime | None:
    """When the pause of a key ends, if it has one."""
    return session.scalar(
        select(SignInThrottle.blocked_until).where(SignInThrottle.key == key)
    )


def give_back_failure(session: Session, key: str, *, unblock_below: int) -> None:
    """Remove one failure, and the pause if fewer than `unblock_below` are left."""
    left = SignInThrottle.failures - 1
    pause = case((left < unblock_below, None), else_=SignInThrottle.blocked_until)
    statement = update(SignInThrottle).where(
        SignInThrottle.key == key, SignInThrottle.failures > 0
    )
    session.execute(statement.values(failures=left, blocked_until=pause))


def count_failure(
    session: Session, key: str, at: datetime, forget_before: datetime
) -> int:
    """Add a failure; returns their number. One statement, so that concurrent failures are all counted."""
    insert = (
        postgresql.insert
        if session.get_bind().dialect.name == "postgresql"
        else sqlite.insert
    )
    counted = case(
        (SignInThrottle.updated_at < forget_before, 1),
        else_=SignInThrottle.failures + 1,
    )
    statement = (
        insert(SignInThrottle)
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
    """Delete failures last counted before then; no pause lasts that long."""
    session.execute(delete(SignInThrottle).where(SignInThrottle.updated_at < before))


def clear_throttles(session: Session, keys: list[str]) -> None:
    session.execute(delete(SignInThrottle).where(SignInThrottle.key.in_(keys)))
