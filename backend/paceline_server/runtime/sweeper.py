"""Finds work that no message announced, so that a lost message only delays (I4).

The sweeper is a thread. It announces pending outbox messages again, expires leases and jobs, creates scheduled runs,
ends maintenance, raises alerts that no job shows, reports targets that went silent, and deletes old rows. It runs in
the API if embedded, else in every worker, where a lock lets one sweep at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from paceline_server.accounts import service as accounts
from paceline_server.alerts import service as alerts
from paceline_server.channels import service as channels
from paceline_server.fleet import service as fleet
from paceline_server.ingest import upkeep as ingest
from paceline_server.jobs import tasks as jobs
from paceline_server.kernel import clock
from paceline_server.kernel.settings import Settings
from paceline_server.store import live_events, outbox
from paceline_server.store.session import read_scope, session_scope, try_lock

log = structlog.get_logger("paceline.sweeper")

ANNOUNCE_AGAIN_S = 5.0
"""A pending message is announced again after this time, because its announcement may be lost or a worker may have
died. Announcing twice is harmless."""
PRUNE_EVERY_S = 600.0
KEEP_LIVE_EVENTS = timedelta(days=2)
KEEP_DONE_MESSAGES = timedelta(days=7)
SWEEP_LOCK = 0x73776570
"""The key of the advisory lock ("swep") that lets one sweeper at a time work on a PostgreSQL database."""


class Sweeper:
    """Sweeps every `settings.sweep_s` until stopped."""

    def __init__(
        self, settings: Settings, publish: Callable[[list[int]], None]
    ) -> None:
        self._settings = settings
        self._publish = publish
        self._announced: dict[int, float] = {}
        self._silent_until: datetime | None = None
        self._pruned_at = time.monotonic()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, and wait for the sweep in progress."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(10)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.wait(self._settings.sweep_s):
            try:
                self.sweep()
            except Exception:  # An unavailable database must not end the sweeper.
                log.exception("sweep_failed")
                self._stopping.wait(1.0)

    def sweep(self) -> None:
        """Sweep once. Several processes may do so at once; the lock only saves work."""
        with read_scope() as session:
            if not try_lock(session, SWEEP_LOCK):
                return
            self._announce(
                outbox.list_unannounced(session, clock.now(), ANNOUNCE_AGAIN_S)
            )
            jobs.sweep()
            fleet.sweep()
            alerts.sweep()
        self._publish_silent_targets()
        if time.monotonic() - self._pruned_at >= PRUNE_EVERY_S:
            self._pruned_at = time.monotonic()
            prune()

    def _announce(self, waiting: list[int]) -> None:
        now = time.monotonic()
        self._announced = {
            key: at for key, at in self._announced.items() if key in set(waiting)
        }
        fresh = [
            key
            for key in waiting
            if now - self._announced.get(key, -ANNOUNCE_AGAIN_S) >= ANNOUNCE_AGAIN_S
        ]
        if fresh:
            try:
                self._publish(fresh)
            except Exception as error:
                log.warning(
                    "announcement_failed", messages=len(fresh), error=str(error)[:200]
                )
                return
            self._announced.update(dict.fromkeys(fresh, now))

    def _publish_silent_targets(self) -> None:
        until = clock.now() - timedelta(seconds=self._settings.offline_after_s)
        since = self._silent_until or until - timedelta(
            seconds=self._settings.offline_after_s
        )
        self._silent_until = until
        with read_scope() as session:
            if not fleet.has_silent_targets(session, since, until):
                return
        with session_scope() as session:
            fleet.publish_silent_targets(session, since, until)


def prune() -> None:
    """Delete old live events, outbox messages, sessions, failed sign-ins, enrolment codes and notifications, and old
    events, readings and raw output of targets."""
    at = clock.now()
    with session_scope() as session:
        live_events.prune(session, at - KEEP_LIVE_EVENTS)
        outbox.prune(session, at - KEEP_DONE_MESSAGES)
        accounts.delete_expired(session)
        fleet.delete_expired_codes(session)
        channels.delete_old(session, at)
    fleet.delete_old_rows()
    ingest.delete_raw()
