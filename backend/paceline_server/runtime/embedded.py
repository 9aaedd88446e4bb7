"""Background work inside one process: a Celery worker thread and the sweeper (DESIGN §5, left column).

Invariant: the thread runs Celery's own consumer over `memory://`, so both shapes share one code path. It
installs no signal handlers (the server owns them) and ends within one drain of the queue.
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

STARTS_WITHIN_S = 20.0
ENDS_WITHIN_S = 15.0


class _Worker(WorkController):  # type: ignore[misc]  # Celery ships no types
    """A worker that says when it consumes."""

    def __init__(self, **options: object) -> None:
        self.ready = threading.Event()
        super().__init__(ready_callback=lambda _: self.ready.set(), **options)


class Background:
    """Worker thread and sweeper of an embedded process."""

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

    def start(self) -> None:
        """Start both; raises RuntimeError when the worker does not come up."""
        self._thread.start()
        if not self._worker.ready.wait(STARTS_WITHIN_S):
            raise RuntimeError("the background worker did not start; the log says why")
        self.sweeper.start()

    def stop(self) -> None:
        """Finish what is being carried out, then end. What is left is found by the next start's sweeper."""
        self.sweeper.stop()
        state.should_stop = 0
        with contextlib.suppress(
            Exception
        ):  # it looks up by itself after 2 s, and once more before it ends
            for _ in range(2):
                self.app.send_task(broker.WAKE, queue=broker.QUEUE)
        self._thread.join(ENDS_WITHIN_S)
        state.should_stop = None

    @property
    def alive(self) -> bool:
        return self._thread.is_alive() and self.sweeper.alive

    def _work(self) -> None:
        try:
            self._worker.start()
        except SystemExit:
            pass
        except Exception:
            log.exception("worker_failed")
