"""Bringing a database to the schema this code expects, and saying whether it is there.

Place: called by `paceline-server migrate` and `up`; `/readyz` asks `is_current`. Invariant: only migrations
change a schema, in tests too. The scripts live in the repository's `alembic/`, outside the package.
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
_one_at_a_time = threading.Lock()
"""Alembic keeps its context in module globals; between processes the database itself makes them wait."""


class MigrationsMissingError(SettingsError):
    """The scripts are not where they should be; the text says where that is."""


@cache
def scripts() -> Path:
    """The directory of `env.py`: `PACELINE_MIGRATIONS_DIR`, else `alembic/` of the clone this code runs
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
    """The revision this code expects, read from the scripts' names without importing Alembic (it is slow)."""
    return _revisions()[-1]


@cache
def _revisions() -> list[str]:
    return sorted(
        path.stem.split("_", 1)[0]
        for path in (scripts() / "versions").glob("[0-9]*.py")
    )


def current(connection: Connection) -> str | None:
    """The revision of a database; None when it was never migrated."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found = connection.execute(
        text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608
    ).scalar_one_or_none()
    return None if found is None else str(found)


class NewerDatabaseError(SettingsError):
    """The database has a schema that this version does not know."""


def refuse_newer(url: str) -> None:
    """Raises NewerDatabaseError for a database of a newer version. One that does not answer is left to the
    readiness check."""
    database = Database(url)
    try:
        with database.engine.connect() as connection:
            _known(connection)
    except OperationalError:
        return
    finally:
        database.dispose()


def _known(connection: Connection) -> str | None:
    """`current`, if our scripts lead there."""
    found = current(connection)
    if found is not None and found not in _revisions():
        where = make_url(str(connection.engine.url)).database
        raise NewerDatabaseError(
            f"the database {where} has schema {found}, and this version knows schemas up to {head()}: a "
            "newer Paceline set it up. Run that version, or restore a backup from before the upgrade"
        )
    return found


def is_current(engine: Engine) -> bool:
    """Whether the database has exactly the schema this code expects."""
    with engine.connect() as connection:
        return current(connection) == head()


def upgrade(url: str) -> bool:
    """Migrate to `head`; False when there was nothing to do. Safe to call from several processes at once.
    Raises NewerDatabaseError."""
    database = Database(url)
    try:
        with database.engine.connect() as connection:
            if _known(connection) == head():
                return False
        from alembic import command  # noqa: PLC0415 - a start that has nothing to migrate does not pay for it

        with (
            _one_at_a_time,
            database.engine.connect() as connection,
            _rebuilding(connection),
        ):
            command.upgrade(config(connection), "head")
        return True
    finally:
        database.dispose()


def downgrade(url: str, revision: str) -> None:
    """Take migrations back until `revision` ("base": all), for going back to an older version of this code.
    What only the newer schema can hold is lost: make a backup before."""
    from alembic import command  # noqa: PLC0415 - see `upgrade`

    database = Database(url)
    try:
        with (
            _one_at_a_time,
            database.engine.connect() as connection,
            _rebuilding(connection),
        ):
            command.downgrade(config(connection), revision)
    finally:
        database.dispose()


class ReferenceLostError(Exception):
    """A migration left rows that refer to rows that are not there; it was taken back."""


@contextmanager
def _rebuilding(connection: Connection) -> Iterator[None]:
    """One transaction in which tables may be rebuilt although others refer to them.

    SQLite changes most of a table only by making it anew, and dropping the old one would count as deleting
    every row that is referred to. So references are not enforced meanwhile, and all are checked before the
    commit (https://sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes").
    """
    sqlite = connection.dialect.name == "sqlite"
    if sqlite:  # before the transaction: inside one it does nothing
        connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")
    with connection.begin():
        yield
        lost = (
            connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
            if sqlite
            else ()
        )
        if lost:
            raise ReferenceLostError(
                f"{len(lost)} rows refer to rows that are gone, such as {tuple(lost[0])}"
            )


def config(connection: Connection) -> Config:
    """Alembic's configuration around an open connection."""
    from alembic.config import Config  # noqa: PLC0415 - see `upgrade`

    made = Config()
    made.set_main_option("script_location", str(scripts()).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made
