"""Lets tests run transactions at once: threads that work with the access of the test that starts them (others would
work without a project), and waiting until PostgreSQL makes one wait for a lock."""

from __future__ import annotations

import threading
import time
from contextvars import copy_context

from paceline_contract.testing.waiting import WITHIN_S
from sqlalchemy import text

from paceline_server.store.session import read_scope


class ContextThread(threading.Thread):
    """Runs its target in a copy of the context that called `start`."""

    def start(self) -> None:
        self._started_in = copy_context()
        super().start()

    def run(self) -> None:
        self._started_in.run(super().run)


def wait_for_blocked_connection() -> None:
    """Wait until another connection of this database waits for a lock. Raises AssertionError if none does."""
    query = text(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    deadline, pause = time.monotonic() + WITHIN_S, threading.Event()
    while True:
        with read_scope() as session:
            if session.scalar(query):
                return
        if time.monotonic() >= deadline:
            raise AssertionError("no connection waits for a lock")
        pause.wait(0.02)
