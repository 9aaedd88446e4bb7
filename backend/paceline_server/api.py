"""Builds the application: every feature's routes under `/api/v1`, the system's endpoints, and the pages.

Building it starts and connects nothing; its lifespan does.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import structlog
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Gauge,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from paceline_server import __version__
from paceline_server.accounts import routes as accounts
from paceline_server.accounts.admission import Admission
from paceline_server.accounts.auth import ANYONE
from paceline_server.alerts import routes as alerts
from paceline_server.catalog import routes as catalog
from paceline_server.channels import routes as channels
from paceline_server.detect import routes as detect
from paceline_server.detect.policies import routes as policies
from paceline_server.detect.waivers import routes as waivers
from paceline_server.fleet import routes as fleet
from paceline_server.imports import routes as imports
from paceline_server.ingest import routes as ingest
from paceline_server.jobs import routes as jobs
from paceline_server.kernel import clock, openapi, pages, problems, wire
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.requests import Requests
from paceline_server.kernel.route_table import RouteTable
from paceline_server.kernel.settings import Settings
from paceline_server.live import routes as live
from paceline_server.live.tail import Tail
from paceline_server.projects import routes as projects
from paceline_server.projects.invitations import routes as invitations
from paceline_server.publish import routes as publish
from paceline_server.publish.exports import routes as exports
from paceline_server.reports import routes as reports
from paceline_server.series import routes as series
from paceline_server.store import access, incidents, migrations, outbox
from paceline_server.store.session import database, read_scope

PREFIX = "/api/v1"
BODY_BYTES = 64 * 1024
"""Largest request body, unless a route sets `max_body_size`."""

PROBE_EVERY_S = 2.0

log = structlog.get_logger("paceline.api")

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

PENDING = Gauge("paceline_outbox_pending", "Messages that wait to be carried out.")
OLDEST_S = Gauge(
    "paceline_outbox_overdue_seconds", "How long the oldest of them has been due."
)
STREAMS = Gauge("paceline_live_streams", "Open streams of this process.")

system = APIRouter(tags=["system"])


def create_app(settings: Settings, lifespan: Lifespan | None = None) -> FastAPI:
    """The application of a process. Without a lifespan nothing runs in the background."""
    app = FastAPI(
        title="Paceline",
        version="1",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
        lifespan=lifespan or _only_streams,
    )
    adopt(app, settings)
    problems.install(app)
    features = APIRouter(prefix=PREFIX, max_body_size=BODY_BYTES)
    for feature in (
        accounts,
        projects,
        invitations,
        catalog,
        fleet,
        jobs,
        ingest,
        series,
        detect,
        policies,
        waivers,
        reports,
        alerts,
        channels,
        imports,
        live,
        publish,
        exports,
    ):
        features.include_router(feature.router)
    app.include_router(features)
    app.include_router(system)
    pages.install(app, settings.frontend_dir, [ANYONE])
    openapi.install(app)
    app.add_middleware(
        Admission, routes=RouteTable(app), max_body_bytes=settings.max_body_bytes
    )
    app.add_middleware(Requests, public_url=settings.public_url)
    return app


def adopt(app: FastAPI, settings: Settings) -> None:
    """Give an application the settings and fresh state of this process."""
    app.state.settings = settings
    app.state.tail = Tail()
    app.state.checks = {}
    app.state.writes = WriteProbe()
    process_settings.set_current(settings)


@asynccontextmanager
async def _only_streams(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.tail.close()


@system.get("/healthz", dependencies=[ANYONE])
async def healthz() -> dict[str, str]:
    """Whether the process answers. Needs no thread, so it answers while all of them wait."""
    return {"status": "ok"}


class VersionOut(wire.Response):
    """The release of this server."""

    version: str


@system.get(f"{PREFIX}/version", dependencies=[ANYONE])
def version() -> VersionOut:
    """The version of this server. Public: sign-in pages show it, and CI clients compare it with their own."""
    return VersionOut(version=__version__)


@system.get("/readyz", response_model=None, dependencies=[ANYONE])
def readyz(request: Request) -> Response:
    """Whether this process is ready: database, schema, writes, broker, background work. 503 names the failing
    checks."""
    checks: dict[str, Callable[[], bool]] = {
        "database": _database_current,
        "writes": request.app.state.writes.succeeds,
        **request.app.state.checks,
    }
    results: dict[str, Any] = {}
    for name, check in checks.items():
        try:
            results[name] = "ok" if check() else "failing"
        except SQLAlchemyError:
            results[name] = "failing"
    ready = all(result == "ok" for result in results.values())
    body = {"status": "ready" if ready else "not ready", "checks": results}
    return JSONResponse(
        body, 200 if ready else 503, headers={"Cache-Control": "no-store"}
    )


class WriteProbe:
    """Tests whether writes succeed, at most once in `PROBE_EVERY_S` because anyone may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._probed_at = -math.inf
        self._succeeded = False

    def succeeds(self) -> bool:
        """Whether the newest test write succeeded. While a write takes long, others get the previous result:
        waiting here would occupy the threads of all requests."""
        if self._lock.acquire(timeout=0.5):
            try:
                if time.monotonic() - self._probed_at >= PROBE_EVERY_S:
                    self._succeeded = self._write()
                    self._probed_at = time.monotonic()
            finally:
                self._lock.release()
        return self._succeeded

    def _write(self) -> bool:
        try:
            with access.as_system():
                database().probe_write()
        except SQLAlchemyError as error:
            log.error("writes_fail", error=str(error)[:300])
            return False
        return True


def _database_current() -> bool:
    return migrations.is_current(database().engine)


@system.get("/metrics", response_class=Response, dependencies=[ANYONE])
def metrics(request: Request) -> Response:
    """Metrics of this process and of the shared outbox and incidents, in Prometheus text format."""
    with access.as_system(), read_scope() as session:
        count, oldest = outbox.count_pending(session)
        incident_counts = incidents.counts(session)
    PENDING.set(count)
    OLDEST_S.set(
        0 if oldest is None else max(0.0, (clock.now() - oldest).total_seconds())
    )
    STREAMS.set(len(request.app.state.tail))
    registry = CollectorRegistry()
    registry.register(_Incidents(incident_counts))
    return Response(
        generate_latest() + generate_latest(registry), media_type=CONTENT_TYPE_LATEST
    )


class _Incidents(Collector):
    """A counter of stored incidents, the same in every process."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(
            "paceline_incidents", "What a person should look at.", labels=["code"]
        )
        for code, count in self._counts.items():
            family.add_metric([code], count)
        yield family
