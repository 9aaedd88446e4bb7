"""A thread that works with the access of the test that starts it; other threads would work without a project."""

from __future__ import annotations

import threading
from contextvars import copy_context


class ContextThread(threading.Thread):
    """Runs its target in a copy of the context that called `start`."""

    def start(self) -> None:
        self._started_in = copy_context()
        super().start()

    def run(self) -> None:
        self._started_in.run(super().run)
