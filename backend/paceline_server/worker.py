"""The worker process of the scaled shape (`paceline-server worker`): Celery over Redis, and the sweeper.

It needs Redis: without Redis the API process does the work itself, and a worker would get none.
"""

from __future__ import annotations

import socket

import structlog

from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.settings import Settings, SettingsError
from paceline_server.runtime import broker, handlers, memory
from paceline_server.runtime.sweeper import Sweeper
from paceline_server.store import migrations
from paceline_server.store.session import Database, set_database

log = structlog.get_logger("paceline.worker")


def run(settings: Settings, concurrency: int) -> int:
    """Handle messages until SIGTERM, then finish those that are running. Returns the exit status."""
    if settings.redis_url is None:
        raise SettingsError(
            "a worker needs Redis: set PACELINE_REDIS_URL=redis://…. "
            "Without it, the API process does this work itself"
        )
    process_settings.set_current(settings)
    database = Database(settings.resolved_database_url, settings.redis_url)
    set_database(database)
    migrations.require_current(database.engine)
    features = handlers.load()
    app = broker.make_celery(settings)
    broker.attach(database, app)
    sweeper = Sweeper(settings, database.publish_outbox)
    sweeper.start()
    lanes = broker.open_lanes()
    memory.tune_collector()
    log.info("worker_started", concurrency=concurrency, features=features)
    try:
        worker = broker.worker_class(app)(
            hostname=f"paceline@{socket.gethostname()}",
            **broker.worker_options(settings, concurrency),
        )
        worker.start()
        log.info("worker_ended")
    finally:
        sweeper.stop()
        broker.close_lanes(lanes)
        database.dispose()
    return int(worker.exitcode or 0)
