"""Fixtures for both shapes: SQLite with in-process hints, and real PostgreSQL with real Redis.

A test that takes `database` (or a fixture built on it: `client`, `app`, `server`) runs on SQLite. Tests of locks, SQL
dialect, hints and migrations ask for both shapes: `@pytest.mark.shapes("embedded", "scaled")` on the test or its
module. `make test-long` runs every test on both that names no shape.

The servers start once per pytest process on free loopback ports and end with it, even a killed one. Every test has
its own database: on SQLite a copy of a migrated template, on PostgreSQL one that is emptied after every test
(testing/reused_database.py).
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from paceline.testing import commands
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.accounts import credentials
from paceline_server.accounts import service as accounts
from paceline_server.accounts.permissions import (
    OF_INSTALLATION_ADMIN,
    Permission,
    Role,
)
from paceline_server.api import adopt, create_app
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel import ids, logging
from paceline_server.kernel.clock import FrozenClock
from paceline_server.kernel.settings import Settings
from paceline_server.store import access, migrations
from paceline_server.store import session as store
from paceline_server.store.access import DEFAULT_PROJECT_ID, Access
from paceline_server.store.session import Database, session_scope
from paceline_server.store.tables.fleet import Agent, Target
from paceline_server.store.tables.projects import ProjectMember, TargetGrant
from paceline_server.testing import commands as server_commands
from paceline_server.testing import servers
from paceline_server.testing.concurrency import ContextThread
from paceline_server.testing.delivered_jobs import Lab, open_lab
from paceline_server.testing.reused_database import (
    ReusedDatabase,
    made_once,
    make_engine_factory,
    shared_directory,
)
from paceline_server.testing.running_server import RunningServer, running

EMBEDDED = "embedded"
SCALED = "scaled"
TEMPLATE = "paceline_template"


TEST_ACCESS = Access(None, DEFAULT_PROJECT_ID, has_fleet=True, is_request=False)

ALLOWS: dict[str, Sequence[Permission]] = {
    "read": ["project.read", "members.read", "audit.read"],
    "alerts:write": [
        "alerts.triage",
        "annotations.write",
        "benchmarks.write",
        "rules.write",
    ],
    "ingest": ["runs.create", "targets.use", "imports.write", "schedules.write"],
    "admin": sorted(OF_INSTALLATION_ADMIN),
    "agent": ["agent"],
}
"""The names that tests use for groups of permissions."""
ROLE_OF: dict[str, Role] = {
    "ingest": "maintainer",
    "alerts:write": "triager",
    "read": "viewer",
}
"""The role of a person whose groups have this as the first that is named here."""


@dataclass(frozen=True)
class Shape:
    """One of the two ways Paceline runs, with an empty, migrated database of its own."""

    name: str
    database_url: str
    redis_url: str | None


@pytest.fixture(scope="session", autouse=True)
def _logs() -> None:
    """Logs as in production: without colours and local variables in tracebacks."""
    logging.configure(json=True)


@pytest.fixture(scope="session", autouse=True)
def _statements() -> Iterator[None]:
    """All engines of this process, including those of servers that tests start, share compiled statements."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "create_engine", make_engine_factory())
        yield


@pytest.fixture(autouse=True)
def _in_default_project() -> Iterator[None]:
    """A test's own sessions see everything, and what they add belongs to the project `default`."""
    with access.using(TEST_ACCESS):
        yield


@pytest.fixture(scope="session", autouse=True)
def _commands() -> Iterator[None]:
    """Ends what forks commands, if a test ran one."""
    yield
    commands.close()
    server_commands.close()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of all worker processes."""
    return shared_directory(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def postgresql(shared: Path) -> Iterator[servers.PostgreSQL]:
    def make(path: Path) -> None:
        with servers.postgresql(copied_to=path) as server:
            server.create_database(TEMPLATE)
            migrations.upgrade(server.url(TEMPLATE))

    cluster = made_once(shared / "postgresql", make)
    with servers.postgresql(copied_from=cluster) as server:
        yield server


@pytest.fixture(scope="session")
def reused_database(postgresql: servers.PostgreSQL) -> Iterator[ReusedDatabase]:
    database = ReusedDatabase(postgresql, TEMPLATE)
    yield database
    database.drop()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[servers.Redis]:
    with servers.redis() as server:
        yield server


@pytest.fixture(scope="session")
def sqlite_template(shared: Path) -> Path:
    return made_once(
        shared / "template.sqlite", lambda path: migrations.upgrade(f"sqlite:///{path}")
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shape" in metafunc.fixturenames:
        metafunc.parametrize("shape", _shapes_of(metafunc.definition), indirect=True)


def _shapes_of(test: pytest.Item) -> tuple[str, ...]:
    """Those the nearest `shapes` marker names, a test's own before its module's; without one the embedded one, in
    a long run both."""
    nearest = test.get_closest_marker("shapes")
    if nearest is not None:
        return nearest.args
    is_long = os.environ.get("PACELINE_TEST_LENGTH") == "long"
    return (EMBEDDED, SCALED) if is_long else (EMBEDDED,)


@pytest.fixture
def shape(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shape]:
    """The shape under test."""
    name = request.param
    if name == EMBEDDED:
        template: Path = request.getfixturevalue("sqlite_template")
        path = tmp_path / "paceline.sqlite"
        shutil.copyfile(template, path)
        yield Shape(name, f"sqlite:///{path}", None)
        return
    server: servers.PostgreSQL = request.getfixturevalue("postgresql")
    redis: servers.Redis = request.getfixturevalue("redis_server")
    redis.flush()
    databases: ReusedDatabase = request.getfixturevalue("reused_database")
    database = databases.take()
    try:
        yield Shape(name, server.url(database), redis.url)
    finally:
        databases.give_back()


@pytest.fixture
def port() -> Iterator[int]:
    """A port that no other process is given while the test runs."""
    with reserved_port() as number:
        yield number


@pytest.fixture
def settings(shape: Shape, tmp_path: Path) -> Settings:
    return Settings(
        database_url=shape.database_url,
        redis_url=shape.redis_url,
        data_dir=tmp_path / "data",
        sweep_s=0.05,
    )


@pytest.fixture
def database(shape: Shape) -> Iterator[Database]:
    """The process's database: `session_scope()` and the app use it."""
    db = Database(shape.database_url, shape.redis_url)
    with store.using(db):
        yield db
    out = db.engine.pool.status()
    db.dispose()
    assert "Current Checked out connections: 0" in out, (
        f"somebody still uses the test's database: {out}"
    )


@pytest.fixture
def clock() -> Iterator[FrozenClock]:
    """A clock that stands still; move it with `advance(seconds)`."""
    frozen = FrozenClock()
    with clock_module.using(frozen):
        yield frozen


@pytest.fixture(scope="session")
def application(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """Hundreds of routes cost half a second to build: once per process, not once per test."""
    return create_app(Settings(data_dir=tmp_path_factory.mktemp("application")))


@pytest.fixture
def app(application: FastAPI, settings: Settings, database: Database) -> FastAPI:
    """The application with this test's settings and nothing left of another test's."""
    assert not application.dependency_overrides
    adopt(application, settings)
    return application


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    """An anonymous client on loopback. No background work: call `outbox.drain()` where it matters."""
    with TestClient(
        app, base_url="http://127.0.0.1:8321", client=("127.0.0.1", 50000)
    ) as anonymous:
        yield anonymous


@pytest.fixture
def lab(
    client: TestClient,
    enrolled: Callable[..., EnrolledAgent],
    token: Callable[..., dict[str, str]],
) -> Lab:
    """An enrolled agent with the suite `sorting`, whose jobs a test delivers."""
    return open_lab(client, enrolled, token)


@pytest.fixture
def server(settings: Settings, database: Database) -> Iterator[RunningServer]:
    """A real server with its background work; `session_scope()` uses its database while it runs.

    It needs the test's own database first: the other way round it outlives what it reads.
    """
    with running(settings) as started:
        yield started


@pytest.fixture
def token(database: Database) -> Callable[..., dict[str, str]]:
    """`token("read", …)` → headers of a program's token with what these allow (`ALLOWS`)."""

    def make(*names: str) -> dict[str, str]:
        held = [permission for name in names for permission in ALLOWS[name]]
        with session_scope() as session:
            _, secret = accounts.issue_token(session, "test", "plt", held)
        return {"Authorization": f"Bearer {secret}"}

    return make


@dataclass(frozen=True)
class SignedIn:
    """An account with a browser session; `headers` carry its cookie and what a browser adds."""

    account_id: str
    name: str
    headers: dict[str, str]


@pytest.fixture
def sign_in(database: Database) -> Callable[..., SignedIn]:
    """`sign_in("read", "alerts:write", name="Ada")` → a member of the project `default` with the role that these
    make (`ROLE_OF`; none: an admin of the installation), in a browser session on loopback."""

    def make(*names: str, name: str | None = None) -> SignedIn:
        name = name or f"person-{uuid4().hex[:6]}"
        is_admin = not names or "admin" in names
        role = (
            "admin" if is_admin else next(r for n, r in ROLE_OF.items() if n in names)
        )
        with session_scope() as session:
            account = accounts.create_account(
                session, name, is_installation_admin=is_admin
            )
            session.add(
                ProjectMember(
                    project_id=DEFAULT_PROJECT_ID,
                    account_id=account.id,
                    role=role,
                    created_at=clock_module.now(),
                )
            )
            link = credentials.create_link(session, account, 30)
        with session_scope() as session:
            secret = accounts.sign_in_by_link(session, link, 1).secret
        return SignedIn(
            account.id,
            name,
            {"Cookie": f"paceline={secret}", "Sec-Fetch-Site": "same-origin"},
        )

    return make


@dataclass(frozen=True)
class EnrolledAgent:
    """An agent with one host target."""

    agent_id: str
    target_id: str
    headers: dict[str, str]


@pytest.fixture
def enrolled(database: Database) -> Callable[..., EnrolledAgent]:
    """`enrolled("lab-1")` → an online agent with a host target of the same name and a credential."""

    def make(name: str = "lab-1") -> EnrolledAgent:
        at = clock_module.now()
        with session_scope() as session:
            agent = Agent(
                id=ids.new_id("agt"),
                name=name,
                version="0",
                granted_projects=[DEFAULT_PROJECT_ID],
                granted_repositories=["**"],
                granted_targets=["*"],
                enrolled_by=None,
                created_at=at,
                last_seen_at=at,
            )
            session.add(agent)
            session.flush()
            target = Target(
                id=ids.new_id("tgt"),
                kind="host",
                serial=f"serial-{name}",
                name=name,
                agent_id=agent.id,
                bound_at=at,
                refuses=None,
                factors={"cpu": "test"},
                fingerprint="0" * 64,
                preflight=[],
                simulated=False,
                last_seen_at=at,
                created_at=at,
            )
            session.add(target)
            session.flush()
            session.add(
                TargetGrant(
                    target_id=target.id, project_id=DEFAULT_PROJECT_ID, created_at=at
                )
            )
            _, secret = accounts.issue_token(
                session, name, "pla", ["agent"], agent_id=agent.id
            )
        return EnrolledAgent(agent.id, target.id, {"Authorization": f"Bearer {secret}"})

    return make


@pytest.fixture
def together() -> Callable[..., list[object]]:
    """`together(f, g, …)` runs the calls in threads released at one instant; results or exceptions, in
    order."""

    def run(*calls: Callable[[], object]) -> list[object]:
        results: list[object] = [None] * len(calls)
        gate = threading.Barrier(len(calls))

        def one(index: int) -> None:
            gate.wait()
            try:
                results[index] = calls[index]()
            except BaseException as error:
                results[index] = error

        threads = [
            ContextThread(target=one, args=(index,)) for index in range(len(calls))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WITHIN_S)
        return results

    return run
