"""Manages the accounts of the installation: makes admins, disables accounts, and makes links to reset passwords.

At least one admin who can sign in always remains, and nobody changes their own role. An account is disabled, never
deleted, because the audit log names it.
"""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session

from paceline_server.accounts import credentials, queries, sessions
from paceline_server.accounts.schemas import InstallationAccountOut, OneTimeLinkOut
from paceline_server.accounts.sessions import CHANNEL
from paceline_server.kernel import clock
from paceline_server.kernel.errors import conflict, forbidden, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.session import hint
from paceline_server.store.tables.accounts import Account


def list_accounts(
    session: Session, text: str | None, *, limit: int, cursor: str | None
) -> Page[InstallationAccountOut]:
    """Return accounts in order of name; with `text`, those whose name or address contains it."""
    return page(
        session,
        queries.accounts_matching(text),
        [Account.name_key],
        lambda row: [row.name_key],
        _account_out,
        limit=limit,
        cursor=cursor,
        descending=False,
    )


def _account_out(row: Account) -> InstallationAccountOut:
    return InstallationAccountOut.of_row(
        row, has_password=row.password_hash is not None
    )


def find_account(session: Session, account_id: str) -> Account:
    """Return an account by id. Raises 404."""
    account = session.get(Account, account_id)
    if account is None:
        raise not_found("account", account_id)
    return account


def disable_account(session: Session, account_id: str, actor: str) -> None:
    """Disable an account: its sessions, links and tokens stop working at once. Raises 404, 409 `last_admin`."""
    account = find_account(session, account_id)
    if account.disabled_at is not None:
        return
    _refuse_last_admin(session, account)
    account.disabled_at = clock.now()
    _record(session, actor, "disable", account)
    sessions.end_all_sessions(session, account, actor)


def enable_account(session: Session, account_id: str, actor: str) -> None:
    """Let a disabled account sign in again. Raises 404."""
    account = find_account(session, account_id)
    if account.disabled_at is not None:
        account.disabled_at = None
        _record(session, actor, "enable", account)


def set_installation_admin(
    session: Session, account_id: str, is_admin: bool, actor: str, actor_id: str | None
) -> InstallationAccountOut:
    """Give an account the role of an installation admin, or take it away. Raises 404, 403 `own_role`, 409
    `last_admin`."""
    account = find_account(session, account_id)
    if account.id == actor_id:
        raise forbidden("Another admin changes your role: you cannot.", "own_role")
    if account.is_installation_admin != is_admin:
        if not is_admin:
            _refuse_last_admin(session, account)
        account.is_installation_admin = is_admin
        _record(session, actor, "promote" if is_admin else "demote", account)
        hint(session, CHANNEL)
    return _account_out(account)


def _refuse_last_admin(session: Session, leaving: Account) -> None:
    """Raise 409 for the last admin of the installation. The lock makes two admins who remove each other take turns."""
    if not leaving.is_installation_admin or leaving.disabled_at is not None:
        return
    admins = queries.lock_installation_admins(session)
    if all(admin.id == leaving.id for admin in admins):
        raise conflict(
            "This is the installation's last admin: make somebody else one first.",
            "last_admin",
        )


def sign_out(session: Session, account_id: str, actor: str) -> int:
    """End all sessions of an account; returns how many. Raises 404."""
    return sessions.end_all_sessions(session, find_account(session, account_id), actor)


def create_reset_link(
    session: Session, account_id: str, valid_minutes: float, public_url: str, actor: str
) -> OneTimeLinkOut:
    """Create a link with which a person sets a new password; the current one works until then. Raises 404, 409 for a
    disabled account, 400 for one without an address."""
    account = find_account(session, account_id)
    if account.disabled_at is not None:
        raise conflict("This account is disabled: enable it first.")
    credentials.guessable_words(account)
    secret = credentials.create_link(session, account, valid_minutes, "reset")
    _record(session, actor, "reset_link", account)
    return OneTimeLinkOut(
        url=credentials.link_url(public_url, secret, credentials.PAGES["reset"]),
        expires_at=clock.now() + timedelta(minutes=valid_minutes),
    )


def break_glass(
    session: Session, account: Account, valid_minutes: float, actor: str
) -> str:
    """Enable an account, make it an admin of the installation, and return the secret of a sign-in link for it.

    It is the way in from the server's shell when no admin can sign in.
    """
    account.disabled_at = None
    account.is_installation_admin = True
    _record(session, actor, "break_glass", account)
    sessions.end_all_sessions(session, account, actor)
    return credentials.create_link(session, account, valid_minutes)


def _record(session: Session, actor: str, action: str, account: Account) -> None:
    detail = {"name": account.name}
    audit.record(session, actor, action, "account", account.id, detail)
