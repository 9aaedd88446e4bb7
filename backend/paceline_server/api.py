"""The application: every feature's routes under `/api/v1`, the system's endpoints, and the pages.

Place: above all features, below the entry points. Invariant: building it starts nothing and connects to
nothing; the lifespan it is given does. Holds no decisions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from paceline_server.accounts import routes as accounts
from paceline_server.alerts import routes as alerts
from paceline_server.catalog import routes as catalog
from paceline_server.detect.policies import routes as policies
from paceline_server.fleet import routes as fleet
from paceline_server.imports import routes as imports
from paceline_server.ingest import routes as ingest
from paceline_server.jobs import routes as jobs
from paceline_server.kernel import clock, openapi, pages, problems
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.requests import Requests
from paceline_server.kernel.settings import Settings
from paceline_server.live import routes as live
from paceline_server.live.tail import Tail
from paceline_server.reports import routes as reports
from paceline_server.series import routes as series
from paceline_server.series.noise import routes as noise
from paceline_server.store import incidents, migrations, outbox
from paceline_server.store.session import database, read_scope

PREFIX = "/api/v1"

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

PENDING = Gauge("paceline_outbox_pending", "Messages that wait to be carried out.")
OLDEST_S = Gauge("paceline_outbox_overdue_seconds", "How long the oldest of them has been due.")
STREAMS = Gauge("paceline_live_streams", "Open streams of this process.")

system = APIRouter(tags=["system"])


def create_app(settings: Settings, lifespan: Lifespan | None = None) -> FastAPI:
    """The application of one process. Without a lifespan nothing runs in the background (tests,
    `openapi`)."""
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
    app.add_middleware(Requests, max_body_bytes=settings.max_body_bytes)
    features = APIRouter(prefix=PREFIX)
    for feature in (
        accounts, catalog, fleet, jobs, ingest, series, noise, policies, reports, alerts, imports, live,
    ):  # fmt: skip
        features.include_router(feature.router)
    app.include_router(features)
    app.include_router(system)
    pages.install(app, settings.frontend_dir)
    openapi.install(app)
    return app


def adopt(app: FastAPI, settings: Settings) -> None:
    """Give an application the settings and the fresh state of one process."""
    app.state.settings = settings
    app.state.tail = Tail()
    app.state.checks = {}
    process_settings.use(settings)


@asynccontextmanager
async def _only_streams(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.tail.close()


@system.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@system.get("/readyz", response_model=None)
def readyz(request: Request) -> Response:
    """Whether this process can do its work: database, its schema, broker, background work. 503 names what
    cannot."""
    checks: dict[str, Callable[[], bool]] = {"database": _database_current, **request.app.state.checks}
    results: dict[str, Any] = {}
    for name, check in checks.items():
        try:
            results[name] = "ok" if check() else "failing"
        except SQLAlchemyError:
            results[name] = "failing"
    ready = all(result == "ok" for result in results.values())
    body = {"status": "ready" if ready else "not ready", "checks": results}
    return JSONResponse(body, 200 if ready else 503, headers={"Cache-Control": "no-store"})


def _database_current() -> bool:
    return migrations.is_current(database().engine)


@system.get("/metrics", response_class=Response)
def metrics(request: Request) -> Response:
    """Prometheus text format: of this process, and what all share (outbox, incidents)."""
    with read_scope() as session:
        count, oldest = outbox.pending(session)
        happened = incidents.counts(session)
    PENDING.set(count)
    OLDEST_S.set(0 if oldest is None else max(0.0, (clock.now() - oldest).total_seconds()))
    STREAMS.set(len(request.app.state.tail))
    registry = CollectorRegistry()
    registry.register(_Incidents(happened))
    return Response(generate_latest() + generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


class _Incidents(Collector):
    """A counter whose values are rows: every process says the same."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily("paceline_incidents", "What a person should look at.", labels=["code"])
        for code, count in self._counts.items():
            family.add_metric([code], count)
        yield family
