"""The stream: server-sent events, resumable by id (WHATWG HTML §9.2). The one asynchronous corner of the API.

Invariants: a stream ends within one heartbeat after its session or token ended; one account or token has at
most `STREAMS_EACH` streams; nothing is kept for a client that went away.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from paceline_server.accounts.auth import Principal, authorised, require
from paceline_server.kernel.errors import ProblemError
from paceline_server.live import queries
from paceline_server.live.queries import StreamedEvent
from paceline_server.live.schemas import LiveEventOut
from paceline_server.live.tail import Subscription, Tail
from paceline_server.store.session import read_scope

router = APIRouter(tags=["live"])

Reader = Annotated[Principal, Depends(require("read"))]
EventId = Annotated[int | None, Query(ge=0, lt=2**63)]

HEARTBEAT_S = 10.0
"""A comment this often keeps proxies from closing the stream, and is when permission is looked at again."""
RETRY_MS = 2000
STREAMS_EACH = 16
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

_open: Counter[str] = Counter()


async def _place_of_owner(principal: Reader) -> AsyncIterator[None]:
    """One of an owner's streams, from before the answer begins until it has ended, however it ends. Nothing
    is awaited between the look and the count, so of streams opened at once no more than allowed pass."""
    owner = principal.token_id or principal.account_id or principal.name
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
    dependencies=[Depends(_place_of_owner)],
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
    _: Reader,
    run: Annotated[str | None, Query(max_length=100)] = None,
    last_event_id: EventId = None,
    last_event_id_header: Annotated[str | None, Header(alias="Last-Event-ID")] = None,
) -> StreamingResponse:
    """Live events from now on, or from after `Last-Event-ID`. Begins with an event `ready`; an event `reset`
    means that older events are gone and the page should read everything again."""
    after = _resume_from(last_event_id_header, last_event_id)
    tail: Tail = request.app.state.tail
    body = _lines(request, tail, run, after)
    return StreamingResponse(body, media_type="text/event-stream", headers=HEADERS)


def _resume_from(header: str | None, query: int | None) -> int | None:
    """The browser's header wins: on a reconnect it is newer than the address. Garbage counts as absent."""
    if (
        header is not None
        and header.isascii()
        and header.isdigit()
        and len(header) < 19
    ):
        return int(header)
    return query


async def _lines(
    request: Request, tail: Tail, run: str | None, after: int | None
) -> AsyncIterator[str]:
    subscription = None
    try:
        subscription = await tail.subscribe(run)
        place = subscription.start
        yield f"retry: {RETRY_MS}\nid: {after if after is not None else place}\nevent: ready\ndata: {{}}\n\n"
        if after is not None:
            if await asyncio.to_thread(_pruned, after):
                yield "event: reset\ndata: {}\n\n"
                after = min(after, place)
            seen = after
            while seen < place:
                found = await asyncio.to_thread(_between, seen, place, run)
                for event in found:
                    yield _frame(event)
                if len(found) < queries.PAGE:
                    break
                seen = found[-1].id
        async for text in _follow(request, subscription, max(after or 0, place)):
            yield text
    finally:
        if subscription is not None:
            tail.leave(subscription)


async def _follow(
    request: Request, subscription: Subscription, seen: int
) -> AsyncIterator[str]:
    """What comes through the queue, with heartbeats, until permission or patience ends."""
    checked = asyncio.get_running_loop().time()
    while True:
        event = await _next(subscription)
        now = asyncio.get_running_loop().time()
        if subscription.look_again.is_set() or now - checked >= HEARTBEAT_S:
            subscription.look_again.clear()
            checked = now
            if not await asyncio.to_thread(_still_allowed, request):
                return
            if event is _NOTHING:
                yield ": still here\n\n"
        if event is None:
            return
        if isinstance(event, StreamedEvent) and event.id > seen:
            yield _frame(event)


_NOTHING = object()


async def _next(subscription: Subscription) -> StreamedEvent | object | None:
    """The next event, None for the end, `_NOTHING` after a heartbeat's time or when told to look again."""
    if not subscription.queue.empty() and not subscription.look_again.is_set():
        return subscription.queue.get_nowait()
    getting = asyncio.ensure_future(subscription.queue.get())
    looking = asyncio.ensure_future(subscription.look_again.wait())
    try:
        done, _ = await asyncio.wait(
            {getting, looking}, timeout=HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED
        )
        return getting.result() if getting in done else _NOTHING
    finally:
        looking.cancel()
        getting.cancel()


def _frame(event: StreamedEvent) -> str:
    return f"id: {event.id}\nevent: {event.kind}\ndata: {event.json}\n\n"


def _still_allowed(request: Request) -> bool:
    try:
        authorised(request, "read")
    except ProblemError:
        return False
    return True


def _between(after: int, until: int, run: str | None) -> list[StreamedEvent]:
    with read_scope() as session:
        return queries.events(session, after, until, run)


def _pruned(after: int) -> bool:
    """Whether events the client has not seen may be gone: the next one is, or the one it saw last and all
    after it (nothing is left, or the database is an older one)."""
    with read_scope() as session:
        oldest, newest = queries.span(session)
    return newest < after or oldest > after + 1
