"""Gives every request an id, a log line, metrics and security headers, as the outermost middleware.

It also answers unexpected exceptions. It is plain ASGI, so that streams pass unbuffered. Logs contain the route's
template, never the query string or a header, which may hold secrets.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

import structlog
from prometheus_client import Counter, Histogram

from paceline_server.kernel import problems
from paceline_server.kernel.ids import new_id

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = structlog.get_logger("paceline.requests")

REQUEST_ID = re.compile(rb"^[A-Za-z0-9._-]{1,64}$")
REQUESTS = Counter(
    "paceline_requests_total",
    "Requests by route, method and status.",
    ["route", "method", "status"],
)
SECONDS = Histogram(
    "paceline_request_seconds", "Time to the end of the answer.", ["route", "method"]
)
TEMPLATE = "paceline.template"
"""The scope's key for the route's path as declared, such as `/api/v1/targets/{target_id}`."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Other methods are counted as `other`, because a metric for each invented method would fill the memory."""
STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")
SECURITY_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
    (
        b"content-security-policy",
        b"default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        b"font-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
        b"frame-ancestors 'none'",
    ),
]
"""Inline styles are allowed because Mantine and Recharts set style attributes."""


def is_secure(scope: Scope, public_url: str | None) -> bool:
    """Return whether the browser uses HTTPS: the request does, or `public_url` declares it for this host, because a
    proxy terminates TLS."""
    if scope["scheme"] == "https":
        return True
    public = urlsplit(public_url or "")
    host = next(
        (value for name, value in scope["headers"] if name == b"host"), b""
    ).decode("latin-1")
    return public.scheme == "https" and public.netloc == host


class Requests:
    """The middleware. `public_url`: the address that browsers use, if configured."""

    def __init__(self, app: App, public_url: str | None) -> None:
        self.app = app
        self.public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        header = headers.get(b"x-request-id", b"")
        request_id = header.decode() if REQUEST_ID.match(header) else new_id("req")
        started = time.perf_counter()
        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode()),
                ]
                message["headers"] += self._extra_headers(scope, message["headers"])
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self.app(scope, receive, send_on)
            except Exception:
                log.exception(
                    "unexpected", method=scope["method"][:20], path=scope["path"][:200]
                )
                if status:
                    # This closes the connection, so that no client takes the incomplete response for complete.
                    raise
                await problems.internal_error()(scope, receive, send_on)
            finally:
                self._record(scope, status, time.perf_counter() - started)

    def _extra_headers(
        self, scope: Scope, headers: list[tuple[bytes, bytes]]
    ) -> list[tuple[bytes, bytes]]:
        extra = list(SECURITY_HEADERS)
        if is_secure(scope, self.public_url):
            extra.append(STRICT_TRANSPORT)
        if scope["path"].startswith("/api/") and not any(
            name == b"cache-control" for name, _ in headers
        ):
            extra.append((b"cache-control", b"no-store"))
        return extra

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route = scope.get(TEMPLATE, "unmatched")
        method = scope["method"] if scope["method"] in METHODS else "other"
        REQUESTS.labels(route, method, status).inc()
        SECONDS.labels(route, method).observe(seconds)
        (log.debug if status < 400 else log.info)(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 1),
        )
