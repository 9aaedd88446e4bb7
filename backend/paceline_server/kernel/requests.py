"""Around every request: an id, a log line, metrics, body limits, security headers, and the last catch.

Place: pure ASGI, outermost, so that streams pass unbuffered. Invariant: the log line carries the route's
template, never the query string or a header (they may hold secrets).
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import structlog
from fastapi import HTTPException
from prometheus_client import Counter, Histogram

from paceline_server.kernel import problems
from paceline_server.kernel.errors import body_too_large
from paceline_server.kernel.ids import new_id

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = structlog.get_logger("paceline.requests")

REQUEST_ID = re.compile(rb"^[A-Za-z0-9._-]{1,64}$")
REQUESTS = Counter(
    "paceline_requests_total", "Requests by route, method and status.", ["route", "method", "status"]
)
SECONDS = Histogram("paceline_request_seconds", "Time to the end of the answer.", ["route", "method"])
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
"""Inline styles: Mantine and Recharts set style attributes. Scripts come from our files only."""


def _too_large(limit: int) -> HTTPException:
    """FastAPI lets this type pass where it would answer 400 to any other failure while reading a body."""
    return HTTPException(413, body_too_large(limit).detail)


def template(path: str, params: Mapping[str, Any]) -> str:
    """The route's template, from what it matched: `/api/v1/targets/{target_id}`. Pages share one name.

    (FastAPI leaves the included router's own, unprefixed route in the scope.)
    """
    if "path" in params:
        return "pages"
    names = {str(value): f"{{{name}}}" for name, value in params.items()}
    return "/".join(names.get(part, part) for part in path.split("/"))


class Requests:
    """The middleware. `max_body_bytes` bounds what is read from the wire, declared or not."""

    def __init__(self, app: App, max_body_bytes: int) -> None:
        self.app = app
        self.max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"")
        request_id = given.decode() if REQUEST_ID.match(given) else new_id("req")
        started = time.perf_counter()
        status = 0

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()), *SECURITY_HEADERS, (b"x-request-id", request_id.encode()),
                ]  # fmt: skip
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._answer(scope, headers, receive, send_on)
            except HTTPException:
                await problems.answer(body_too_large(self.max_body_bytes))(scope, receive, send_on)
            except Exception:
                log.exception("unexpected", method=scope["method"], path=scope["path"])
                if status:
                    raise  # the answer has begun: cut the connection so that nobody takes it for whole
                await problems.internal()(scope, receive, send_on)
            finally:
                self._record(scope, status, time.perf_counter() - started)

    async def _answer(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and int(declared[:20]) > self.max_body_bytes:
            raise _too_large(self.max_body_bytes)
        seen = 0

        async def receive_some() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > self.max_body_bytes:
                    raise _too_large(self.max_body_bytes)
            return message

        await self.app(scope, receive_some, send)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        route = template(scope["path"], scope["path_params"]) if "endpoint" in scope else "unmatched"
        REQUESTS.labels(route, scope["method"], status).inc()
        SECONDS.labels(route, scope["method"]).observe(seconds)
        quiet = status < 400
        (log.debug if quiet else log.info)(
            "request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1)
        )
