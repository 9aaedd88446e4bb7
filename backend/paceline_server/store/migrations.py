"""Migrates a database to the schema this code expects, and checks whether it has that schema.

Only migrations change a schema, in tests too. The scripts are in the repository's `alembic/`, outside the package.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, make_url, text
from sqlalchemy.exc import OperationalError

from paceline_server.kernel.settings import SettingsError
from paceline_server.store.session import Database

if TYPE_CHECKING:
    from alembic.config import Config

VERSION_TABLE = "alembic_version"
_alembic_lock = threading.Lock()
"""Serializes migrations of this process, because Alembic keeps its context in module globals. Between processes, the
database's own locks suffice."""


class MigrationsMissingError(SettingsError):
    """The expected directory has no migration scripts."""


@cache
def scripts() -> Path:
    """Return the directory of `env.py`: `PACELINE_MIGRATIONS_DIR`, else `alembic/` of the clone this code runs
    from."""
    named = os.environ.get("PACELINE_MIGRATIONS_DIR")
    path = Path(named) if named else Path(__file__).resolve().parents[3] / "alembic"
    if not (path / "env.py").is_file():
        raise MigrationsMissingError(
            f"no migrations in {path}: run from a clone, or set PACELINE_MIGRATIONS_DIR "
            "to its alembic/ directory"
        )
    return path


@cache
def head() -> str:
    """Return the revision this code expects, read from the scripts' names, because importing Alembic is slow."""
    return _revisions()[-1]


@cache
def _revisions() -> list[str]:
    directory = scripts() / "versions"
    revisions = sorted(
        path.stem.split("_", 1)[0] for path in directory.glob("[0-9]*.py")
    )
    if not revisions:
        raise MigrationsMissingError(
            f"no migrations can be read in {directory}: it is empty, or this user may not list it. Copy it again "
            "from a clone, readable for this user"
        )
    return revisions


def current(connection: Connection) -> str | None:
    """Return the revision of a database; None when it was never migrated."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    revision = connection.execute(
        text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608
    ).scalar_one_or_none()
    return None if revision is None else str(revision)


class NewerDatabaseError(SettingsError):
    """The database has a schema that this version does not know."""


def refuse_newer(url: str) -> None:
    """Raise NewerDatabaseError for a database of a newer version.

    An unreachable database is left to the readiness check.
    """
    database = Database(url)
    try:
        with database.engine.connect() as connection:
            _known_revision(connection)
    except OperationalError:
        return
    finally:
        database.dispose()


def _known_revision(connection: Connection) -> str | None:
    """Return the database's revision, as `current` does. Raises NewerDatabaseError if our scripts do not have it."""
    revision = current(connection)
    if revision is not None and revision not in _revisions():
        where = make_url(str(connection.engine.url)).database
        raise NewerDatabaseError(
            f"the database {where} has schema {revision}, and this version knows schemas up to {head()}: a "
            "newer Paceline set it up. Run that version, or restore a backup from before the upgrade"
        )
    return revision


def is_current(engine: Engine) -> bool:
    """Return whether the database has exactly the schema this code expects."""
    with engine.connect() as connection:
        return current(connection) == head()


def require_current(engine: Engine) -> None:
    """Raise SettingsError unless the database has exactly the schema this code expects; NewerDatabaseError if a newer
    version set it up."""
    with engine.connect() as connection:
        revision = _known_revision(connection)
    if revision is None:
        raise SettingsError(
            "the database is not set up: run `paceline-server migrate` (or `up`) first"
        )
    if revision != head():
        raise SettingsError(
            f"the database has schema {revision}, and this version needs {head()}: run `paceline-server migrate`"
        )


def upgrade(url: str) -> bool:
    """Migrate to `head`; returns False if there was nothing to do. Several processes may call it at once. Raises
    NewerDatabaseError."""
    database = Database(url)
    try:
        with database.engine.connect() as connection:
            if _known_revision(connection) == head():
                return False
        from alembic import command  # noqa: PLC0415 - importing it is slow, and most starts have nothing to migrate

        with (
            _alembic_lock,
            database.engine.connect() as connection,
            _migration_transaction(connection),
        ):
            command.upgrade(alembic_config(connection), "head")
        return True
    finally:
        database.dispose()


def downgrade(url: str, revision: str) -> None:
    """Undo migrations down to `revision` ("base": all of them), to go back to an older version of this code.

    Data that only the newer schema can hold is lost, so a backup should be made first.
    """
    from alembic import command  # noqa: PLC0415 - see `upgrade`

    database = Database(url)
    try:
        with (
            _alembic_lock,
            database.engine.connect() as connection,
            _migration_transaction(connection),
        ):
            command.downgrade(alembic_config(connection), revision)
    finally:
        database.dispose()


class ReferenceLostError(Exception):
    """A migration left rows with broken references; it was rolled back."""


@contextmanager
def _migration_transaction(connection: Connection) -> Iterator[None]:
    """Begin a transaction in which a table may be rebuilt although others refer to it.

    SQLite makes most changes by rebuilding the table. Dropping the old one would violate references to its rows, so
    they are checked only before the commit (https://sqlite.org/lang_altertable.html, "Making Other Kinds Of Table
    Schema Changes").
    """
    sqlite = connection.dialect.name == "sqlite"
    if sqlite:
        # This pragma has no effect inside a transaction.
        connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")
    with connection.begin():
        yield
        broken = (
            connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
            if sqlite
            else ()
        )
        if broken:
            raise ReferenceLostError(
                f"{len(broken)} rows refer to rows that are gone, such as {tuple(broken[0])}"
            )


def alembic_config(connection: Connection) -> Config:
    """Return Alembic's configuration for an open connection."""
    from alembic.config import Config  # noqa: PLC0415 - see `upgrade`

    config = Config()
    config.set_main_option("script_location", str(scripts()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
