"""Lets tests run transactions at once: threads that work with the access of the test that starts them (others would
work without a project), and waiting until PostgreSQL makes one wait for a lock."""

from __future__ import annotations

import threading
from contextvars import copy_context

from paceline_contract.testing.waiting import wait_until
from sqlalchemy import text

from paceline_server.store.session import database, read_scope


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

    def is_blocked() -> bool:
        with read_scope() as session:
            return bool(session.scalar(query))

    wait_until("a connection that waits for a lock", is_blocked)


def wait_for_hints() -> None:
    """Wait until this process hears hints: Redis passes them on only once it has read the subscription."""
    hints = database().hints

    def is_heard() -> bool:
        hints.publish("test")
        return hints.version("test") > 0

    wait_until("a hint", is_heard)
