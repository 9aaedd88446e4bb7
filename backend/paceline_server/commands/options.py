"""What the commands share: options, and how each opens settings and database.

Imports are inside the functions, so that a command starts fast.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

SHELL = "shell"
"""Whom the audit log names for what these commands change."""

ProjectOption = Annotated[str, typer.Option("--project", help="Name of the project.")]
DataDir = Annotated[
    Path | None,
    typer.Option("--data", help="Data directory (embedded shape)."),
]


def read_settings(**overrides: Any) -> Any:
    """Return the settings of this process, which logs from now on."""
    from paceline_server.kernel import logging  # noqa: PLC0415 - imported when needed
    from paceline_server.kernel import settings as process_settings  # noqa: PLC0415

    settings = process_settings.load_settings(**overrides)
    process_settings.set_current(settings)
    logging.configure(settings.log_json)
    return settings


def with_database(data: Path | None) -> Any:
    """Return the settings, with the database open, for commands that change rows."""
    from paceline_server.store import migrations  # noqa: PLC0415
    from paceline_server.store.session import Database, set_database  # noqa: PLC0415

    settings = read_settings(data_dir=data)
    _refuse_missing_file(settings)
    database = Database(settings.resolved_database_url, settings.redis_url)
    set_database(database)
    migrations.require_current(database.engine)
    return settings


def _refuse_missing_file(settings: Any) -> None:
    """Raise SettingsError where opening the database would create an empty SQLite file."""
    from sqlalchemy import make_url  # noqa: PLC0415

    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415

    url = make_url(settings.resolved_database_url)
    if url.get_backend_name() != "sqlite" or not url.database:
        return
    file = Path(url.database)
    if not file.exists():
        raise SettingsError(
            f"no server has its data here: there is no {file.absolute()}. Name the data directory of your server with "
            "--data or PACELINE_DATA_DIR (of `make run`: `var` in the clone), or start a server first"
        )


def pages_url(settings: Any) -> str:
    """Return where people reach the pages, for links that commands print."""
    from paceline_server.runtime import data_lock  # noqa: PLC0415

    known = data_lock.read_address(settings.data_dir)
    return str(
        settings.public_url or known or f"http://{settings.host}:{settings.port}"
    )


def refuse_without_server(settings: Any) -> None:
    """Raise SettingsError where a link would lead nowhere: in the embedded shape, no server runs."""
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415
    from paceline_server.runtime import data_lock  # noqa: PLC0415

    if settings.embedded and not data_lock.is_held(settings.data_dir):
        raise SettingsError(
            f"no server runs on the data directory {settings.data_dir.absolute()}, so a link would lead "
            "nowhere: start one with `make run` (or `paceline-server up`), or name another with --data"
        )


def checked_role(name: str) -> Any:
    """Return the role called `name`. Raises SettingsError."""
    from paceline_server.accounts.permissions import ROLES  # noqa: PLC0415
    from paceline_server.kernel.settings import SettingsError  # noqa: PLC0415

    if name not in ROLES:
        raise SettingsError(f"no role is called {name!r}: they are {', '.join(ROLES)}")
    return name
