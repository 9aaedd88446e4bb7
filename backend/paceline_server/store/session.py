"""The database of this process: engine, transactions and what follows a commit. Only this module commits (I10).

- A request commits before its response is sent (`get_session` with `scope="function"`), so a failed commit is a 5xx.
- GET and HEAD requests get a read-only transaction, all others a write transaction. On SQLite that is
  `BEGIN IMMEDIATE`, with one writer at a time, queued fairly in this process.
- Outbox ids and hints are published after the commit.

Do not open a second write transaction inside one: on SQLite it waits for itself and fails after 30 s.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import structlog
from fastapi import Depends, Request
from pydantic_core import from_json  # takes half as long as `json` on large reports
from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from paceline_server.kernel.errors import ProblemError
from paceline_server.store.hints import Hints, RedisHints

log = structlog.get_logger("paceline.store")

WRITER_WAIT_S = 30.0
"""How long a writer may queue before it is told to come back (503)."""
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "wal_autocheckpoint=4000",
    "foreign_keys=ON",
    "temp_store=MEMORY",
)
"""Checkpoints every 16 MiB of log instead of 4: uploads then wait for the disk a quarter as often."""
PROBE_BYTES = 256 * 1024
"""More than one upload takes in the log."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
HINTS = "hints"
OUTBOX = "outbox"


class Database:
    """An engine with its transactions, hints and the publisher of outbox ids."""

    def __init__(self, url: str, redis_url: str | None = None) -> None:
        self.url = url
        self.engine = (
            _sqlite_engine(url) if url.startswith("sqlite") else _postgresql_engine(url)
        )
        self.hints = RedisHints(redis_url) if redis_url else Hints()
        self.publish_outbox: Callable[[list[int]], None] = _leave_to_sweeper
        self._sessions = sessionmaker(self.engine, expire_on_commit=False)
        self._reading = sessionmaker(
            self.engine.execution_options(paceline_read_only=True),
            expire_on_commit=False,
            autoflush=False,
        )

    @property
    def is_postgresql(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One write transaction: commits at the end, rolls back on an exception unless it keeps changes."""
        session = self._sessions()
        try:
            yield session
        except ProblemError as problem:
            if problem.keeps_changes:
                session.commit()
                self._announce(session)
            raise
        else:
            session.commit()
            self._announce(session)
        finally:
            session.close()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """One read-only transaction; a write in it is an error on both databases."""
        session = self._reading()
        try:
            yield session
        finally:
            session.close()

    def write_something(self) -> None:
        """A small durable write that leaves nothing behind. Raises OperationalError where none is possible:
        the disk is full, the database is read-only or another writer holds it."""
        with self.writing() as session:
            if self.is_postgresql:
                # A record in the write-ahead log, flushed by the commit.
                session.execute(
                    select(func.pg_logical_emit_message(True, "paceline", "ready"))
                )
                return
            # Writes the first page, changed or not.
            session.connection().exec_driver_sql("PRAGMA user_version = 0")
        self._write_file()

    def _write_file(self) -> None:
        """Write a probe file too: SQLite may have free space in its log when the disk is full."""
        path = make_url(self.url).database
        if path and path != ":memory:":
            probe = Path(f"{path}.probe")
            try:
                descriptor = os.open(
                    probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600
                )
                try:
                    os.write(descriptor, bytes(PROBE_BYTES))
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
                    probe.unlink()
            except OSError as error:
                raise OperationalError("probe", None, error) from error

    def dispose(self) -> None:
        """Close connections and hints; the process has no database after this."""
        if self in _current:
            _current.remove(self)
        self.hints.close()
        self.engine.dispose()

    def _announce(self, session: Session) -> None:
        """Publish hints and outbox ids; a failure here only delays, thanks to the sweeper and polling."""
        channels = session.info.pop(HINTS, ())
        messages = session.info.pop(OUTBOX, ())
        try:
            for channel in sorted(channels):
                self.hints.publish(channel)
            if messages:
                self.publish_outbox([message.id for message in messages])
        except Exception as error:
            log.warning("hint_lost", error=repr(error))


def _leave_to_sweeper(_: list[int]) -> None:
    """Publisher of a process without a broker."""


def _sqlite_engine(url: str) -> Engine:
    path = make_url(url).database
    if path and path != ":memory:":
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        _restrict_to_owner(Path(path))
    engine = create_engine(
        url,
        pool_size=16,
        max_overflow=64,
        json_deserializer=from_json,
        connect_args={"timeout": WRITER_WAIT_S, "check_same_thread": False},
    )
    writer = threading.Lock()

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves, below
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if connection.get_execution_options().get("paceline_read_only"):
            connection.exec_driver_sql("PRAGMA query_only=ON")
            connection.exec_driver_sql("BEGIN")
            return
        if not writer.acquire(timeout=WRITER_WAIT_S):
            raise OperationalError(
                "BEGIN IMMEDIATE",
                None,
                TimeoutError("another writer holds the database"),
            )
        connection.info["paceline_writer"] = True
        connection.exec_driver_sql("PRAGMA query_only=OFF")
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def _release(_: Any, entry: ConnectionPoolEntry) -> None:
        if entry.info.pop("paceline_writer", False):
            writer.release()

    event.listen(engine, "checkin", _release)
    return engine


def _restrict_to_owner(path: Path) -> None:
    """Make the database readable by its owner only. SQLite gives its log and index the mode of the file."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            file.chmod(0o600)


def _postgresql_engine(url: str) -> Engine:
    engine = create_engine(
        url,
        pool_size=10,
        max_overflow=40,
        pool_pre_ping=True,
        json_deserializer=from_json,
    )

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if connection.get_execution_options().get("paceline_read_only"):
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")

    return engine


_current: list[Database] = []


def database() -> Database:
    """The database of this process. Raises RuntimeError before `use`."""
    if not _current:
        raise RuntimeError(
            "no database: the entry point calls store.session.use(Database(…)) first"
        )
    return _current[-1]


@contextmanager
def using(db: Database) -> Iterator[Database]:
    """Make `db` the process's database until the block ends."""
    _current.append(db)
    try:
        yield db
    finally:
        if db in _current:
            _current.remove(db)


def use(db: Database) -> None:
    """Make `db` the process's database until it is disposed of (entry points)."""
    _current.append(db)


@contextmanager
def session_scope() -> Iterator[Session]:
    """One write transaction for tasks and the command line."""
    with database().writing() as session:
        yield session


@contextmanager
def read_scope() -> Iterator[Session]:
    """One read-only transaction for tasks, authentication and the live tail."""
    with database().reading() as session:
        yield session


def get_session(request: Request) -> Iterator[Session]:
    """The transaction of one request (FastAPI dependency; use it as `DbSession`). Begins at the first
    statement."""
    db = database()
    with db.reading() if request.method in SAFE_METHODS else db.writing() as session:
        yield session


DbSession = Annotated[Session, Depends(get_session, scope="function")]
"""What a route declares. `scope="function"`: the commit precedes the answer (I10)."""


def hint(session: Session, channel: str) -> None:
    """Publish a hint on `channel` once `session` has committed."""
    session.info.setdefault(HINTS, set()).add(channel)


def try_exclusive(session: Session, key: int) -> bool:
    """Take the lock `key` until the transaction ends; False if another process has it. On SQLite always
    True."""
    if session.get_bind().dialect.name != "postgresql":
        return True
    return bool(session.scalar(select(func.pg_try_advisory_xact_lock(key))))
