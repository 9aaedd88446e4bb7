"""Reads live events once per process and passes them to its streams.

Every stream gets every event of its filter once, in order of id; hints only make this sooner than the next poll. A slow
client is cut off and resumes after the last id it saw. The reader runs only while there are streams.
"""

from __future__ import annotations

import asyncio
import contextlib
import time

import structlog

from paceline_server.live import queries
from paceline_server.live.id_gaps import GIVE_UP_S, GapTracker
from paceline_server.live.queries import StreamedEvent
from paceline_server.store import access
from paceline_server.store.live_events import CHANNEL
from paceline_server.store.session import database, read_scope

log = structlog.get_logger("paceline.live")

QUEUE = 1000
"""A client that is more events behind is cut off."""
POLL_S = 1.0
GAP_POLL_S = 0.05


class Subscription:
    """The subscription of a stream: events after `start` arrive in `queue`; None ends the stream."""

    def __init__(
        self, start: int, run_id: str | None, projects: frozenset[str]
    ) -> None:
        self.start = start
        self.run_id = run_id
        self.projects = projects
        self.queue: asyncio.Queue[StreamedEvent | None] = asyncio.Queue(QUEUE)
        self.recheck = asyncio.Event()
        """Set when any session or token ended, so that the stream checks whether its own did."""
        self.cut_off = False

    def offer(self, event: StreamedEvent) -> None:
        """Queue an event that passes the filter; cut the client off if it is too far behind."""
        if self.run_id is not None and event.run_id != self.run_id:
            return
        if not event.projects & self.projects:
            return
        if not self.cut_off:
            try:
                self.queue.put_nowait(event)
            except asyncio.QueueFull:
                self.end()

    def end(self) -> None:
        """End the stream and discard its queue; the client resumes after the last id it saw."""
        self.cut_off = True
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(None)


class Tail:
    """The reader of this process and its streams. It is used from one event loop."""

    def __init__(self, poll_s: float = POLL_S) -> None:
        self.poll_s = poll_s
        self.place = 0
        self.closed = False
        self._streams: set[Subscription] = set()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._gaps = GapTracker()
        self._joining = 0

    def __len__(self) -> int:
        return len(self._streams)

    async def subscribe(
        self, run_id: str | None, projects: frozenset[str]
    ) -> Subscription:
        """Add a stream, which gets every event of these projects after its `start`, and start the reader."""
        self._joining += 1
        try:
            if self._task is None or self._task.done():
                self._ready = asyncio.get_running_loop().create_future()
                with access.as_system():  # It reads for streams of all projects.
                    self._task = asyncio.create_task(
                        self._run(self._ready), name="live-tail"
                    )
            if self._ready is not None:
                await asyncio.shield(self._ready)
            subscription = Subscription(self.place, run_id, projects)
            self._streams.add(subscription)
        finally:
            self._joining -= 1
        if self.closed:
            subscription.end()
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Remove a stream, and stop the reader after the last one."""
        self._streams.discard(subscription)
        if not self._streams and not self._joining and self._task is not None:
            self._task.cancel()
            self._task = None

    def close(self) -> None:
        """End every stream, at shutdown."""
        self.closed = True
        for subscription in list(self._streams):
            subscription.end()

    async def _run(self, ready: asyncio.Future[None]) -> None:
        self._gaps = GapTracker()
        loop = asyncio.get_running_loop()
        hints = database().hints

        def wake_on_hint(channel: str) -> None:
            loop.call_soon_threadsafe(self._wake_for_hint, channel)

        stop_listening = hints.listen(wake_on_hint)
        try:
            self.place = await self._find_start()
            ready.set_result(None)
            while True:
                self._wake.clear()
                more_waiting = await self._read_and_offer()
                if not more_waiting:
                    pause = GAP_POLL_S if self._gaps.waiting else self.poll_s
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._wake.wait(), pause)
        except Exception as error:
            if not ready.done():
                ready.set_exception(error)
            log.exception("live_tail_failed")
            for subscription in list(self._streams):
                subscription.end()
        finally:
            stop_listening()
            if not ready.done():
                ready.cancel()

    def _wake_for_hint(self, channel: str) -> None:
        if channel == CHANNEL:
            self._wake.set()
        elif channel == "accounts":
            for subscription in self._streams:
                subscription.recheck.set()

    async def _find_start(self) -> int:
        """Return the newest id, once no lower id can still appear."""
        place, fence = await asyncio.to_thread(_read_newest)
        deadline = time.monotonic() + GIVE_UP_S
        while fence is not None and time.monotonic() < deadline:
            oldest_open = (await asyncio.to_thread(_read_horizon))[0]
            if oldest_open >= fence:
                break
            await asyncio.sleep(GAP_POLL_S)
        return place

    async def _read_and_offer(self) -> bool:
        """Read the next events and offer the streams those that may be shown; returns whether more may wait."""
        events, horizon = await asyncio.to_thread(_read_after, self.place)
        count = len(events)
        if horizon is not None:
            count = self._gaps.count_showable(
                self.place, [event.id for event in events], horizon, time.monotonic()
            )
        for event in events[:count]:
            self.place = event.id
            for subscription in list(self._streams):
                subscription.offer(event)
        return count == queries.PAGE


def _read_newest() -> tuple[int, int | None]:
    """Return the newest id and, on PostgreSQL, the next transaction id: open transactions may still add lower ids."""
    with read_scope() as session:
        place = queries.newest_id(session)
        if not database().is_postgresql:
            return place, None
        _, following = queries.write_horizon(session)
        return place, following


def _read_horizon() -> tuple[int, int]:
    with read_scope() as session:
        return queries.write_horizon(session)


def _read_after(place: int) -> tuple[list[StreamedEvent], tuple[int, int] | None]:
    with read_scope() as session:
        horizon = queries.write_horizon(session) if database().is_postgresql else None
        return queries.events(session, place), horizon
