"""Authenticates and authorises requests: a route declares `require("permission")` or `ANYONE`.

Authentication reads in a short transaction of its own, so a long poll holds none. Unsafe requests with a session
cookie must come from our own pages (Sec-Fetch-Site, else Origin); tokens need not. Secrets are looked up by hash.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer

from paceline_server.accounts import cookies, project_access, queries, sessions
from paceline_server.accounts.permissions import PERMISSIONS, Permission
from paceline_server.accounts.principal import Principal
from paceline_server.kernel import clock
from paceline_server.kernel.errors import forbidden, unauthenticated
from paceline_server.kernel.ids import sha256_hex
from paceline_server.store import access
from paceline_server.store.access import Access
from paceline_server.store.session import SAFE_METHODS, read_scope, session_scope

TOUCH_EVERY = timedelta(seconds=60)
"""The time of last use of tokens and sessions is exact to a minute, so that not every request writes."""

_bearer = HTTPBearer(
    auto_error=False, scheme_name="token", description="`Authorization: Bearer plt_…`"
)
_cookie = APIKeyCookie(
    name=cookies.SECURE_NAME, auto_error=False, scheme_name="session"
)


@dataclass(frozen=True)
class Admitted:
    """A principal, and the access of the sessions that its request opens."""

    principal: Principal
    access: Access


def admit(request: Request, *needed: Permission, is_use: bool = True) -> Admitted:
    """Return the principal of a request that has every permission `needed`; with none, anyone who has signed in.

    `is_use`: whether the request keeps a session from becoming idle; an open stream does not. Raises 401
    `unauthenticated`, 403 `csrf_refused` or `forbidden`, 404 for a foreign project.
    """
    with access.as_system():
        principal = _principal_of(request, optional=not needed, is_use=is_use)
        _check_permissions(principal, needed)
        if principal.agent_id is not None:
            with read_scope() as session:
                projects = project_access.projects_of_agent(session, principal.agent_id)
            return Admitted(principal, access.of_agent(projects, principal.actor))
    if principal.project is None:
        return Admitted(principal, replace(access.NO_ACCESS, actor=principal.actor))
    return Admitted(principal, access.of_request(principal.project.id, principal.actor))


def _principal_of(request: Request, *, optional: bool, is_use: bool) -> Principal:
    project_name = request.query_params.get("project")
    header = request.headers.get("authorization")
    if header is not None:
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != "bearer" or not secret.strip():
            raise unauthenticated("Authorization must be `Bearer TOKEN`.")
        return _principal_of_token(secret.strip(), project_name)
    cookie = cookies.read_session_cookie(request)
    if cookie is None:
        with read_scope() as session:
            return project_access.resolve_anonymous(session, project_name)
    principal = _principal_of_session(
        cookie, project_name, optional=optional, is_use=is_use
    )
    if request.method not in SAFE_METHODS:
        cookies.refuse_other_sites(request, require_origin=True)
    return principal


def _principal_of_token(secret: str, project_name: str | None) -> Principal:
    """Return the principal of a bearer token. Raises 401 for an unknown, expired or revoked one, without saying
    which."""
    at = clock.now()
    with read_scope() as session:
        row = queries.valid_token(session, sha256_hex(secret), at)
        if row is None:
            raise unauthenticated(
                "This token is not valid: unknown, expired or revoked."
            )
        token, account = row
        principal = project_access.resolve_token(session, token, account, project_name)
    if token.last_used_at is None or at - token.last_used_at > TOUCH_EVERY:
        with session_scope() as session:
            queries.touch_token(session, token.id, at)
    return principal


def _principal_of_session(
    secret: str, project_name: str | None, *, optional: bool, is_use: bool
) -> Principal:
    """Return the principal of a session cookie. Raises 401 when signed out, expired, idle or disabled."""
    with read_scope() as session:
        row, account = sessions.find_session(session, secret)
        person = project_access.resolve_account(
            session, account, project_name, optional=optional
        )
    at = clock.now()
    if is_use and at - row.last_seen_at > TOUCH_EVERY:
        with session_scope() as session:
            queries.touch_session(session, row.id, at)
    return replace(person, session_id=row.id)


@dataclass(frozen=True)
class Requirement:
    """A dependency that admits principals with all of `permissions`. `admission.py` admits them before the body is
    read; the dependency then passes the principal to the route."""

    permissions: tuple[Permission, ...]

    async def __call__(
        self,
        request: Request,
        _token: object = Security(_bearer),
        _session: object = Security(_cookie),
    ) -> Principal:
        principal: Principal = request.state.principal
        _check_permissions(principal, self.permissions)
        return principal


def require(*needed: Permission) -> Requirement:
    """Return a dependency that admits principals with all of `needed`, as in `Depends(require("project.read"))`;
    with none, anyone who has signed in."""
    unknown = [name for name in needed if name not in PERMISSIONS]
    if unknown:
        raise TypeError(f"no permission is called {unknown[0]!r}")
    return Requirement(needed)


def anyone() -> None:
    """Admit any request. A route without credentials declares it with `dependencies=[ANYONE]`."""


ANYONE = Depends(anyone)


def account_of(principal: Principal) -> str:
    """Return the account id of a person in a browser. Raises 403 for a token, which has no sessions and no password."""
    if principal.session_id is None or principal.account_id is None:
        raise forbidden(
            "This is for people who signed in, not for tokens.", "no_person"
        )
    return principal.account_id


def _check_permissions(principal: Principal, needed: tuple[Permission, ...]) -> None:
    lacking = [permission for permission in needed if not principal.may(permission)]
    if lacking and principal.via == "nothing":
        raise unauthenticated()
    if lacking == ["agent"]:
        raise forbidden(
            "This is for agents: use the credential an agent got when it enrolled."
        )
    if lacking:
        where = "" if principal.project is None else f" in {principal.project.name}"
        raise forbidden(f"This needs the permission {lacking[0]}{where}.")
    if not needed and principal.via == "nothing":
        raise unauthenticated()


__all__ = [
    "ANYONE",
    "Admitted",
    "Principal",
    "Requirement",
    "account_of",
    "admit",
    "anyone",
    "require",
]
