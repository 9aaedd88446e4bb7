"""Sets, changes and resets passwords, and makes one-time links for signing in and for resetting a password.

A person who sets a password proves who they are by the current one, a reset link or an invitation. Every change ends
all other sessions and links of the account. A link is printed or shown once; Paceline does not mail it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from sqlalchemy.orm import Session

from paceline_server.accounts import passwords, queries, sessions, throttling
from paceline_server.accounts.sessions import NewSession, Visitor
from paceline_server.kernel import clock
from paceline_server.kernel.errors import (
    ProblemError,
    invalid_request,
    unauthenticated,
)
from paceline_server.kernel.ids import new_secret, sha256_hex
from paceline_server.store import access, audit
from paceline_server.store.access import Actor
from paceline_server.store.tables.accounts import Account, SignInLink

Purpose = Literal["sign_in", "reset"]
PAGES: dict[Purpose, str] = {"sign_in": "sign-in", "reset": "reset-password"}
"""The page that a link of each purpose opens."""


def create_link(
    session: Session,
    account: Account,
    valid_minutes: float,
    purpose: Purpose = "sign_in",
) -> str:
    """Create a one-time link, and return its secret."""
    secret = new_secret("pll")
    at = clock.now()
    session.add(
        SignInLink(
            token_sha256=sha256_hex(secret),
            account_id=account.id,
            purpose=purpose,
            created_at=at,
            expires_at=at + timedelta(minutes=valid_minutes),
            used_at=None,
        )
    )
    return secret


def link_url(public_url: str, secret: str, page: str = PAGES["sign_in"]) -> str:
    """Return the URL a person opens. The secret is in its fragment, which browsers send to no server."""
    return f"{public_url.rstrip('/')}/{page}#token={secret}"


def use_link(session: Session, secret: str, purpose: Purpose) -> Account:
    """Use up a link and return its account. Raises 401 `link_invalid` if it is unknown, used, expired or for another
    purpose."""
    account_id = queries.take_link(session, sha256_hex(secret), purpose, clock.now())
    return _require_usable(
        None if account_id is None else session.get(Account, account_id)
    )


def _require_usable(account: Account | None) -> Account:
    if account is None or account.disabled_at is not None:
        raise ProblemError(
            401,
            "link_invalid",
            "This link was used already or has expired; ask for a new one.",
        )
    return account


def hash_new_password(account: Account, password: str) -> str:
    """Return the hash of an account's new password. Raises 400 for a weak password or an account without an address."""
    return passwords.make_hash(password, guessable_words(account))


def guessable_words(account: Account) -> tuple[str, str]:
    """Return the name and address of a password's owner, which are easily guessed. Raises 400 for an account without
    an address, which cannot have a password."""
    if account.email is None:
        raise invalid_request(
            "An account with a password needs an e-mail address to sign in with."
        )
    return account.name, account.email


def set_password(session: Session, account: Account, password: str, actor: str) -> None:
    """Set a password from the server's shell; all sessions of the account end."""
    _store_hash(session, account, hash_new_password(account, password), actor)


def owner_of_reset_link(session: Session, secret: str) -> Account:
    """Return the account of a reset link without using the link up. Raises 401 `link_invalid`."""
    link = queries.usable_link(session, sha256_hex(secret), "reset", clock.now())
    account = None if link is None else session.get(Account, link.account_id)
    return _require_usable(account)


def reset_password(
    session: Session, secret: str, password_hash: str, days: float, visitor: Visitor
) -> NewSession:
    """Set a new password with a reset link, and sign in. Raises 401 `link_invalid`."""
    account = use_link(session, secret, "reset")
    with access.acting_as(session, Actor("account", account.id, account.name)):
        _store_hash(session, account, password_hash, account.name)
    if account.email is not None:
        throttling.forget_address(session, account.email)
    return sessions.begin_session(session, account, days, "link", visitor)


def count_password_check(session: Session, account_id: str) -> Account:
    """Count a check of the current password as failed before it is made, and return the account. Raises 429 while
    such checks are paused."""
    throttling.count_failures(session, {"own_password": f"own:{account_id}"})
    return session.get_one(Account, account_id)


def change_password(
    session: Session, account_id: str, password_hash: str, days: float, visitor: Visitor
) -> NewSession:
    """Set a new password for a person who gave the current one. All sessions end and a new one begins. Raises 401 if
    the account was disabled meanwhile."""
    account = session.get_one(Account, account_id)
    if account.disabled_at is not None:
        raise unauthenticated("This account was disabled meanwhile.")
    queries.clear_throttles(session, [f"own:{account_id}"])
    _store_hash(session, account, password_hash, account.name)
    return sessions.begin_session(session, account, days, "password", visitor)


def _store_hash(
    session: Session, account: Account, password_hash: str, actor: str
) -> None:
    account.password_hash = password_hash
    detail = {"name": account.name}
    audit.record(session, actor, "set_password", "account", account.id, detail)
    sessions.end_all_sessions(session, account, actor)
