"""Runs background work in the server's process: a Celery worker thread and the sweeper.

The thread runs Celery's own consumer, as a worker process does. It installs no signal handlers, because the server has
its own.
"""

from __future__ import annotations

import contextlib
import threading

import structlog
from celery import Celery
from celery.worker import WorkController, state

from paceline_server.kernel.settings import Settings
from paceline_server.runtime import broker, handlers
from paceline_server.runtime.sweeper import Sweeper
from paceline_server.store.session import Database

log = structlog.get_logger("paceline.worker")

STARTS_WITHIN_S = 60.0
"""A worker starts in a moment; a machine may stand still for longer."""
ENDS_WITHIN_S = 15.0


class _Worker(WorkController):  # type: ignore[misc]  # Celery ships no types
    """A worker with an event that is set when it begins to consume."""

    def __init__(self, **options: object) -> None:
        self.ready = threading.Event()
        super().__init__(ready_callback=lambda _: self.ready.set(), **options)


class Background:
    """The worker thread and the sweeper of an embedded process."""

    def __init__(self, settings: Settings, database: Database, app: Celery) -> None:
        self.app = app
        broker.attach(database, app)
        log.debug("handlers_loaded", features=handlers.load())
        self._worker = _Worker(
            app=app, hostname="embedded", **broker.worker_options(settings, 1)
        )
        self._thread = threading.Thread(
            target=self._work, name="celery-worker", daemon=True
        )
        self.sweeper = Sweeper(settings, database.publish_outbox)
        self._lanes = broker.open_lanes()

    def start(self) -> None:
        """Start both. Raises RuntimeError if the worker does not start."""
        self._thread.start()
        if not self._worker.ready.wait(STARTS_WITHIN_S):
            raise RuntimeError("the background worker did not start; the log says why")
        self.sweeper.start()

    def stop(self) -> None:
        """Finish the message in progress and stop. The sweeper finds the others at the next start."""
        self.sweeper.stop()
        state.should_stop = 0
        # Without messages, the consumer notices only after two checks, which are 2 s apart.
        with contextlib.suppress(Exception):
            for _ in range(2):
                self.app.send_task(broker.WAKE, queue=broker.QUEUE)
        self._thread.join(ENDS_WITHIN_S)
        broker.close_lanes(self._lanes)
        state.should_stop = None

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive() and self.sweeper.is_alive

    def _work(self) -> None:
        try:
            self._worker.start()
        except SystemExit:
            pass
        except Exception:
            log.exception("worker_failed")
