"""The server's clock, the only clock (I6): a port, the system's implementation and a frozen one for tests.

Invariant: every stored instant comes from `now()` and is UTC. Waiting never uses this clock: waits are on
conditions with a deadline of `time.monotonic`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Where instants come from."""

    def now(self) -> datetime: ...


class SystemClock:
    """Wall time in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class FrozenClock:
    """Stands still until told to move. For tests; safe to read from several threads."""

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
    """The current instant, UTC."""
    return _current[-1].now()


@contextmanager
def using(clock: Clock) -> Iterator[Clock]:
    """Let `now()` read `clock` in this process until the block ends."""
    _current.append(clock)
    try:
        yield clock
    finally:
        _current.remove(clock)
