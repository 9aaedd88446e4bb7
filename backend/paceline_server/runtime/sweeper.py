"""The sweeper: what makes every message a mere hint (I4).

Place: a thread in the process that carries work out (embedded: the API; else every worker, one at a time by a
lock). Each look finds: outbox messages nobody announced or whose announcement was lost, leases and jobs that
time ran out on, targets that fell silent or whose maintenance is over, and rows that were only ever needed
for a while. Decides nothing itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import structlog

from paceline_server.accounts import service as accounts
from paceline_server.fleet import service as fleet
from paceline_server.ingest import upkeep as ingest
from paceline_server.jobs import tasks as jobs
from paceline_server.kernel import clock
from paceline_server.kernel.settings import Settings
from paceline_server.store import live_events, outbox
from paceline_server.store.session import read_scope, session_scope, try_exclusive

log = structlog.get_logger("paceline.sweeper")

ANNOUNCE_AGAIN_S = 5.0
"""A message announced this long ago and still pending is announced again: its announcement may be lost, or a
worker died with it. Announcing needlessly is harmless."""
PRUNE_EVERY_S = 600.0
KEEP_LIVE_EVENTS = timedelta(days=2)
KEEP_DONE_MESSAGES = timedelta(days=7)
SWEEP_LOCK = 0x73776570
"""Advisory lock "swep": one sweeper at a time per PostgreSQL database."""


class Sweeper:
    """Looks every `settings.sweep_s` until stopped."""

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
        """Ask it to end and wait for the look in progress."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(10)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.wait(self._settings.sweep_s):
            try:
                self.look()
            except Exception:  # a database away for a while must not end the sweeper
                log.exception("sweep_failed")
                self._stopping.wait(1.0)

    def look(self) -> None:
        """One look at everything. Several processes may look at once; the lock only saves work."""
        with read_scope() as session:
            if not try_exclusive(session, SWEEP_LOCK):
                return
            waiting = outbox.unannounced(session, clock.now(), ANNOUNCE_AGAIN_S)
            self._announce(waiting)
            jobs.sweep()
            fleet.sweep()
        self._tell_silent()
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

    def _tell_silent(self) -> None:
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
    """Remove what was needed for a while only: old live events, carried-out messages, ended sessions, failed
    sign-ins, enrolment codes, old events and readings of targets, what devices printed."""
    at = clock.now()
    with session_scope() as session:
        live_events.prune(session, at - KEEP_LIVE_EVENTS)
        outbox.prune(session, at - KEEP_DONE_MESSAGES)
        accounts.delete_expired(session)
        fleet.delete_expired_codes(session)
    fleet.delete_old_rows()
    ingest.forget_raw()
