"""The application: every feature's routes under `/api/v1`, the system's endpoints, and the pages.

Place: above all features, below the entry points. Invariant: building it starts nothing and connects to
nothing; `lifespan` does. Holds no decisions.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from fastapi import APIRouter, FastAPI

from paceline_server.accounts import routes as accounts
from paceline_server.kernel import problems
from paceline_server.kernel import settings as process_settings
from paceline_server.kernel.requests import Requests
from paceline_server.kernel.settings import Settings

PREFIX = "/api/v1"


def create_app(settings: Settings) -> FastAPI:
    """The application for one process."""
    app = FastAPI(
        title="Paceline", version="1", openapi_url=f"{PREFIX}/openapi.json", docs_url=None, redoc_url=None,
        generate_unique_id_function=lambda route: route.name,
    )  # fmt: skip
    app.state.settings = settings
    process_settings.use(settings)
    problems.install(app)
    app.add_middleware(Requests, max_body_bytes=settings.max_body_bytes)
    features = APIRouter(prefix=PREFIX)
    features.include_router(accounts.router)
    for feature in ("catalog", "fleet", "jobs", "ingest", "reports", "alerts", "live"):
        if find_spec(f"paceline_server.{feature}.routes") is not None:
            features.include_router(import_module(f"paceline_server.{feature}.routes").router)
    app.include_router(features)
    return app
