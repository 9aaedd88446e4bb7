"""Authenticates and authorises requests: a route declares `require("scope")` or `ANYONE`.

Authentication reads in a short transaction of its own, so a long poll holds none. Unsafe requests with a session
cookie must come from our own pages (Sec-Fetch-Site, else Origin); tokens need not. Secrets are looked up by hash.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from paceline_server.accounts import cookies, queries
from paceline_server.accounts.principal import Principal
from paceline_server.kernel import clock
from paceline_server.kernel.errors import forbidden, unauthenticated
from paceline_server.kernel.ids import sha256_hex
from paceline_server.store.session import SAFE_METHODS, read_scope, session_scope

TOUCH_EVERY = timedelta(seconds=60)
"""`last_used_at` is exact to a minute: one write per token and minute, not one per request."""

_bearer = HTTPBearer(
    auto_error=False, scheme_name="token", description="`Authorization: Bearer plt_…`"
)
_cookie = APIKeyCookie(
    name=cookies.SECURE_NAME, auto_error=False, scheme_name="session"
)


def principal_of(request: Request) -> Principal:
    """The principal of this request. Raises 401 `unauthenticated`, 403 `csrf_refused`."""
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise unauthenticated("Authorization must be `Bearer TOKEN`.")
        return principal_of_token(secret.strip())
    cookie = cookies.read_session_cookie(request)
    if cookie is None:
        raise unauthenticated()
    principal = principal_of_session(cookie)
    if request.method not in SAFE_METHODS:
        cookies.refuse_other_sites(request, must_tell=True)
    return principal


def principal_of_token(secret: str) -> Principal:
    """The principal of a bearer token. Raises 401 when unknown, expired or revoked (never which)."""
    at = clock.now()
    with read_scope() as session:
        row = queries.valid_token(session, sha256_hex(secret), at)
    if row is None:
        raise unauthenticated("This token is not valid: unknown, expired or revoked.")
    token, account = row
    if token.last_used_at is None or at - token.last_used_at > TOUCH_EVERY:
        with session_scope() as session:
            queries.touch_token(session, token.id, at)
    scopes = frozenset(token.scopes)
    if account is not None:
        owner = Principal("", frozenset(account.scopes), "token", None, None, None)
        scopes = frozenset(scope for scope in scopes if owner.may(scope))
    return Principal(
        token.name, scopes, "token", token.account_id, token.id, token.agent_id
    )


def principal_of_session(secret: str) -> Principal:
    """The principal of a session cookie. Raises 401 when signed out or expired."""
    with read_scope() as session:
        found = queries.browser_session(session, sha256_hex(secret), clock.now())
    if found is None:
        raise unauthenticated("The session has ended; sign in again.")
    account = found[1]
    return Principal(
        account.name, frozenset(account.scopes), "session", account.id, None, None
    )


@dataclass(frozen=True)
class Requirement:
    """A dependency that admits principals with any of `scopes`. `admission.py` calls `admit` before the body is
    read; as a dependency it then gives the route that principal."""

    scopes: tuple[str, ...]

    def admit(self, request: Request) -> None:
        """Keep the principal of `request` for the route. Raises 401 or 403."""
        request.state.principal = authorised(request, *self.scopes)

    async def __call__(
        self,
        request: Request,
        _token: object = Security(_bearer),
        _session: object = Security(_cookie),
    ) -> Principal:
        principal: Principal = request.state.principal
        _check_scopes(principal, self.scopes)
        return principal


def require(*scopes: str) -> Requirement:
    """A dependency that admits principals with any of `scopes`, as in `Depends(require("read"))`."""
    return Requirement(scopes)


def anyone() -> None:
    """The dependency of a route that needs no credential: `dependencies=[ANYONE]`."""


ANYONE = Depends(anyone)


def authorised(request: Request, *scopes: str) -> Principal:
    """The principal of `request` if it has any of `scopes`. Raises 401 or 403."""
    principal = principal_of(request)
    _check_scopes(principal, scopes)
    return principal


def _check_scopes(principal: Principal, scopes: tuple[str, ...]) -> None:
    if not principal.may(*scopes):
        raise forbidden(f"This needs the scope {' or '.join(scopes)}.")
    if scopes == ("agent",) and principal.agent_id is None:
        raise forbidden(
            "This is for agents: use the credential an agent got when it enrolled."
        )


__all__ = [
    "ANYONE",
    "Principal",
    "Requirement",
    "anyone",
    "authorised",
    "principal_of",
    "require",
]
