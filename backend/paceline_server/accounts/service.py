"""Signs in and out, creates accounts, sign-in links and tokens.

No default password exists, and secrets are stored only as SHA-256 (random ones) or argon2id (passwords). A sign-in
link works once. Errors never reveal whether an address exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.accounts import passwords, queries
from paceline_server.accounts.principal import Principal
from paceline_server.accounts.schemas import (
    AccountOut,
    Scope,
    SessionOut,
    TokenCreatedOut,
    TokenIn,
    TokenOut,
)
from paceline_server.kernel import clock
from paceline_server.kernel.errors import (
    ProblemError,
    conflict,
    forbidden,
    invalid_request,
    not_found,
    unauthenticated,
)
from paceline_server.kernel.ids import new_id, new_secret, sha256_hex
from paceline_server.store import audit
from paceline_server.store.session import hint
from paceline_server.store.tables.accounts import (
    Account,
    BrowserSession,
    SignInLink,
    Token,
)

CHANNEL = "accounts"
"""Hint channel: a session or token ended, so open streams check theirs."""
HUMAN_SCOPES: tuple[Scope, ...] = ("read", "alerts:write", "ingest", "admin")
THROTTLE_AFTER = {"address_from_place": 5, "address": 50, "place": 100}
"""Failures before pauses begin, per kind of key. An address alone has a high limit so that a stranger cannot
lock its owner out cheaply (OWASP Authentication Cheat Sheet, account lockout)."""
THROTTLE_LONGEST_S = 900
THROTTLE_FORGET = timedelta(hours=1)


@dataclass(frozen=True)
class NewSession:
    """A session just begun; `secret` goes into the cookie and nowhere else."""

    secret: str
    out: SessionOut


def create_account(
    session: Session,
    name: str,
    *,
    email: str | None = None,
    scopes: Sequence[Scope] = HUMAN_SCOPES,
    password: str | None = None,
) -> Account:
    """A new account. Raises 409 when name or address is taken, 400 when the password is too short."""
    if password is not None and len(password) < passwords.SHORTEST:
        raise invalid_request(
            f"A password needs at least {passwords.SHORTEST} characters."
        )
    if password is not None and email is None:
        raise invalid_request(
            "An account with a password needs an e-mail address to sign in with."
        )
    account = Account(
        id=new_id("acc"),
        name=name,
        email=email.lower() if email else None,
        password_hash=None if password is None else passwords.hash_password(password),
        scopes=list(scopes),
        created_at=clock.now(),
    )
    session.add(account)
    try:
        session.flush()
    except IntegrityError:
        session.rollback()
        raise conflict(
            "An account with this name or e-mail address exists already."
        ) from None
    return account


def create_link(session: Session, account: Account, valid_minutes: float) -> str:
    """The secret of a new one-time sign-in link."""
    secret = new_secret("pll")
    at = clock.now()
    expires_at = at + timedelta(minutes=valid_minutes)
    session.add(
        SignInLink(
            token_sha256=sha256_hex(secret),
            account_id=account.id,
            created_at=at,
            expires_at=expires_at,
            used_at=None,
        )
    )
    return secret


def sign_in_by_link(session: Session, secret: str, days: float) -> NewSession:
    """Use up a link. Raises 401 `link_invalid` when it is unknown, used or expired."""
    account_id = queries.take_link(session, sha256_hex(secret), clock.now())
    account = None if account_id is None else session.get(Account, account_id)
    if account is None:
        raise ProblemError(
            401,
            "link_invalid",
            "This sign-in link was used already or has expired; ask for a new one.",
        )
    return _begin_session(session, account, days)


@dataclass(frozen=True)
class AccountCredentials:
    """The account of an e-mail address, and the hash to compare a password with."""

    account_id: str
    password_hash: str | None


def reserve_attempt(
    session: Session, keys: dict[str, str], email: str
) -> AccountCredentials | None:
    """Count an attempt as failed before its password is compared; returns the account. Raises 429, without
    counting, while a key is paused. A successful sign-in removes the failure (`sign_in_by_password`)."""
    at = clock.now()
    # Always in the same order, which rules out deadlocks between attempts.
    for kind, key in sorted(keys.items()):
        failures = queries.count_failure(
            session, key, at, forget_before=at - THROTTLE_FORGET
        )
        _refuse_paused(session, key, at)
        beyond = failures - THROTTLE_AFTER[kind]
        if beyond >= 0:
            pause = timedelta(seconds=min(THROTTLE_LONGEST_S, 2 ** min(beyond, 20)))
            queries.block(session, key, at + pause)
    account = queries.account_by_email(session, email)
    return (
        None
        if account is None
        else AccountCredentials(account.id, account.password_hash)
    )


def sign_in_by_password(
    session: Session, account_id: str | None, keys: dict[str, str], days: float
) -> NewSession:
    """Begin a session for the account whose password was right; None raises 401 and leaves the reserved
    attempt counted."""
    account = None if account_id is None else session.get(Account, account_id)
    if account is None:
        raise unauthenticated("The e-mail address or the password is wrong.")
    queries.clear_throttles(session, [keys["address_from_place"], keys["address"]])
    queries.give_back_failure(
        session, keys["place"], unblock_below=THROTTLE_AFTER["place"]
    )
    return _begin_session(session, account, days)


def throttle_keys(email: str, place: str) -> dict[str, str]:
    """The keys failures are counted under; hashed, so that the table holds no typed-in addresses."""
    address = sha256_hex(email.lower())[:32]
    return {
        "address_from_place": f"both:{address}:{place}",
        "address": f"address:{address}",
        "place": f"place:{place}",
    }


def _refuse_paused(session: Session, key: str, at: datetime) -> None:
    """Raise 429 while `key` is paused. Called after counting, which locks the row, so that each of several
    concurrent attempts sees the pause that the one before it set."""
    until = queries.blocked_until(session, key)
    if until is not None and until > at:
        seconds = int((until - at).total_seconds()) + 1
        raise ProblemError(
            429,
            "throttled",
            f"Too many failed sign-ins; try again in {seconds} s.",
            headers={"Retry-After": str(seconds)},
        )


def delete_expired(session: Session) -> None:
    """Delete expired sessions and links, and failures too old to count."""
    at = clock.now()
    queries.delete_expired(session, at)
    queries.delete_throttles(session, before=at - THROTTLE_FORGET)


def _begin_session(session: Session, account: Account, days: float) -> NewSession:
    secret = new_secret("pls")
    at = clock.now()
    expires_at = at + timedelta(days=days)
    row = BrowserSession(
        token_sha256=sha256_hex(secret),
        account_id=account.id,
        created_at=at,
        expires_at=expires_at,
    )
    session.add(row)
    return NewSession(secret, session_out(account, expires_at))


def session_out(account: Account, expires_at: datetime) -> SessionOut:
    """The wire shape of a session; admin's implied scopes are spelled out for the pages."""
    held = Principal("", frozenset(account.scopes), "session", account.id, None, None)
    scopes: list[Scope] = [scope for scope in HUMAN_SCOPES if held.may(scope)]
    return SessionOut(
        account=AccountOut.model_validate(account), scopes=scopes, expires_at=expires_at
    )


def current_session(session: Session, secret: str) -> SessionOut:
    """The session of a cookie. Raises 401."""
    row = queries.browser_session(session, sha256_hex(secret), clock.now())
    if row is None:
        raise unauthenticated("The session has ended; sign in again.")
    return session_out(row[1], row[0].expires_at)


def end_session(session: Session, secret: str) -> None:
    """Sign out; ending an ended session is fine."""
    queries.end_session(session, sha256_hex(secret))
    hint(session, CHANNEL)


def create_token(
    session: Session, principal: Principal, spec: TokenIn
) -> TokenCreatedOut:
    """A token for a program; its secret is in this answer only. Raises 403 for scopes its maker lacks."""
    if "agent" in spec.scopes:
        raise forbidden(
            "Agents get their credential by enrolling: create an enrolment code instead."
        )
    lacking = [scope for scope in spec.scopes if not principal.may(scope)]
    if lacking:
        raise forbidden(f"You do not hold the scope {', '.join(lacking)} yourself.")
    days = spec.expires_in_days
    expires_at = None if days is None else clock.now() + timedelta(days=days)
    token, secret = issue_token(
        session,
        spec.name,
        "plt",
        list(spec.scopes),
        account_id=principal.account_id,
        expires_at=expires_at,
    )
    detail = {"name": token.name, "prefix": token.prefix, "scopes": token.scopes}
    audit.record(session, principal.name, "create", "token", token.id, detail)
    return TokenCreatedOut(**TokenOut.model_validate(token).model_dump(), secret=secret)


def issue_token(
    session: Session,
    name: str,
    kind: str,
    scopes: list[Scope],
    *,
    account_id: str | None = None,
    agent_id: str | None = None,
    expires_at: datetime | None = None,
) -> tuple[Token, str]:
    """Store a token and return it with its secret. `kind`: `plt` for programs, `pla` for agents."""
    prefix = f"{kind}_{new_id('t')[-8:]}"
    secret = new_secret(prefix)
    token = Token(
        id=new_id("tok"),
        name=name,
        prefix=prefix,
        secret_sha256=sha256_hex(secret),
        scopes=sorted(set(scopes)),
        account_id=account_id,
        agent_id=agent_id,
        created_at=clock.now(),
        last_used_at=None,
        expires_at=expires_at,
        revoked_at=None,
    )
    session.add(token)
    return token, secret


def revoke_token(session: Session, token_id: str, actor: str) -> None:
    """Revoke for good; revoking twice is fine. Raises 404."""
    token = session.get(Token, token_id)
    if token is None:
        raise not_found("token", token_id)
    if token.revoked_at is None:
        token.revoked_at = clock.now()
        audit.record(session, actor, "revoke", "token", token.id, {"name": token.name})
        hint(session, CHANNEL)


def first_account(session: Session) -> Account | None:
    """The oldest account, if there is any."""
    return queries.first_account(session)


def find_account(session: Session, name: str | None) -> Account:
    """The account called `name`, or the oldest. Raises 404."""
    account = (
        queries.first_account(session)
        if name is None
        else queries.account_by_name(session, name)
    )
    if account is None:
        raise not_found("account", name or "(any)")
    return account


def link_url(public_url: str, secret: str) -> str:
    """The address a person opens. The secret is in the fragment: browsers send that to no server and no
    referrer."""
    return f"{public_url.rstrip('/')}/sign-in#token={secret}"
