"""Waits for events in tests.

A test waits for what must happen, however long a loaded machine takes, so all of them share one generous limit. It
ends only a test that would never end, and is less than half of pytest's own (`timeout` in `pyproject.toml`), so that a
failure says what was waited for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

WITHIN_S = 240.0
"""Longest wait for one event."""
LONGEST_PAUSE_S = 0.2
"""Longest pause between two questions: one to a server costs it milliseconds."""

Result = TypeVar("Result")


def wait_until(
    what: str, probe: Callable[[], Result | None], *, within_s: float = WITHIN_S
) -> Result:
    """Return the first truthy result of `probe`. Raises AssertionError, which says `what`, after `within_s`."""
    deadline, waiter, pause_s = time.monotonic() + within_s, threading.Event(), 0.01
    while not (result := probe()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {within_s:.0f} s for {what}")
        waiter.wait(pause_s)
        pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
    return result


def give_enough_time(
    attempt: Callable[[float], Result | None], first_s: float
) -> Result:
    """Return the first truthy result of `attempt`, which is given a time limit, at first `first_s` and then ever longer.

    It is for what ends only with its limit, where something must happen before: a short limit keeps the test quick, and
    may be too short for a machine that stands still. Raises AssertionError when WITHIN_S are too short, too.
    """
    limit_s = first_s
    while not (result := attempt(limit_s)):
        assert limit_s < WITHIN_S, f"{limit_s:.0f} s were not enough"  # noqa: S101 - of tests
        limit_s *= 4
    return result
