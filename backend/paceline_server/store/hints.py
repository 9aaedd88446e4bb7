"""Publishes hints: something has changed, so rows should be read again. A lost hint only delays (I4).

`session.py` publishes them after a commit; long polls and live streams wait for them. They work within this process
(embedded) or over Redis pub/sub between processes, and carry only the name of a channel.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import structlog

log = structlog.get_logger("paceline.hints")

REDIS_CHANNEL = "paceline:hints"
RETRY_AFTER_S = 3.0
"""The pause before a failed Redis is tried again, so that an outage does not slow every request."""
RECONNECT_S = 1.0
"""The pause before reconnecting to Redis. Readers poll meanwhile."""


class Hints:
    """Hints within this process. Thread-safe. The channels are `live`, `jobs` and `accounts`."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._versions: dict[str, int] = defaultdict(int)
        self._listeners: list[Callable[[str], None]] = []

    def publish(self, channel: str) -> None:
        """Wake everyone who waits on `channel`. Never raises."""
        self._wake(channel)

    def version(self, channel: str) -> int:
        """Return the number of hints so far. Callers read it before the rows and pass it to `wait`, to miss no hint."""
        with self._changed:
            return self._versions[channel]

    def wait(self, channel: str, seen: int, timeout_s: float) -> bool:
        """Block until `channel` has more hints than `seen`; returns False after `timeout_s`."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._versions[channel] != seen, timeout_s
            )

    def listen(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Call `callback(channel)` on every hint, on the publisher's thread; returns a function that stops this."""
        self._listeners.append(callback)
        return lambda: (
            self._listeners.remove(callback) if callback in self._listeners else None
        )

    def close(self) -> None:
        """Release threads and connections."""

    def _wake(self, channel: str) -> None:
        with self._changed:
            self._versions[channel] += 1
            self._changed.notify_all()
        for callback in list(self._listeners):
            callback(channel)


class RedisHints(Hints):
    """Hints between processes. While Redis is unavailable, hints arrive late."""

    def __init__(self, url: str) -> None:
        super().__init__()
        import redis  # noqa: PLC0415 - not needed in the embedded shape

        self._redis = redis.Redis.from_url(
            url, socket_connect_timeout=2, socket_timeout=2
        )
        self._subscriber = redis.Redis.from_url(url, socket_connect_timeout=2)
        self._connection_errors = (redis.RedisError, OSError)
        self._stopping = threading.Event()
        self._retry_at = 0.0
        self.subscribed = threading.Event()
        self._thread = threading.Thread(
            target=self._receive_hints, name="hints", daemon=True
        )
        self._thread.start()

    def publish(self, channel: str) -> None:
        if time.monotonic() >= self._retry_at:
            try:
                self._redis.publish(REDIS_CHANNEL, channel)
            except self._connection_errors as error:
                self._retry_at = time.monotonic() + RETRY_AFTER_S
                log.warning("hint_lost", channel=channel, error=str(error))
            else:
                return
        self._wake(channel)

    def close(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=5)
        self._redis.close()
        self._subscriber.close()

    def _receive_hints(self) -> None:
        is_logged = False
        while not self._stopping.is_set():
            try:
                with self._open_subscription() as subscription:
                    subscription.subscribe(REDIS_CHANNEL)
                    self.subscribed.set()
                    self._pass_on_messages(subscription)
            except self._connection_errors as error:
                if self.subscribed.is_set() or not is_logged:
                    log.warning("hints_disconnected", error=str(error))
                    is_logged = True
                self.subscribed.clear()
                self._stopping.wait(RECONNECT_S)

    def _open_subscription(self) -> Any:
        return self._subscriber.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]

    def _pass_on_messages(self, subscription: Any) -> None:
        while not self._stopping.is_set():
            message = subscription.get_message(timeout=0.5)
            if message is not None:
                self._wake(message["data"].decode())
