"""Celery, as the carrier of outbox ids and nothing else (I5).

Place: between a commit (`Database.publish_outbox`) and `outbox.carry_out`. Invariants: a message is one
integer, the id of an outbox row; delivering it twice, late or never is harmless; publishing never blocks a
request for longer than `PUBLISH_WITHIN_S` and never fails it. Redis between processes; `memory://` inside
one.
"""

from __future__ import annotations

import time
from typing import Any

import structlog
from celery import Celery

from paceline_server.kernel.settings import Settings
from paceline_server.store import outbox
from paceline_server.store.session import Database

log = structlog.get_logger("paceline.broker")

TASK = "paceline.carry_out"
WAKE = "paceline.wake"
QUEUE = "paceline"
POLLING_S = 0.05
"""How often the in-memory transport looks for a message; bounds the delay of embedded work."""
PUBLISH_WITHIN_S = 2.0
AWAY_S = 3.0
"""How long a broker that failed is left alone."""


def make_celery(settings: Settings) -> Celery:
    """The Celery application; connects to nothing yet."""
    if settings.redis_url is None:
        broker, options = "memory://localhost/", {"polling_interval": POLLING_S}
    else:
        broker = settings.redis_url
        options = {
            "socket_connect_timeout": PUBLISH_WITHIN_S,
            "socket_timeout": 30.0,
            "retry_on_timeout": False,
            "max_retries": 0,  # publishing tries once; consuming has retries of its own
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
        worker_cancel_long_running_tasks_on_connection_loss=True,  # only late acks; we have none
        worker_send_task_events=False,
        enable_utc=True,
    )
    app.task(name=TASK)(_carry_out)
    app.task(name=WAKE)(_nothing)
    return app


def _carry_out(message_id: int) -> None:
    outbox.carry_out(message_id)


def _nothing() -> None:
    """Carried out to let a consumer look up, e.g. at a wish to stop."""


class BrokerAwayError(Exception):
    """The broker did not answer a moment ago; nothing was announced."""


class Publisher:
    """Announces outbox ids to workers; raises when the broker is away, at once for `AWAY_S` after a failure,
    so that an outage costs one request a moment and the others nothing. The sweeper announces again.
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
    """From now on commits of `database` announce their messages through `app`."""
    database.publish_outbox = Publisher(app)


def answers(app: Celery) -> bool:
    """Whether the broker can be reached now (readiness)."""
    try:
        with app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, timeout=PUBLISH_WITHIN_S)
    except Exception as error:
        log.warning("broker_unreachable", error=str(error)[:200])
        return False
    return True


def worker_options(settings: Settings, concurrency: int) -> dict[str, Any]:
    """What every worker of ours is started with: no gossip, no mingle, no heartbeat; threads share numpy's
    memory."""
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
