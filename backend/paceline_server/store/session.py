"""Opens the database of this process and its transactions. Only this module commits (I10).

- A request commits before its response is sent (`get_session` with `scope="function"`), so a failed commit is a 5xx.
- GET and HEAD requests get a read-only transaction, all others a write transaction. On SQLite that is
  `BEGIN IMMEDIATE`, with one writer at a time, queued fairly in this process.
- Outbox ids and hints are published after the commit.

A write transaction must not be opened inside another: on SQLite it would wait for itself and fail after 30 s.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import structlog
from fastapi import Depends, Request
from pydantic_core import from_json  # takes half as long as `json` on large reports
from sqlalchemy import Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session, SessionTransaction, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from paceline_server.kernel.errors import ProblemError
from paceline_server.store import access, row_security, visibility
from paceline_server.store.access import ACCESS, Access
from paceline_server.store.hints import Hints, RedisHints
from paceline_server.store.owned import SESSION_INFO

log = structlog.get_logger("paceline.store")

WRITER_WAIT_S = 30.0
"""How long a writer queues before it gets a 503."""
PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "wal_autocheckpoint=4000",
    "foreign_keys=ON",
    "temp_store=MEMORY",
)
"""SQLite checkpoints every 16 MiB of log instead of 4, so that uploads wait for the disk a quarter as often."""
PROBE_BYTES = 256 * 1024
"""The probe writes more than an upload adds to the log."""
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
        for sessions in (self._sessions, self._reading):
            event.listen(sessions, "after_begin", _limit_connection)
            event.listen(sessions, "do_orm_execute", visibility.limit_statement)
            event.listen(sessions, "before_flush", visibility.refuse_foreign_rows)

    @property
    def is_postgresql(self) -> bool:
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def writing(self, limits: Access | None = None) -> Iterator[Session]:
        """Open a write transaction. It commits at the end, and rolls back on an exception unless that keeps changes.
        `limits`: its access; None: that of the work in progress."""
        session = self._sessions(info={ACCESS: limits or access.current()})
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
    def reading(self, limits: Access | None = None) -> Iterator[Session]:
        """Open a read-only transaction; a write in it is an error on both databases."""
        session = self._reading(info={ACCESS: limits or access.current()})
        try:
            yield session
        finally:
            session.close()

    def probe_write(self) -> None:
        """Make a small durable write that changes no row. Raises OperationalError if the disk is full, the database is
        read-only or another writer blocks it."""
        with self.writing() as session:
            if self.is_postgresql:
                # The commit flushes this record of the write-ahead log.
                session.execute(
                    select(func.pg_logical_emit_message(True, "paceline", "ready"))
                )
                return
            # This writes the first page even though it is unchanged.
            session.connection().exec_driver_sql("PRAGMA user_version = 0")
        self._probe_disk()

    def _probe_disk(self) -> None:
        """Write a file beside the database, because SQLite's log may have free space although the disk is full."""
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
        """Close connections and hints. Afterwards this is no longer the database of the process."""
        if self in _current:
            _current.remove(self)
        self.hints.close()
        self.engine.dispose()

    def _announce(self, session: Session) -> None:
        """Publish hints and outbox ids. A failure only delays, because the sweeper and polling find the rows."""
        channels = session.info.pop(HINTS, ())
        messages = session.info.pop(OUTBOX, ())
        try:
            for channel in sorted(channels):
                self.hints.publish(channel)
            if messages:
                self.publish_outbox([message.id for message in messages])
        except Exception as error:
            log.warning("hint_lost", error=repr(error))


def _limit_connection(
    session: Session, transaction: SessionTransaction, connection: Connection
) -> None:
    """Attach the session's `info` to the statements of a transaction, and limit what the database shows them."""
    if transaction.nested:
        return
    connection.execution_options(**{SESSION_INFO: session.info})
    limits = access.of_session(session)
    if limits.is_request and connection.dialect.name == "postgresql":
        row_security.limit_transaction(connection, limits)


def _leave_to_sweeper(_: list[int]) -> None:
    """Publish nothing, in a process without a broker; the sweeper finds the messages."""


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
        connection.isolation_level = None  # `_begin` sends BEGIN instead.
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
    """Return the database of this process. Raises RuntimeError if none was set."""
    if not _current:
        raise RuntimeError(
            "no database: the entry point calls store.session.set_database(Database(…)) first"
        )
    return _current[-1]


@contextmanager
def using(db: Database) -> Iterator[Database]:
    """Make `db` the database of this process until the block ends."""
    _current.append(db)
    try:
        yield db
    finally:
        if db in _current:
            _current.remove(db)


def set_database(db: Database) -> None:
    """Make `db` the database of this process until it is disposed. Entry points call it."""
    _current.append(db)


@contextmanager
def session_scope() -> Iterator[Session]:
    """Open a write transaction for tasks and the command line."""
    with database().writing() as session:
        yield session


@contextmanager
def read_scope() -> Iterator[Session]:
    """Open a read-only transaction for tasks, authentication and live streams."""
    with database().reading() as session:
        yield session


def get_session(request: Request) -> Iterator[Session]:
    """Open the transaction of a request, which begins with its first statement. It is a FastAPI dependency."""
    db = database()
    with db.reading() if request.method in SAFE_METHODS else db.writing() as session:
        yield session


def get_system_session(request: Request) -> Iterator[Session]:
    """Open a transaction without limits, for routes that sign in, enrol, or manage the installation. A test holds the
    list of them."""
    db, limits = database(), access.system()
    reads = request.method in SAFE_METHODS
    with db.reading(limits) if reads else db.writing(limits) as session:
        yield session


@contextmanager
def including_fleet(session: Session) -> Iterator[None]:
    """Let a session of a project see and add any target in this block, as imports of results need."""
    before = access.of_session(session)
    session.info[ACCESS] = replace(before, has_fleet=True)
    _renew_limits(session)
    try:
        yield
        session.flush()
    finally:
        session.info[ACCESS] = before
        _renew_limits(session)


def _renew_limits(session: Session) -> None:
    limits = access.of_session(session)
    if limits.is_request and session.get_bind().dialect.name == "postgresql":
        row_security.limit_transaction(session.connection(), limits)


DbSession = Annotated[Session, Depends(get_session, scope="function")]
"""The parameter type of routes. `scope="function"` commits before the response is sent (I10)."""

SystemSession = Annotated[Session, Depends(get_system_session, scope="function")]
"""The parameter type of routes that need a session without limits (`get_system_session`)."""


def hint(session: Session, channel: str) -> None:
    """Publish a hint on `channel` once `session` has committed."""
    session.info.setdefault(HINTS, set()).add(channel)


def wait_for_lock(session: Session, name: str) -> None:
    """Wait for the lock `name` and hold it until the transaction ends. SQLite has only one writer anyway."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(
            select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0)))
        )


def try_lock(session: Session, key: int) -> bool:
    """Hold the lock `key` until the transaction ends; returns False if another process has it. Always True on
    SQLite."""
    if session.get_bind().dialect.name != "postgresql":
        return True
    return bool(session.scalar(select(func.pg_try_advisory_xact_lock(key))))
