"""Runs a real server in this process: uvicorn on a free loopback port, with the background work of its shape.

For tests that need sockets (streams, agents, long polls). Embedded: the worker thread and sweeper of the product;
scaled: the same worker over Redis, as a second process would run it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from paceline_contract.testing.waiting import WITHIN_S

from paceline_server.api import create_app
from paceline_server.kernel.settings import Settings
from paceline_server.runtime import broker, serving
from paceline_server.runtime.embedded import Background
from paceline_server.store.session import database


@dataclass(frozen=True)
class RunningServer:
    """A server with its address and settings."""

    url: str
    settings: Settings
    server: serving.Server


@contextmanager
def running(settings: Settings) -> Iterator[RunningServer]:
    """Serve until the block ends; the database in `settings` must be migrated."""
    started = threading.Event()
    listening = serving.bind("127.0.0.1", 0)
    port = listening.getsockname()[1]
    settings = settings.model_copy(
        update={"port": port, "public_url": f"http://127.0.0.1:{port}"}
    )
    app = create_app(settings, serving.lifespan)
    app.state.on_ready = started.set
    server = serving.Server(app, serving.uvicorn_config(app, settings))
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listening]}, name="server", daemon=True
    )
    thread.start()
    worker = None
    try:
        if not started.wait(WITHIN_S):
            raise RuntimeError("the server did not start")
        if not settings.embedded:
            worker = Background(settings, database(), broker.make_celery(settings))
            worker.start()
        yield RunningServer(f"http://127.0.0.1:{port}", settings, server)
    finally:
        if worker is not None:
            worker.stop()
        app.state.tail.close()
        server.should_exit = True
        thread.join(WITHIN_S)
        listening.close()
