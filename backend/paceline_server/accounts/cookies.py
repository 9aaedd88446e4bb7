"""Sets, reads and deletes the session cookie, and refuses requests from other sites.

Over HTTPS the cookie is `__Host-` (Secure, HttpOnly, SameSite=Lax, Path=/). Over plain HTTP it is allowed on
loopback only, unprefixed and with a warning in the log. `PACELINE_PUBLIC_URL` declares HTTPS behind a proxy.
"""

from __future__ import annotations

import ipaddress
from datetime import datetime
from urllib.parse import urlsplit

import structlog
from fastapi import Request, Response

from paceline_server.accounts.schemas import SessionOut
from paceline_server.accounts.sessions import NewSession, Visitor, device_of
from paceline_server.kernel import clock, requests
from paceline_server.kernel.errors import ProblemError, forbidden
from paceline_server.kernel.settings import Settings

log = structlog.get_logger("paceline.accounts")

SECURE_NAME = "__Host-paceline"
LOOPBACK_NAME = "paceline"


def is_loopback(host: str | None) -> bool:
    """Return whether a host name or address of a URL means this machine."""
    if host is None:
        return False
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _settings(request: Request) -> Settings:
    settings: Settings = request.app.state.settings
    return settings


def is_secure(request: Request) -> bool:
    """Return whether the browser reaches us over HTTPS."""
    return requests.is_secure(request.scope, _settings(request).public_url)


def read_session_cookie(request: Request) -> str | None:
    """Return the secret of the session cookie; None without one, and over plain HTTP outside loopback."""
    if is_secure(request):
        return request.cookies.get(SECURE_NAME)
    return (
        request.cookies.get(LOOPBACK_NAME)
        if is_loopback(request.url.hostname)
        else None
    )


def refuse_plain_http(request: Request) -> None:
    """Raise 403 `insecure_transport` where a session cookie would be sent unencrypted."""
    if not is_secure(request) and not is_loopback(request.url.hostname):
        raise forbidden(
            "Signing in over plain HTTP is allowed only on this machine: serve Paceline over HTTPS, "
            "or set PACELINE_PUBLIC_URL=https://… behind a proxy that does.",
            code="insecure_transport",
        )


def check_visitor(request: Request) -> Visitor:
    """Return from which device and address a person signs in. Raises 403 over plain HTTP, or if another site asks."""
    refuse_plain_http(request)
    refuse_other_sites(request, require_origin=False)
    return Visitor(
        device_of(request.headers.get("user-agent", "")),
        request.client.host if request.client else "unknown",
        read_session_cookie(request),
    )


def public_url(request: Request) -> str:
    """Return the base URL of the pages, for links that people open."""
    return _settings(request).public_url or str(request.base_url)


def answer_with_session(
    request: Request, response: Response, new: NewSession
) -> SessionOut:
    """Set the cookie of a new session, and return its wire shape."""
    set_session_cookie(request, response, new.secret, new.out.expires_at)
    return new.out


def set_session_cookie(
    request: Request, response: Response, secret: str, expires_at: datetime
) -> None:
    """Set the session cookie. Callers call `refuse_plain_http` first."""
    secure = is_secure(request)
    if not secure:
        log.warning(
            "session_cookie_without_https",
            host=request.url.hostname,
            why="plain HTTP on loopback",
        )
    response.set_cookie(
        SECURE_NAME if secure else LOOPBACK_NAME,
        secret,
        max_age=max(0, int((expires_at - clock.now()).total_seconds())),
        path="/",
        secure=secure,
        httponly=True,
        samesite="lax",
    )
    response.headers["Cache-Control"] = "no-store"


def delete_session_cookie(request: Request, response: Response) -> None:
    secure = is_secure(request)
    name = SECURE_NAME if secure else LOOPBACK_NAME
    response.delete_cookie(name, path="/", secure=secure, httponly=True, samesite="lax")


def _host_of(origin: str) -> str:
    """Return host and port of an origin; empty if it is invalid."""
    try:
        return urlsplit(origin).netloc
    except ValueError:  # such as `http://[`
        return ""


def refuse_other_sites(request: Request, *, require_origin: bool) -> None:
    """Raise 403 `csrf_refused` unless one of our own pages sent this request.

    Browsers send Sec-Fetch-Site, older ones Origin. With `require_origin`, a request with neither is refused.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        allowed = site == "same-origin"
    elif origin is not None:
        public = urlsplit(_settings(request).public_url or "").netloc
        allowed = _host_of(origin) in {request.headers.get("host"), public} - {
            "",
            None,
        }
    else:
        allowed = not require_origin
    if not allowed:
        raise ProblemError(
            403,
            "csrf_refused",
            "A request with a session cookie must come from Paceline's own pages.",
        )
