"""Transactions: the commit precedes the answer (I10), reads cannot write, hints follow commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from paceline_server.accounts.admission import Admission
from paceline_server.accounts.auth import ANYONE
from paceline_server.api import adopt, create_app
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError
from paceline_server.kernel.ids import new_id
from paceline_server.kernel.route_table import RouteTable
from paceline_server.kernel.settings import Settings
from paceline_server.store.session import (
    Database,
    DbSession,
    hint,
    read_scope,
    session_scope,
)
from paceline_server.store.tables.history import Fingerprint
from paceline_server.store.tables.messages import Incident
from paceline_server.testing.concurrency import wait_for_hints
from sqlalchemy import event, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

pytestmark = pytest.mark.shapes("embedded", "scaled")


def row(name: str) -> Fingerprint:
    """A row without a project, because the routes below are public."""
    return Fingerprint(hash=name, factors={}, first_seen_at=clock.now())


def names() -> set[str]:
    with read_scope() as session:
        return set(session.scalars(select(Fingerprint.hash)))


@pytest.fixture(scope="module")
def wired_application(tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    """An application of its own with a few routes that write: the shared one must not keep them."""
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("wired")))

    @app.post("/write/{name}", dependencies=[ANYONE])
    def write(name: str, session: DbSession) -> dict[str, str]:
        session.add(row(name))
        return {"wrote": name}

    @app.post("/refuse/{name}", dependencies=[ANYONE])
    def refuse(name: str, session: DbSession) -> None:
        session.add(row(name))
        raise ProblemError(409, "conflict", "No.")

    @app.post("/refuse-and-keep/{name}", dependencies=[ANYONE])
    def refuse_and_keep(name: str, session: DbSession) -> None:
        session.add(row(name))
        raise ProblemError(409, "conflict", "No, but remembered.", keeps_changes=True)

    @app.post("/break/{name}", dependencies=[ANYONE])
    def break_down(name: str, session: DbSession) -> None:
        session.add(row(name))
        session.flush()
        raise RuntimeError("secret details")

    @app.get("/write-in-get/{name}", dependencies=[ANYONE])
    def write_in_get(name: str, session: DbSession) -> None:
        session.add(row(name))
        session.flush()

    routes = app.router.routes
    routes.insert(0, routes.pop())
    for _ in range(4):
        routes.insert(0, routes.pop())
    (admission,) = [
        each
        for each in app.user_middleware
        if getattr(each.cls, "__name__", "") == Admission.__name__
    ]
    admission.kwargs["routes"] = RouteTable(app)
    return app


@pytest.fixture
def wired(
    wired_application: FastAPI, settings: Settings, database: Database
) -> Iterator[TestClient]:
    """A client of the wired application with this test's settings and database."""
    adopt(wired_application, settings)
    with TestClient(
        wired_application, base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as client:
        yield client


def test_an_answered_request_is_committed(wired: TestClient) -> None:
    assert wired.post("/write/a").status_code == 200
    assert names() == {"a"}


def test_a_failing_commit_is_a_5xx_and_stores_nothing(
    wired: TestClient, database: Database
) -> None:
    def fail(_: Session) -> None:
        raise RuntimeError("the disk is full")

    event.listen(database._sessions, "before_commit", fail)
    answer = wired.post("/write/a")
    event.remove(database._sessions, "before_commit", fail)
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert names() == set()
    assert wired.post("/write/b").status_code == 200


def test_a_constraint_broken_at_commit_is_a_5xx_and_stores_nothing(
    wired: TestClient, database: Database
) -> None:
    """The handler has returned; the database refuses what the commit flushes."""
    wired.post("/write/a")
    answer = wired.post("/write/a")
    assert answer.status_code >= 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert names() == {"a"}


def test_a_refused_request_stores_nothing(wired: TestClient) -> None:
    assert wired.post("/refuse/a").json()["code"] == "conflict"
    assert names() == set()


def test_a_refusal_that_keeps_changes_stores_them(wired: TestClient) -> None:
    assert wired.post("/refuse-and-keep/a").status_code == 409
    assert names() == {"a"}


def test_an_unexpected_failure_is_a_500_without_its_text(wired: TestClient) -> None:
    answer = wired.post("/break/a")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "secret" not in answer.text
    assert names() == set()


def test_a_get_cannot_write(wired: TestClient) -> None:
    assert wired.get("/write-in-get/a").status_code >= 500
    assert names() == set()


def test_writers_queue_instead_of_failing(
    database: Database, together: Callable[..., list[object]]
) -> None:
    def write(number: int) -> None:
        with session_scope() as session:
            session.execute(text("SELECT 1"))
            session.add(row(f"s{number}"))

    results = together(*[lambda n=n: write(n) for n in range(24)])
    assert results == [None] * 24
    assert len(names()) == 24


def test_foreign_keys_hold(database: Database) -> None:
    from paceline_server.store.tables.jobs import Attempt  # noqa: PLC0415 - only here

    columns = {
        "batch": 0,
        "agent_id": "a",
        "lease_token_sha256": "x",
        "cancel_requested": False,
    }
    from paceline_server.kernel import clock  # noqa: PLC0415 - only here

    attempt = Attempt(
        job_id="job_none",
        number=1,
        leased_at=clock.now(),
        lease_expires_at=clock.now(),
        **columns,
    )
    with pytest.raises(DBAPIError), session_scope() as session:
        session.add(attempt)


def test_hints_follow_the_commit(database: Database) -> None:
    wait_for_hints()
    before = database.hints.version("live")
    with session_scope() as session:
        session.add(Incident(id=new_id("inc"), at=clock.now(), code="c", detail={}))
        hint(session, "live")
        session.flush()
        assert database.hints.version("live") == before
    assert database.hints.wait("live", before, 120)
