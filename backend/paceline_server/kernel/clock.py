"""Reads the server's clock: every stored instant comes from `now()` and is UTC (I6).

Tests replace it by a frozen clock. Deadlines of waits are measured with `time.monotonic` instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """The source of instants."""

    def now(self) -> datetime: ...


class SystemClock:
    """Wall time in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class FrozenClock:
    """A clock for tests that moves only by `advance`; several threads may read it."""

    def __init__(self, at: datetime | None = None) -> None:
        self._at = at or datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)

    def now(self) -> datetime:
        return self._at

    def advance(self, seconds: float) -> datetime:
        """Move forward and return the new instant."""
        self._at += timedelta(seconds=seconds)
        return self._at


_current: list[Clock] = [SystemClock()]


def now() -> datetime:
    """Return the current instant, UTC."""
    return _current[-1].now()


@contextmanager
def using(clock: Clock) -> Iterator[Clock]:
    """Let `now()` read `clock` in this process until the block ends."""
    _current.append(clock)
    try:
        yield clock
    finally:
        _current.remove(clock)
