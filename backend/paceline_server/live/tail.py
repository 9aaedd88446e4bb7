"""The tail: one reader of live events per process, fanning out to its streams.

Place: between the `live_event` rows and `routes.py`. Invariants: every stream sees every event of its filter
once, in the order of ids, however it was woken; a hint only makes it sooner (rows are looked at every
`poll_s` anyway); a slow client is cut off, never waited for, and resumes from the last id it saw. Runs only
while somebody listens.
"""

from __future__ import annotations

import asyncio
import contextlib
import time

import structlog

from paceline_server.live import queries
from paceline_server.live.id_gaps import GIVE_UP_S, GapTracker
from paceline_server.live.queries import StreamedEvent
from paceline_server.store.live_events import CHANNEL
from paceline_server.store.session import database, read_scope

log = structlog.get_logger("paceline.live")

QUEUE = 1000
"""Events a client may lag behind before it is cut off."""
POLL_S = 1.0
GAP_POLL_S = 0.05


class Subscription:
    """One stream's place in the tail: events after `start` arrive in `queue`; None ends the stream."""

    def __init__(self, start: int, run_id: str | None) -> None:
        self.start = start
        self.run_id = run_id
        self.queue: asyncio.Queue[StreamedEvent | None] = asyncio.Queue(QUEUE)
        self.look_again = asyncio.Event()
        """Set when a session or token ended somewhere: check that this one still holds."""
        self.cut_off = False

    def offer(self, event: StreamedEvent) -> None:
        """Hand over an event of the filter, or cut the client off when it lags too far."""
        if self.run_id is not None and event.run_id != self.run_id:
            return
        if not self.cut_off:
            try:
                self.queue.put_nowait(event)
            except asyncio.QueueFull:
                self.end()

    def end(self) -> None:
        """End the stream after what it has not yet sent was thrown away (it will resume)."""
        self.cut_off = True
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(None)


class Tail:
    """All streams of this process. Used from one event loop."""

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

    async def subscribe(self, run_id: str | None) -> Subscription:
        """Join; everything with an id above `start` will come through the queue. Starts the reader."""
        self._joining += 1
        try:
            if self._task is None or self._task.done():
                self._ready = asyncio.get_running_loop().create_future()
                self._task = asyncio.create_task(
                    self._run(self._ready), name="live-tail"
                )
            if self._ready is not None:
                await asyncio.shield(self._ready)
            subscription = Subscription(self.place, run_id)
            self._streams.add(subscription)
        finally:
            self._joining -= 1
        if self.closed:
            subscription.end()
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Leave; the reader rests when nobody is left."""
        self._streams.discard(subscription)
        if not self._streams and not self._joining and self._task is not None:
            self._task.cancel()
            self._task = None

    def close(self) -> None:
        """End every stream (shutdown)."""
        self.closed = True
        for subscription in list(self._streams):
            subscription.end()

    async def _run(self, ready: asyncio.Future[None]) -> None:
        self._gaps = GapTracker()
        loop = asyncio.get_running_loop()
        hints = database().hints

        def hinted(channel: str) -> None:
            loop.call_soon_threadsafe(self._hinted, channel)

        stop_listening = hints.listen(hinted)
        try:
            self.place = await self._beginning()
            ready.set_result(None)
            while True:
                self._wake.clear()
                progressed = await self._step()
                if not progressed:
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

    def _hinted(self, channel: str) -> None:
        if channel == CHANNEL:
            self._wake.set()
        elif channel == "accounts":
            for subscription in self._streams:
                subscription.look_again.set()

    async def _beginning(self) -> int:
        """The newest id such that no lower one can still appear."""
        place, fence = await asyncio.to_thread(_newest)
        deadline = time.monotonic() + GIVE_UP_S
        while fence is not None and time.monotonic() < deadline:
            oldest_open = (await asyncio.to_thread(_horizon))[0]
            if oldest_open >= fence:
                break
            await asyncio.sleep(GAP_POLL_S)
        return place

    async def _step(self) -> bool:
        """Read and hand out what may be shown; whether there may be more at once."""
        found, horizon = await asyncio.to_thread(_after, self.place)
        count = len(found)
        if horizon is not None:
            count = self._gaps.showable(
                self.place, [event.id for event in found], horizon, time.monotonic()
            )
        for event in found[:count]:
            self.place = event.id
            for subscription in list(self._streams):
                subscription.offer(event)
        return count == queries.PAGE


def _newest() -> tuple[int, int | None]:
    with read_scope() as session:
        place = queries.newest_id(session)
        return place, queries.write_horizon(session)[
            1
        ] if database().is_postgresql else None


def _horizon() -> tuple[int, int]:
    with read_scope() as session:
        return queries.write_horizon(session)


def _after(place: int) -> tuple[list[StreamedEvent], tuple[int, int] | None]:
    with read_scope() as session:
        horizon = queries.write_horizon(session) if database().is_postgresql else None
        return queries.events(session, place), horizon
