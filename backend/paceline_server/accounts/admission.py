"""Decides whether a request may reach its route, before a byte of its body is read.

FastAPI parses a body before it runs any dependency, so this middleware checks first: the path has the method, the
caller has the required permissions in the project of the request, path and query values are well-formed, the body is
within the route's limit, and there is memory to parse it. An application with a route that has neither `require(…)`
nor `ANYONE` does not start. A route sets its limit with FastAPI's `max_body_size`; `api.py` sets the default.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from urllib.parse import parse_qsl, urlsplit

from fastapi import HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from paceline_server.accounts.auth import Requirement, admit, anyone
from paceline_server.kernel import problems
from paceline_server.kernel.errors import ProblemError, body_too_large, invalid_request
from paceline_server.kernel.requests import TEMPLATE, App, Message, Receive, Scope, Send
from paceline_server.kernel.route_table import Match, Route, RouteTable
from paceline_server.store import access

API = "/api"
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]*)(:[0-9]{0,5})?")
MAX_ADDRESS_BYTES = 16 * 1024
"""The limit of path and query together; our pages use less than a quarter of it."""
PARSING_BYTES = {True: 256 * 1024, False: 16 * 1024 * 1024}
"""The bytes of request bodies that may be in memory at once: those of public routes (True) and those of authenticated
ones. Parsed JSON takes up to 34 times its size (measured with nested empty lists): 9 MiB and 550 MiB at most."""
MAX_BUDGET_WAIT_S = 20.0
"""How long a body waits for its budget; agents wait 30 s for a response."""


class Admission:
    """The middleware around an application with these `routes`; no body may have more than `max_body_bytes`."""

    def __init__(self, app: App, routes: RouteTable, max_body_bytes: int) -> None:
        self.app = app
        self.routes = routes
        self.max_body_bytes = max_body_bytes
        self._budgets = {
            public: BodyBudget(size) for public, size in PARSING_BYTES.items()
        }
        for route in routes.routes:
            if not _declares_access(route):
                raise TypeError(
                    f"{route.template}: declare who may use this route, by require(…) or dependencies=[ANYONE]"
                )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        try:
            route = self._find_route(scope)
            scope[TEMPLATE] = route.template
            requirements = [
                dependency
                for dependency in route.dependencies or ()
                if isinstance(dependency, Requirement)
            ]
            limits = access.NO_ACCESS
            if requirements:
                limits = await run_in_threadpool(_admit, request, requirements)
            limit = min(
                route.max_body_bytes or self.max_body_bytes, self.max_body_bytes
            )
            _refuse_declared_size(scope, limit)
        except Exception as error:
            refusal = problems.respond_to(request, error)
            if refusal is None:
                raise
            await refusal(scope, receive, send)
            return
        body = BudgetedBody(self._budgets[not requirements], receive, limit)
        try:
            with access.using(limits):
                await self.app(scope, body.receive, send)
        finally:
            body.release()

    def _find_route(self, scope: Scope) -> Route:
        """Return the route of a request. Raises 400, 404, 405, 414 or 422."""
        if (
            len(scope.get("raw_path") or b"") + len(scope["query_string"])
            > MAX_ADDRESS_BYTES
        ):
            raise ProblemError(
                414,
                "uri_too_long",
                f"An address has at most {MAX_ADDRESS_BYTES} bytes.",
            )
        _refuse_invalid_host(scope)
        match = self._match(scope["path"])
        if scope["method"] not in match.methods:
            raise ProblemError(
                405,
                "method_not_allowed",
                f"This path has the methods {match.allow}.",
                headers={"Allow": match.allow},
            )
        route, params = match.methods[scope["method"]]
        query = parse_qsl(
            scope["query_string"].decode("latin-1"), keep_blank_values=True
        )
        faults = route.find_malformed("path", params.items()) | route.find_malformed(
            "query", query
        )
        if faults:
            where, expected = next(iter(faults.items()))
            raise ProblemError(
                422, "invalid_request", f"{where}: {expected}", fields=faults
            )
        return route

    def _match(self, path: str) -> Match:
        match = self.routes.find(path)
        if match is not None:
            return match
        if path == API or path.startswith(f"{API}/"):
            raise ProblemError(404, "not_found", f"There is no {path[:200]}.")
        return self.routes.pages


def _declares_access(route: Route) -> bool:
    """Return whether the route declares who may use it. FastAPI's own route, which serves the OpenAPI document, needs
    no declaration."""
    calls = route.dependencies
    return calls is None or any(
        isinstance(call, Requirement) or call is anyone for call in calls
    )


def _admit(request: Request, requirements: list[Requirement]) -> access.Access:
    """Store the principal of a request in its state, and return the access. Raises unless every requirement is met."""
    needed = dict.fromkeys(
        permission
        for requirement in requirements
        for permission in requirement.permissions
    )
    admitted = admit(request, *needed)
    request.state.principal = admitted.principal
    return admitted.access


def _refuse_invalid_host(scope: Scope) -> None:
    """Raise 400 for an invalid `Host` header, which later code relies on."""
    for name, value in scope["headers"]:
        if name == b"host":
            host = value.decode("latin-1")
            try:
                is_valid = (
                    HOST.fullmatch(host) is not None
                    and urlsplit(f"//{host}").port != -1
                )
            except ValueError:  # a port beyond 65535, brackets around no address
                is_valid = False
            if not is_valid:
                raise invalid_request(
                    "The header Host is not a host name with an optional port."
                )


def _refuse_declared_size(scope: Scope, limit: int) -> None:
    """Raise 413 if `Content-Length` is too large."""
    for name, value in scope["headers"]:
        if name == b"content-length" and (
            not value.isdigit() or int(value[:20]) > limit
        ):
            raise body_too_large(limit)


class BodyBudget:
    """Counts the bytes of request bodies in memory. Bodies that find no room wait for it in order of arrival."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.taken = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def reserve(self, size: int) -> int:
        """Wait for room and reserve it; returns the bytes to release. Raises 503 `busy` after `MAX_BUDGET_WAIT_S`.

        FastAPI passes on no exception but `HTTPException` while it reads a body.
        """
        size = min(size, self.size)
        if not self._waiting and self.taken + size <= self.size:
            self.taken += size
            return size
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        self._admit_waiting()
        try:
            await asyncio.wait_for(asyncio.shield(turn), MAX_BUDGET_WAIT_S)
        except (TimeoutError, asyncio.CancelledError) as error:
            if turn.done():
                self.release(size)
            else:
                self._waiting.remove((size, turn))
            if isinstance(error, asyncio.CancelledError):
                raise
            raise HTTPException(
                503,
                "Too many requests are being read; try again.",
                headers={"Retry-After": "1"},
            ) from None
        return size

    def release(self, size: int) -> None:
        """Release reserved bytes and admit bodies that wait for them."""
        self.taken -= size
        self._admit_waiting()

    def _admit_waiting(self) -> None:
        while self._waiting and self.taken + self._waiting[0][0] <= self.size:
            size, turn = self._waiting.popleft()
            self.taken += size
            turn.set_result(None)


class BudgetedBody:
    """Receives a request's body of at most `limit` bytes. Room in the budget is reserved only when the last part has
    arrived, so that a slow sender occupies none of it."""

    def __init__(self, budget: BodyBudget, receive: Receive, limit: int) -> None:
        self._budget = budget
        self._receive = receive
        self._limit = limit
        self._size = 0
        self._taken = 0

    async def receive(self) -> Message:
        """Return the next message of the body. Raises 413, as an `HTTPException`, which FastAPI passes on."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            if self._size > self._limit:
                raise HTTPException(413, body_too_large(self._limit).detail)
            if not message.get("more_body", False) and self._size and not self._taken:
                self._taken = await self._budget.reserve(self._size)
        return message

    def release(self) -> None:
        """Release the body's bytes after the response."""
        taken, self._taken = self._taken, 0
        if taken:
            self._budget.release(taken)
