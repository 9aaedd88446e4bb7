"""Carries out messages that wait for other servers, beside the worker's other messages.

Messages of one lane are carried out one after the other, so a receiver that hangs blocks at most one thread; other
lanes and the analysis of jobs continue. Queued messages are lost when the process ends; the sweeper announces them
again.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import structlog

log = structlog.get_logger("paceline.lanes")

THREADS = 16
"""So many receivers may hang at once before others wait; each thread only waits for a socket."""


class Lanes:
    """Queues of message ids by lane; `work` carries out one message."""

    def __init__(self, work: Callable[[int], object], threads: int = THREADS) -> None:
        self._work = work
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="lane")
        self._lock = threading.Lock()
        self._queues: dict[str, deque[int]] = {}
        self._known: set[int] = set()
        self._stopping = False

    def submit(self, lane: str, message_id: int) -> None:
        """Queue a message, unless it is queued or in progress already."""
        with self._lock:
            if self._stopping or message_id in self._known:
                return
            self._known.add(message_id)
            queue = self._queues.get(lane)
            if queue is not None:
                queue.append(message_id)
                return
            self._queues[lane] = deque([message_id])
            self._pool.submit(self._run, lane)

    def stop(self) -> None:
        """Finish the messages in progress and forget the others."""
        with self._lock:
            self._stopping = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _run(self, lane: str) -> None:
        while (message_id := self._next(lane)) is not None:
            try:
                self._work(message_id)
            except Exception:
                # The database may be unavailable; the sweeper announces the message again.
                log.exception("message_failed", lane=lane, message_id=message_id)
            finally:
                with self._lock:
                    self._known.discard(message_id)

    def _next(self, lane: str) -> int | None:
        with self._lock:
            queue = self._queues[lane]
            if queue and not self._stopping:
                return queue.popleft()
            del self._queues[lane]
            return None
