"""The application factory that an ASGI server loads: `paceline_server.main:create`, with settings from the environment."""

from __future__ import annotations

from fastapi import FastAPI

from paceline_server.api import create_app
from paceline_server.kernel import logging
from paceline_server.kernel.settings import load_settings
from paceline_server.runtime import memory
from paceline_server.runtime.parent import end_with_parent
from paceline_server.runtime.serving import lifespan


def create() -> FastAPI:
    """The application of this process. Raises SettingsError."""
    settings = load_settings()
    logging.configure(settings.log_json)
    end_with_parent()
    app = create_app(settings, lifespan)
    memory.tune_collector()
    return app
