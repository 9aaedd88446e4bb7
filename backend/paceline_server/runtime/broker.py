"""Carries ids of outbox rows from a commit to a worker by Celery (I5): over Redis, or `memory://` in one process.

Delivering an id twice, late or never is harmless. Publishing never fails a request and never blocks it for longer
than `PUBLISH_WITHIN_S`.
"""

from __future__ import annotations

import time
from typing import Any

import structlog
from celery import Celery

from paceline_server.kernel.settings import Settings
from paceline_server.runtime.lanes import Lanes
from paceline_server.store import outbox
from paceline_server.store.session import Database

log = structlog.get_logger("paceline.broker")

TASK = "paceline.carry_out"
WAKE = "paceline.wake"
QUEUE = "paceline"
POLLING_S = 0.05
"""The in-memory transport looks for messages this often, which delays embedded work by at most as much."""
PUBLISH_WITHIN_S = 2.0
AWAY_S = 3.0
"""Pause before trying a failed broker again."""


def make_celery(settings: Settings) -> Celery:
    """Return the Celery application, not connected yet."""
    if settings.redis_url is None:
        broker, options = "memory://localhost/", {"polling_interval": POLLING_S}
    else:
        broker = settings.redis_url
        options = {
            "socket_connect_timeout": PUBLISH_WITHIN_S,
            "socket_timeout": 30.0,
            "retry_on_timeout": False,
            "max_retries": 0,  # of publishing; consumers retry by another setting
            "interval_start": 0.0,
        }
    app = Celery("paceline", broker=broker, set_as_current=False, fixups=[])
    app.conf.update(
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=options,
        task_default_queue=QUEUE,
        task_ignore_result=True,
        task_publish_retry=False,
        task_serializer="json",
        accept_content=["json"],
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_prefetch_multiplier=1,
        worker_cancel_long_running_tasks_on_connection_loss=True,  # concerns late acks, which we do not use
        worker_send_task_events=False,
        enable_utc=True,
    )
    app.task(name=TASK)(_carry_out)
    app.task(name=WAKE)(_do_nothing)
    return app


def _carry_out(message_id: int) -> None:
    lane = outbox.lane_of_message(message_id) if _lanes else None
    if lane is None:
        outbox.carry_out(message_id)
    else:
        _lanes[-1].submit(lane, message_id)


_lanes: list[Lanes] = []
"""The lanes of this process while its worker runs. Tasks find them here, because Celery shares tasks between
applications."""


def open_lanes() -> Lanes:
    """Let this process carry out requests to other servers beside its other messages, until `close_lanes`."""
    _lanes.append(Lanes(outbox.carry_out))
    return _lanes[-1]


def close_lanes(lanes: Lanes) -> None:
    """Finish the messages in progress and close the lanes."""
    lanes.stop()
    _lanes.remove(lanes)


def _do_nothing() -> None:
    """Wake a consumer, so that it notices a request to stop."""


class BrokerAwayError(Exception):
    """The broker failed less than `AWAY_S` ago; nothing was announced."""


class Publisher:
    """Announces outbox ids to workers; raises if the broker cannot be reached.

    For `AWAY_S` after a failure it raises at once, so that an outage does not slow every request. The sweeper
    announces again.
    """

    def __init__(self, app: Celery) -> None:
        self._app = app
        self._away_until = 0.0

    def __call__(self, message_ids: list[int]) -> None:
        if time.monotonic() < self._away_until:
            raise BrokerAwayError("the broker did not answer a moment ago")
        try:
            for message_id in message_ids:
                self._app.send_task(TASK, args=[message_id], queue=QUEUE)
        except Exception:
            self._away_until = time.monotonic() + AWAY_S
            raise


def attach(database: Database, app: Celery) -> None:
    """Let commits of `database` announce their messages through `app`."""
    database.publish_outbox = Publisher(app)


def is_reachable(app: Celery) -> bool:
    """Return whether the broker can be reached now."""
    try:
        with app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, timeout=PUBLISH_WITHIN_S)
    except Exception as error:
        log.warning("broker_unreachable", error=str(error)[:200])
        return False
    return True


def worker_class(app: Celery) -> type[Any]:
    """Return Celery's worker class without the plain line that it prints on SIGTERM among our JSON."""
    from celery.apps.worker import install_worker_term_handler  # noqa: PLC0415 - only workers need it

    class QuietWorker(app.Worker):  # type: ignore[misc] # a class that the application makes
        def install_platform_tweaks(self, worker: Any) -> None:
            super().install_platform_tweaks(worker)
            install_worker_term_handler(worker, verbose=False)

    return QuietWorker


def worker_options(settings: Settings, concurrency: int) -> dict[str, Any]:
    """Return the options of every worker. Workers do not talk to each other, and use threads, which share memory."""
    return {
        "pool": "solo" if settings.embedded else "threads",
        "concurrency": 1 if settings.embedded else concurrency,
        "without_gossip": True,
        "without_mingle": True,
        "without_heartbeat": True,
        "loglevel": "WARNING",
        "optimization": "fair",
        "quiet": True,
    }
