"""Runs real PostgreSQL and Redis servers for tests, on free loopback ports, as children that end with their parent.

As root they run as the users `postgres` and `redis`, because PostgreSQL refuses root. Data lies in a temporary
directory, and durability is off.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from paceline_contract.testing.child_process import end_with_parent
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S

FAST = {
    "autovacuum": "off",
    "fsync": "off",
    "jit": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "unix_socket_directories": "",
    "listen_addresses": "127.0.0.1",
}


class ServerMissingError(Exception):
    """A server program is not installed."""


@dataclass(frozen=True)
class PostgreSQL:
    port: int
    user: str

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://{self.user}@127.0.0.1:{self.port}/{database}"

    def _run(self, statement: str) -> None:
        where = f"postgresql://{self.user}@127.0.0.1:{self.port}/postgres"
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(statement.encode())

    def create_database(self, name: str, template: str = "template0") -> None:
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')

    def drop_database(self, name: str) -> None:
        """Drop it and end its sessions."""
        self.end_sessions(name)
        self._run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def end_sessions(self, database: str) -> None:
        """End the sessions of a database, and wait until their processes are gone, as the server itself would for
        five seconds only."""
        self._run(
            f"SELECT pg_terminate_backend(pid, {int(WITHIN_S * 1000)}) "  # noqa: S608 - a name of ours
            f"FROM pg_stat_activity WHERE datname = '{database}'"
        )


@dataclass(frozen=True)
class Redis:
    port: int

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def flush(self) -> None:
        """Delete everything."""
        with socket.create_connection(
            ("127.0.0.1", self.port), timeout=WITHIN_S
        ) as connection:
            connection.sendall(b"FLUSHALL\r\n")
            connection.recv(64)


def _program(name: str, package: str) -> str:
    """Return the path of a server program: on PATH, or where Debian has PostgreSQL. Raises `ServerMissingError`."""
    path = shutil.which(name)
    if path is not None:
        return path
    debian = sorted(
        Path("/usr/lib/postgresql").glob(f"*/bin/{name}"),
        key=lambda path: int(path.parts[4]),
    )
    if debian:
        return str(debian[-1])
    raise ServerMissingError(
        f"{name} is missing: install it with `apt-get install {package}`"
    )


def _other_user(name: str) -> str | None:
    """Return the unprivileged user to run as when we are root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(name).pw_name
    except KeyError:
        return "nobody"


@contextmanager
def _directory(user: str | None) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="paceline-"))
    try:
        if user is not None:
            shutil.chown(path, user)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _give_to(user: str | None, directory: Path) -> None:
    if user is not None:
        for path in (directory, *directory.rglob("*")):
            shutil.chown(path, user)


@contextmanager
def _running(
    argv: list[str], user: str | None, ready: str, stop: signal.Signals
) -> Iterator[None]:
    """Run a server until the block ends; enter once it has printed `ready`."""
    process = subprocess.Popen(
        argv,
        user=user,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509 - one prctl, before any thread of ours matters
    )
    is_ready, output = threading.Event(), list[str]()

    def read() -> None:
        assert process.stdout is not None  # noqa: S101 - PIPE above
        for line in process.stdout:
            output.append(line)
            del output[:-50]
            if ready in line:
                is_ready.set()
        is_ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        is_ready.wait(WITHIN_S)
        if process.poll() is not None or not any(ready in line for line in output):
            raise RuntimeError(f"{argv[0]} did not become ready:\n{''.join(output)}")
        yield
    finally:
        process.send_signal(stop)
        try:
            process.wait(WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        reader.join(WITHIN_S)
        if process.stdout is not None:
            process.stdout.close()


@contextmanager
def postgresql(
    copied_from: Path | None = None, copied_to: Path | None = None
) -> Iterator[PostgreSQL]:
    """Yield a new PostgreSQL cluster, or one that begins with the data in `copied_from`. After its end its data is
    copied to `copied_to`. Raises `ServerMissingError`."""
    initdb, postgres = (
        _program("initdb", "postgresql"),
        _program("postgres", "postgresql"),
    )
    user = _other_user("postgres")
    with _directory(user) as directory, reserved_port() as port:
        data = directory / "data"
        if copied_from is None:
            argv = [
                initdb,
                "-D",
                str(data),
                "-U",
                "paceline",
                "-A",
                "trust",
                "-N",
                "-E",
                "UTF8",
                "--locale=C",
            ]
            subprocess.run(argv, user=user, cwd="/", check=True, capture_output=True)
        else:
            shutil.copytree(copied_from, data)
            _give_to(user, data)
        options = [
            part for name, value in FAST.items() for part in ("-c", f"{name}={value}")
        ]
        argv = [postgres, "-D", str(data), "-p", str(port), *options]
        with _running(argv, user, "ready to accept connections", signal.SIGINT):
            yield PostgreSQL(port, "paceline")
        if copied_to is not None:
            shutil.copytree(data, copied_to)


@contextmanager
def redis(at_port: int | None = None) -> Iterator[Redis]:
    """Yield a new Redis without persistence, on `at_port`, which the caller has reserved, or a port of its own. Raises
    `ServerMissingError`."""
    server = _program("redis-server", "redis-server")
    user = _other_user("redis")
    with _directory(user) as directory, reserved_port() as own_port:
        port = at_port or own_port
        argv = [
            server,
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            str(directory),
            "--maxmemory-policy",
            "noeviction",
        ]
        with _running(argv, user, "Ready to accept connections", signal.SIGTERM):
            yield Redis(port)
