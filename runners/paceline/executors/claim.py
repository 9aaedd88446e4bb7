"""Locks a target for exclusive use on this host, across agents, lanes and manual runs (I9).

A file lock, so that the target is released however the process ends.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from paceline.stop import Stop

LOOK_S = 0.1
"""Pause between two tries to take the lock."""


class TargetClaim:
    """The lock of target `serial`."""

    def __init__(self, serial: str, lock_dir: Path | None = None) -> None:
        directory = lock_dir or Path(tempfile.gettempdir())
        # A device chooses its serial, which may hold any character.
        name = re.sub(r"[^A-Za-z0-9._-]", "_", serial)
        self._lock = FileLock(
            directory / f"paceline-target-{name}.lock", mode=0o666, thread_local=False
        )

    @contextmanager
    def claim(self, stop: Stop, timeout_s: float | None = None) -> Iterator[bool]:
        """Waits for the lock. Yields False when stopped or timed out first."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            with contextlib.suppress(Timeout):
                self._lock.acquire(timeout=0)
                break
            if stop.wait(LOOK_S) or (
                deadline is not None and time.monotonic() >= deadline
            ):
                yield False
                return
        try:
            yield True
        finally:
            self._lock.release()
