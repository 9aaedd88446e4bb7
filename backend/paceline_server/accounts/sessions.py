"""Begins, lists and ends the sessions of browsers.

A session ends when its person ends it, when it was idle for `session_idle_hours`, or after `session_days` even if it is
used. All sessions of a person end when their account is disabled or their password changes. Signing in always makes a
new secret and ends the session of the browser's previous cookie, so a cookie that an attacker planted is useless
(session fixation).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import structlog
from sqlalchemy.orm import Session

from paceline_server.accounts import project_access, queries
from paceline_server.accounts.schemas import (
    AccountOut,
    BrowserSessionOut,
    MembershipOut,
    SessionOut,
)
from paceline_server.kernel import clock
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.errors import not_found, unauthenticated
from paceline_server.kernel.ids import new_id, new_secret, sha256_hex
from paceline_server.kernel.wire import Page
from paceline_server.store import access, audit
from paceline_server.store.access import Actor
from paceline_server.store.page import page
from paceline_server.store.session import hint
from paceline_server.store.tables.accounts import Account, BrowserSession

log = structlog.get_logger("paceline.accounts")

CHANNEL = "accounts"
"""Hint channel: a session or token ended, so open streams check whether theirs did."""
Method = Literal["link", "password", "invitation"]
"""How a session began."""
BROWSERS = (
    ("Edge", r"\bEdgA?/"),
    ("Opera", r"\bOPR/"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|CriOS)/"),
    ("Safari", r"\bSafari/"),
)
"""Browsers in the order in which to look for them, because each also names some of those after it."""
SYSTEMS = (
    ("Android", r"\bAndroid\b"),
    ("iOS", r"\b(iPhone|iPad)\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)
MAX_DEVICE_LENGTH = 80


@dataclass(frozen=True)
class Visitor:
    """Where a sign-in comes from. `cookie`: the secret of the browser's previous session, which ends."""

    device: str = ""
    place: str = ""
    cookie: str | None = None


UNKNOWN_VISITOR = Visitor()


@dataclass(frozen=True)
class NewSession:
    """A session just begun; `secret` goes into the cookie and nowhere else."""

    secret: str
    out: SessionOut


def device_of(user_agent: str) -> str:
    """Return a client's name, such as `Firefox on Linux`; the start of its user agent if the browser is unknown."""
    browser = _first_match(BROWSERS, user_agent)
    system = _first_match(SYSTEMS, user_agent)
    if browser is None:
        plain = "".join(char for char in user_agent if char.isprintable())
        return plain[:MAX_DEVICE_LENGTH]
    return browser if system is None else f"{browser} on {system}"


def _first_match(patterns: tuple[tuple[str, str], ...], text: str) -> str | None:
    return next((name for name, pattern in patterns if re.search(pattern, text)), None)


def idle_limit() -> timedelta:
    """Return how long a session may be idle."""
    return timedelta(hours=process_settings.current().session_idle_hours)


def begin_session(
    session: Session,
    account: Account,
    days: float,
    method: Method,
    visitor: Visitor = UNKNOWN_VISITOR,
) -> NewSession:
    """Begin a session for an account, with a new secret. The session of the visitor's cookie ends."""
    if visitor.cookie is not None:
        queries.end_session(session, sha256_hex(visitor.cookie))
        hint(session, CHANNEL)
    secret = new_secret("pls")
    at = clock.now()
    row = BrowserSession(
        token_sha256=sha256_hex(secret),
        id=new_id("ses"),
        account_id=account.id,
        created_at=at,
        last_seen_at=at,
        expires_at=at + timedelta(days=days),
        method=method,
        device=visitor.device,
        place=visitor.place,
    )
    session.add(row)
    with access.acting_as(session, Actor("account", account.id, account.name)):
        detail = {"name": account.name, "method": method, "device": visitor.device}
        audit.record(session, account.name, "sign_in", "account", account.id, detail)
    log.info("signed_in", account=account.id, method=method, place=visitor.place)
    return NewSession(secret, session_out(session, account, row, None))


def session_out(
    session: Session, account: Account, row: BrowserSession, project_name: str | None
) -> SessionOut:
    """Return the wire shape of a session, with the person's permissions in the project they named or else in their
    own. Raises 404 for a project that they may not see."""
    person = project_access.resolve_account(
        session, account, project_name, optional=True
    )
    return SessionOut(
        account=AccountOut.model_validate(account),
        has_password=account.password_hash is not None,
        project=None if person.project is None else person.project.name,
        role=person.role,
        permissions=sorted(person.permissions),
        projects=[
            MembershipOut.of_row(project, role=role)
            for project, role in queries.projects_of_account(session, account)
        ],
        expires_at=row.expires_at,
    )


def find_session(session: Session, secret: str) -> tuple[BrowserSession, Account]:
    """Return the session of a cookie with its account. Raises 401 if it ended or was idle too long."""
    at = clock.now()
    row = queries.browser_session(
        session, sha256_hex(secret), at, idle_since=at - idle_limit()
    )
    if row is None:
        raise unauthenticated("The session has ended; sign in again.")
    return row


def current_session(
    session: Session, secret: str, project_name: str | None
) -> SessionOut:
    """Return the session of a cookie. Raises 401."""
    row, account = find_session(session, secret)
    return session_out(session, account, row, project_name)


def list_sessions(
    session: Session,
    account_id: str,
    current_id: str | None,
    *,
    limit: int,
    cursor: str | None,
) -> Page[BrowserSessionOut]:
    """Return the sessions of an account that have not ended, the newest first."""
    at = clock.now()
    return page(
        session,
        queries.sessions_of(account_id, at, idle_since=at - idle_limit()),
        [BrowserSession.id],
        lambda row: [row.id],
        lambda row: _browser_session_out(row, current_id),
        limit=limit,
        cursor=cursor,
    )


def _browser_session_out(
    row: BrowserSession, current_id: str | None
) -> BrowserSessionOut:
    ends_at: datetime = min(row.expires_at, row.last_seen_at + idle_limit())
    return BrowserSessionOut.of_row(
        row, ends_at=ends_at, is_current=row.id == current_id
    )


def end_session(session: Session, secret: str) -> None:
    """End the session of a cookie, if it has not ended already."""
    queries.end_session(session, sha256_hex(secret))
    hint(session, CHANNEL)


def end_session_of(session: Session, account: Account, session_id: str) -> None:
    """End one session of an account. Raises 404 for one that is not theirs."""
    if not queries.end_session_by_id(session, account.id, session_id):
        raise not_found("session", session_id)
    _audit_end(session, account, account.name, 1)


def end_all_sessions(
    session: Session, account: Account, actor: str, *, but: str | None = None
) -> int:
    """End the sessions of an account, except the one with the id `but`, and delete its unused links; returns how many
    sessions ended."""
    ended = queries.end_sessions_of(session, account.id, but=but)
    queries.delete_links_of(session, account.id)
    if ended:
        _audit_end(session, account, actor, ended)
    hint(session, CHANNEL)
    return ended


def _audit_end(session: Session, account: Account, actor: str, count: int) -> None:
    detail = {"name": account.name, "sessions": count}
    audit.record(session, actor, "end_sessions", "account", account.id, detail)
    hint(session, CHANNEL)
