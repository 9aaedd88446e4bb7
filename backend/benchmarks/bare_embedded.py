"""The bare prototype `embedded.py` compares with: FastAPI and a Celery worker over `memory://`, in one
process."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from celery import Celery
from celery.worker import WorkController
from fastapi import FastAPI


def nothing() -> None:
    """The one task."""


def create() -> FastAPI:
    """The application; `/readyz` answers once the worker consumes."""
    celery = Celery("bare", broker="memory://", set_as_current=False)
    celery.task(name="bare.nothing")(nothing)
    consuming = threading.Event()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        worker = WorkController(
            app=celery,
            pool="solo",
            concurrency=1,
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            ready_callback=lambda _: consuming.set(),
        )
        threading.Thread(target=worker.start, daemon=True).start()
        consuming.wait(20)
        yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/readyz")
    def readyz() -> dict[str, str]:
        return {"status": "ready"}

    return app
