"""Streams live events over HTTP as server-sent events, which can be resumed by id (WHATWG HTML §9.2).

A stream ends within one heartbeat after its session or token ended. Each account or token has at most `STREAMS_EACH`
streams in each API process; the limit protects a process's connections, so each process counts its own.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from paceline_server.accounts.auth import Principal, admit, require
from paceline_server.kernel.errors import ProblemError
from paceline_server.live import queries
from paceline_server.live.queries import StreamedEvent
from paceline_server.live.schemas import LiveEventOut
from paceline_server.live.tail import Subscription, Tail
from paceline_server.store import access
from paceline_server.store.session import read_scope

router = APIRouter(tags=["live"])

Reader = Annotated[Principal, Depends(require("project.read"))]
EventId = Annotated[int | None, Query(ge=0, lt=2**63)]

HEARTBEAT_S = 10.0
"""Interval of the comments that keep proxies from closing a stream; permission is checked at each."""
RETRY_MS = 2000
STREAMS_EACH = 16
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

_open: Counter[str] = Counter()


async def _count_stream(principal: Reader, request: Request) -> AsyncIterator[None]:
    """Count a stream for its owner until the response has ended. Nothing is awaited between check and count, so streams
    that are opened at the same time cannot exceed the limit."""
    place = request.client.host if request.client else "unknown"
    owner = principal.token_id or principal.account_id or f"anonymous {place}"
    if _open[owner] >= STREAMS_EACH:
        raise ProblemError(
            429,
            "too_many_streams",
            f"There are {STREAMS_EACH} open streams already; close one.",
            headers={"Retry-After": "5"},
        )
    _open[owner] += 1
    try:
        yield
    finally:
        _open[owner] -= 1
        if not _open[owner]:
            del _open[owner]


@router.get(
    "/stream",
    dependencies=[Depends(_count_stream)],
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "Server-sent events: `id` to resume from, `event` the kind, `data` LiveEventOut.",
            "content": {
                "text/event-stream": {"schema": LiveEventOut.model_json_schema()}
            },
        }
    },
)
async def stream(
    request: Request,
    reader: Reader,
    run: Annotated[str | None, Query(max_length=100)] = None,
    last_event_id: EventId = None,
    last_event_id_header: Annotated[str | None, Header(alias="Last-Event-ID")] = None,
) -> StreamingResponse:
    """Stream live events from now on, or after `Last-Event-ID`. The first event is `ready`; an event `reset` means that
    older events are deleted and the client should read everything again."""
    after = _resume_from(last_event_id_header, last_event_id)
    tail: Tail = request.app.state.tail
    body = _render_stream(request, tail, run, after, reader)
    return StreamingResponse(body, media_type="text/event-stream", headers=HEADERS)


def _resume_from(header: str | None, query: int | None) -> int | None:
    """Return the id after which to resume. The header wins, because on a reconnect it is newer than the URL; a
    malformed header is ignored."""
    if (
        header is not None
        and header.isascii()
        and header.isdigit()
        and len(header) < 19
    ):
        return int(header)
    return query


async def _render_stream(
    request: Request, tail: Tail, run: str | None, after: int | None, reader: Principal
) -> AsyncIterator[str]:
    subscription = None
    try:
        projects = frozenset({reader.project.id} if reader.project else ())
        subscription = await tail.subscribe(run, projects)
        place = subscription.start
        yield f"retry: {RETRY_MS}\nid: {after if after is not None else place}\nevent: ready\ndata: {{}}\n\n"
        if after is not None:
            if await asyncio.to_thread(_may_be_pruned, after):
                yield "event: reset\ndata: {}\n\n"
                after = min(after, place)
            last_id = after
            while last_id < place:
                events = await asyncio.to_thread(_read_events, last_id, place, run)
                for event in events:
                    yield _frame(event)
                if len(events) < queries.PAGE:
                    break
                last_id = events[-1].id
        async for text in _follow(
            request, subscription, max(after or 0, place), projects
        ):
            yield text
    finally:
        if subscription is not None:
            tail.leave(subscription)


async def _follow(
    request: Request, subscription: Subscription, seen: int, projects: frozenset[str]
) -> AsyncIterator[str]:
    """Yield events of the queue, and heartbeats, until permission ends or the client is cut off."""
    checked = asyncio.get_running_loop().time()
    while True:
        event = await _next(subscription)
        now = asyncio.get_running_loop().time()
        if subscription.recheck.is_set() or now - checked >= HEARTBEAT_S:
            subscription.recheck.clear()
            checked = now
            if not await asyncio.to_thread(_still_allowed, request, projects):
                return
            if event is _NO_EVENT:
                yield ": still here\n\n"
        if event is None:
            return
        if isinstance(event, StreamedEvent) and event.id > seen:
            yield _frame(event)


_NO_EVENT = object()


async def _next(subscription: Subscription) -> StreamedEvent | object | None:
    """Return the next event; None at the end; `_NO_EVENT` after `HEARTBEAT_S` or when permission must be checked."""
    if not subscription.queue.empty() and not subscription.recheck.is_set():
        return subscription.queue.get_nowait()
    getting = asyncio.ensure_future(subscription.queue.get())
    rechecking = asyncio.ensure_future(subscription.recheck.wait())
    try:
        done, _ = await asyncio.wait(
            {getting, rechecking},
            timeout=HEARTBEAT_S,
            return_when=asyncio.FIRST_COMPLETED,
        )
        return getting.result() if getting in done else _NO_EVENT
    finally:
        rechecking.cancel()
        getting.cancel()


def _frame(event: StreamedEvent) -> str:
    return f"id: {event.id}\nevent: {event.kind}\ndata: {event.json}\n\n"


def _still_allowed(request: Request, projects: frozenset[str]) -> bool:
    """Return whether the stream's reader may still read the same project."""
    try:
        project = admit(request, "project.read", is_use=False).principal.project
    except ProblemError:
        return False
    return project is not None and projects == {project.id}


def _read_events(after: int, until: int, run: str | None) -> list[StreamedEvent]:
    with read_scope() as session:
        return queries.events(session, after, until, run)


def _may_be_pruned(after: int) -> bool:
    """Return whether events after this id may be missing: they were deleted, or the database is older than the client's
    last event."""
    with access.as_system(), read_scope() as session:  # Ids are shared by all projects.
        oldest, newest = queries.span(session)
    return newest < after or oldest > after + 1
