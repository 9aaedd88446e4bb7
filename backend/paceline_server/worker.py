"""The worker process of the scaled shape: Celery over Redis, and the sweeper.

Place: `paceline-server worker`; as many as wanted over one database and one Redis. Invariant: it needs Redis;
without one the work is done inside the API process and a second worker would never hear of it.
"""

from __future__ import annotations

import socket

import structlog

from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.settings import Settings, SettingsError
from paceline_server.runtime import broker, handlers, memory
from paceline_server.runtime.sweeper import Sweeper
from paceline_server.store import migrations
from paceline_server.store.session import Database, use

log = structlog.get_logger("paceline.worker")


def run(settings: Settings, concurrency: int) -> int:
    """Carry out messages until told to end (SIGTERM: finish what is running). Returns the exit status."""
    if settings.redis_url is None:
        raise SettingsError(
            "a worker needs Redis: set PACELINE_REDIS_URL=redis://…. "
            "Without it, the API process does this work itself"
        )
    process_settings.use(settings)
    database = Database(settings.resolved_database_url, settings.redis_url)
    use(database)
    if not migrations.is_current(database.engine):
        raise SettingsError(
            "the database has another schema than this code expects: run `paceline-server migrate`"
        )
    app = broker.make_celery(settings)
    broker.attach(database, app)
    sweeper = Sweeper(settings, database.publish_outbox)
    sweeper.start()
    features = handlers.load()
    memory.settle()
    log.info("worker_started", concurrency=concurrency, features=features)
    try:
        worker = app.Worker(
            hostname=f"paceline@{socket.gethostname()}",
            **broker.worker_options(settings, concurrency),
        )
        worker.start()
    finally:
        sweeper.stop()
        database.dispose()
    return int(worker.exitcode or 0)
