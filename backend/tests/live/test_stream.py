"""The stream over a real socket, on both shapes: order, resumption, filters, permission, ending."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.accounts import service as accounts
from paceline_server.kernel import clock
from paceline_server.live.routes import STREAMS_EACH
from paceline_server.projects import service as projects
from paceline_server.projects.schemas import ProjectIn
from paceline_server.store import access, live_events
from paceline_server.store.session import session_scope
from paceline_server.store.tables.messages import LiveEvent
from paceline_server.testing.concurrency import ContextThread
from paceline_server.testing.running_server import RunningServer
from sqlalchemy import text

pytestmark = pytest.mark.shapes("embedded", "scaled")


@dataclass(frozen=True)
class Frame:
    id: int | None
    event: str
    data: dict[str, Any]


class Reader:
    """One open stream; `next()` gives the next event, comments left out."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def next(self) -> Frame:
        fields: dict[str, str] = {}
        deadline = time.monotonic() + WITHIN_S
        for line in self._lines:
            if time.monotonic() > deadline:
                raise TimeoutError("nothing but comments came")
            if line == "" and "event" in fields:
                number = fields.get("id")
                return Frame(
                    int(number) if number else None,
                    fields["event"],
                    json.loads(fields["data"]),
                )
            if line and not line.startswith(":"):
                key, _, value = line.partition(": ")
                fields[key] = value
        raise EOFError

    def stream_end(self) -> bool:
        try:
            while True:
                self.next()
        except (EOFError, httpx.RemoteProtocolError):
            return True


@pytest.fixture
def open_stream(
    server: RunningServer, token: Callable[..., dict[str, str]]
) -> Callable[..., Any]:
    @contextmanager
    def connect(
        headers: dict[str, str] | None = None, **query: str | int
    ) -> Iterator[Reader]:
        with (
            httpx.Client(base_url=server.url, timeout=WITHIN_S) as client,
            client.stream(
                "GET", "/api/v1/stream", params=query, headers=headers or token("read")
            ) as response,
        ):
            response.raise_for_status()
            reader = Reader(response)
            assert reader.next().event == "ready"
            yield reader

    return connect


def emit(number: int, run: str | None = "run_a") -> None:
    with session_scope() as session:
        live_events.emit(session, "log", run, "job_a", {"n": number})


def emit_and_fail() -> None:
    with session_scope() as session:
        live_events.emit(session, "log", "run_a", None, {"n": -1})
        session.flush()
        raise ZeroDivisionError


def test_a_stream_sends_committed_events_in_order(
    open_stream: Callable[..., Any],
) -> None:
    with open_stream() as reader:
        for number in range(20):
            emit(number)
        frames = [reader.next() for _ in range(20)]
    assert [frame.data["data"]["n"] for frame in frames] == list(range(20))
    assert [frame.data["id"] for frame in frames] == [frame.id for frame in frames]
    assert frames[0].event == "log"


def test_rolled_back_events_are_never_sent(open_stream: Callable[..., Any]) -> None:
    with open_stream() as reader:
        with pytest.raises(ZeroDivisionError):
            emit_and_fail()
        emit(1)
        assert reader.next().data["data"]["n"] == 1


def test_a_stream_resumes_after_the_last_id_it_saw(
    open_stream: Callable[..., Any], token: Any
) -> None:
    with open_stream() as reader:
        for number in range(3):
            emit(number)
        events = [reader.next() for _ in range(2)]
    emit(3)
    headers = {**token("read"), "Last-Event-ID": str(events[-1].id)}
    with open_stream(headers, last_event_id=0) as reader:
        emit(4)
        assert [reader.next().data["data"]["n"] for _ in range(3)] == [2, 3, 4]


def test_streams_go_on_after_every_event_was_pruned(
    open_stream: Callable[..., Any],
) -> None:
    with open_stream() as reader:
        for number in range(3):
            emit(number)
        assert [reader.next().data["data"]["n"] for _ in range(3)] == [0, 1, 2]
        _prune()
        emit(3)
        assert reader.next().data["data"]["n"] == 3


@pytest.mark.shapes("embedded")
def test_a_client_whose_events_were_all_pruned_starts_over(
    open_stream: Callable[..., Any], token: Any
) -> None:
    with open_stream() as reader:
        for number in range(3):
            emit(number)
        ids = [reader.next().id for _ in range(3)]
    _prune()
    with open_stream({**token("read"), "Last-Event-ID": str(ids[-1])}) as reader:
        assert reader.next().event == "reset"
        emit(4)
        assert reader.next().data["data"]["n"] == 4


@pytest.mark.shapes("embedded")
def test_a_client_that_missed_pruned_events_starts_over(
    open_stream: Callable[..., Any], token: Any
) -> None:
    for number in range(2):
        emit(number)
    _prune()
    emit(2)
    for seen in (0, 1):
        with open_stream({**token("read"), "Last-Event-ID": str(seen)}) as reader:
            assert reader.next().event == "reset"
            assert reader.next().data["data"]["n"] == 2


@pytest.mark.shapes("embedded")
def test_a_last_event_id_of_another_database_starts_over(
    open_stream: Callable[..., Any], token: Any
) -> None:
    emit(1)
    with open_stream({**token("read"), "Last-Event-ID": "900"}) as reader:
        assert reader.next().event == "reset"
        emit(2)
        assert reader.next().data["data"]["n"] == 2


def test_a_stream_of_one_run_gets_events_of_that_run_only(
    open_stream: Callable[..., Any],
) -> None:
    emit(0, "run_b")
    with open_stream(run="run_b", last_event_id=0) as reader:
        emit(1, "run_a")
        emit(2, "run_b")
        emit(3, None)
        emit(4, "run_b")
        assert [reader.next().data["data"]["n"] for _ in range(3)] == [0, 2, 4]


@pytest.mark.shapes("scaled")  # SQLite has one writer: ids come in order
def test_ids_that_become_visible_out_of_order_are_all_sent(
    open_stream: Callable[..., Any],
) -> None:
    """PostgreSQL: a transaction that drew its id first may commit last; its event must not be skipped."""
    with open_stream() as reader:
        with session_scope() as late:
            late.add(_event(1))
            late.flush()
            emit(2)
            emit(3)
            assert (
                _count_committed() == 2
            )  # the later ids are visible, the first is not
        assert [reader.next().data["data"]["n"] for _ in range(3)] == [1, 2, 3]


def test_concurrent_writers_lose_no_event(
    open_stream: Callable[..., Any], together: Any
) -> None:
    def write(base: int) -> None:
        for number in range(25):
            emit(base + number)

    with open_stream() as reader:
        writers = ContextThread(
            target=lambda: together(
                *[lambda b=base: write(b) for base in (0, 100, 200, 300)]
            )
        )
        writers.start()
        frames = [reader.next() for _ in range(100)]
        writers.join(WITHIN_S)
    numbers = [frame.data["data"]["n"] for frame in frames]
    assert sorted(numbers) == sorted(
        base + number for base in (0, 100, 200, 300) for number in range(25)
    )
    ids = [frame.id or 0 for frame in frames]
    assert ids == sorted(set(ids))


def test_a_lost_hint_only_delays(open_stream: Callable[..., Any]) -> None:
    with open_stream() as reader:
        with session_scope() as session:
            session.add(_event(7))  # no hint is published for this one
        assert reader.next().data["data"]["n"] == 7


def test_signing_out_closes_the_stream(
    server: RunningServer, open_stream: Callable[..., Any], sign_in: Callable[..., Any]
) -> None:
    person = sign_in("read")
    with open_stream(person.headers) as reader:
        answer = httpx.delete(
            f"{server.url}/api/v1/session", headers=person.headers, timeout=WITHIN_S
        )
        assert answer.status_code == 204
        assert reader.stream_end()


def test_revoking_a_token_closes_its_stream(
    server: RunningServer,
    open_stream: Callable[..., Any],
    token: Callable[..., dict[str, str]],
) -> None:
    admin = token("admin")
    made = httpx.post(
        f"{server.url}/api/v1/tokens",
        json={"name": "tv", "permissions": ["project.read"]},
        headers=admin,
        timeout=WITHIN_S,
    ).json()
    with open_stream({"Authorization": f"Bearer {made['secret']}"}) as reader:
        assert (
            httpx.delete(
                f"{server.url}/api/v1/tokens/{made['id']}",
                headers=admin,
                timeout=WITHIN_S,
            ).status_code
            == 204
        )
        assert reader.stream_end()


@pytest.mark.shapes("embedded")
def test_one_owner_has_a_bounded_number_of_streams(
    server: RunningServer, token: Callable[..., dict[str, str]]
) -> None:
    headers = token("read")
    with httpx.Client(base_url=server.url, timeout=WITHIN_S) as client:
        open_ones = [
            client.stream("GET", "/api/v1/stream", headers=headers) for _ in range(16)
        ]
        lines = [stream.__enter__().iter_lines() for stream in open_ones]
        for line in lines:
            next(line)
        refused = client.get("/api/v1/stream", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (
            429,
            "too_many_streams",
        )
        for stream in open_ones:
            stream.__exit__(None, None, None)


@pytest.mark.shapes("embedded")
def test_the_limit_holds_for_streams_opened_at_the_same_time(
    server: RunningServer, token: Callable[..., dict[str, str]]
) -> None:
    """All connect first and send their requests at once. Admitted streams stay open; the others get an answer."""
    host, port = server.url.removeprefix("http://").split(":")
    credential = token("read")["Authorization"]
    request = f"GET /api/v1/stream HTTP/1.1\r\nHost: {host}\r\nAuthorization: {credential}\r\n\r\n"
    connections = [
        socket.create_connection((host, int(port)), WITHIN_S)
        for _ in range(5 * STREAMS_EACH)
    ]
    try:
        for connection in connections:
            connection.sendall(request.encode())
        statuses = [connection.recv(12)[9:12] for connection in connections]
    finally:
        for connection in connections:
            connection.close()
    assert (statuses.count(b"200"), statuses.count(b"429")) == (
        STREAMS_EACH,
        4 * STREAMS_EACH,
    )


@pytest.mark.shapes("embedded")
def test_streams_that_failed_to_start_do_not_count(
    server: RunningServer,
    token: Callable[..., dict[str, str]],
    open_stream: Callable[..., Any],
) -> None:
    headers = token("read")
    _execute("ALTER TABLE live_event RENAME TO away")
    for _ in range(STREAMS_EACH):
        with pytest.raises(httpx.HTTPError):
            httpx.get(
                f"{server.url}/api/v1/stream", headers=headers, timeout=WITHIN_S
            ).raise_for_status()
    _execute("ALTER TABLE away RENAME TO live_event")
    with open_stream(headers) as reader:
        emit(1)
        assert reader.next().data["data"]["n"] == 1


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer plt_nobody"}])
def test_a_stream_needs_permission(
    server: RunningServer, headers: dict[str, str]
) -> None:
    answer = httpx.get(f"{server.url}/api/v1/stream", headers=headers, timeout=WITHIN_S)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


def _event(number: int) -> LiveEvent:
    return LiveEvent(
        kind="log", at=clock.now(), run_id="run_a", job_id=None, data={"n": number}
    )


def _prune() -> None:
    with session_scope() as session:
        live_events.prune(session, clock.now() + timedelta(days=1))


def _execute(statement: str) -> None:
    with session_scope() as session:
        session.execute(text(statement))


def _count_committed() -> int:
    from paceline_server.store.session import read_scope  # noqa: PLC0415 - only here
    from sqlalchemy import func, select  # noqa: PLC0415 - only here

    with read_scope() as session:
        return session.scalar(select(func.count()).select_from(LiveEvent)) or 0


def test_a_stream_sends_events_of_its_own_project_only(
    open_stream: Callable[..., Any],
) -> None:
    with session_scope() as session:
        other = projects.create_project(
            session, ProjectIn(name="other", title="Other"), "test"
        ).id
    with access.using(access.of_project(other)), session_scope() as session:
        _, secret = accounts.issue_token(session, "t", "plt", ["project.read"])
    theirs = {"Authorization": f"Bearer {secret}"}
    with open_stream(headers=theirs) as reader:
        emit(1)
        with access.using(access.of_project(other)):
            emit(2)
        first = reader.next()
    assert first.data["data"] == {"n": 2}
    emit(3)
    with access.using(access.of_project(other)):
        emit(4)
    with open_stream(headers=theirs, last_event_id=0) as reader:
        numbers = [reader.next().data["data"]["n"] for _ in range(2)]
    assert numbers == [2, 4]
