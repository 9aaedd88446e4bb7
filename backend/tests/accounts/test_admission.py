"""What a request meets before its route: credential, method, address, and the limits of its body."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from fastapi import APIRouter, FastAPI, HTTPException
from fastapi.testclient import TestClient
from paceline_server.accounts import admission
from paceline_server.accounts.admission import Admission, BodyBudget
from paceline_server.accounts.auth import ANYONE
from paceline_server.api import BODY_BYTES, create_app
from paceline_server.fleet.agents.routes import GRANT_BYTES
from paceline_server.kernel.route_table import RouteTable
from paceline_server.kernel.settings import Settings
from paceline_server.kernel.wire import MAX_DEPTH
from paceline_server.testing.committed_contract import read_contract

pytestmark = pytest.mark.shapes("embedded")

API = "/api/v1"
Headers = dict[str, str]
JSON = {"Content-Type": "application/json"}
CONTRACT = read_contract()["paths"]
OPEN = {
    ("post", f"{API}/session"),
    ("post", f"{API}/session/link"),
    ("post", f"{API}/session/reset"),
    ("post", f"{API}/session/invitation"),
    ("post", f"{API}/session/invitation/offer"),
    ("post", f"{API}/agents/enrol"),
}
LARGE = {
    "items": f"{API}/jobs/job_x/attempts/1/items",
    "import": f"{API}/imports",
    "preview": f"{API}/imports/preview",
    "file": f"{API}/imports/files",
    "heartbeat": f"{API}/agents/self/heartbeat",
    "state": f"{API}/jobs/job_x/attempts/1/state",
    "manifest": f"{API}/jobs/job_x/attempts/1/manifest",
}
GRANTS = {
    "enrolment code": ("POST", f"{API}/agents/enrolment-codes"),
    "grant": ("PUT", f"{API}/installation/agents/agt_x/grant"),
}
"""Routes of admins whose bodies may be larger than others: a grant lists patterns of repositories and targets."""


def problem(answer: Any) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, answer.json()["code"]


def takes_body() -> list[tuple[str, str]]:
    return [
        (method, path)
        for path, each in CONTRACT.items()
        for method in each
        if "requestBody" in each[method]
    ]


# --- who may send a body


@pytest.mark.parametrize(("method", "path"), takes_body())
def test_a_strangers_body_is_not_parsed_where_a_credential_is_needed(
    client: TestClient, method: str, path: str
) -> None:
    answer = client.request(
        method, path.replace("{attempt}", "1"), content=b"{", headers=JSON
    )
    expected = (
        (422, "invalid_request") if (method, path) in OPEN else (401, "unauthenticated")
    )
    assert problem(answer) == expected


@pytest.mark.parametrize(
    "headers",
    [[], [(b"authorization", b"Bearer plt_nobody")], [(b"cookie", b"paceline=x")]],
)
def test_not_a_byte_of_a_strangers_body_is_read(
    app: FastAPI, headers: list[tuple[bytes, bytes]]
) -> None:
    status: list[int] = []

    async def receive() -> dict[str, Any]:
        raise AssertionError("the body was read")

    async def send(message: dict[str, Any]) -> None:
        status.append(message.get("status", 0))

    scope = {
        "type": "http",
        "method": "POST",
        "path": f"{API}/tokens",
        "raw_path": b"",
        "query_string": b"",
        "scheme": "http",
        "root_path": "",
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"content-type", b"application/json"),
            *headers,
        ],
        "state": {},
    }
    asyncio.run(app(scope, receive, send))  # type: ignore[arg-type]
    assert status[0] == 401


def test_who_lacks_the_scope_is_refused_before_the_body_is_parsed(
    client: TestClient, token: Callable[..., Headers]
) -> None:
    answer = client.post(
        f"{API}/tokens", content=b"{", headers={**token("read"), **JSON}
    )
    assert problem(answer) == (403, "forbidden")


def test_a_route_that_does_not_say_who_may_use_it_is_refused_when_the_application_is_built() -> (
    None
):
    silent = APIRouter()
    silent.add_api_route("/silent", lambda: None)
    app = FastAPI()
    app.include_router(silent)
    with pytest.raises(TypeError, match="/silent"):
        Admission(app, RouteTable(app), 1024)
    spoken = FastAPI()
    spoken.include_router(silent, dependencies=[ANYONE])
    Admission(spoken, RouteTable(spoken), 1024)


# --- how large and how deep


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(
    ("path", "limit"),
    [("/tokens", BODY_BYTES), ("/session", 16384), ("/agents/enrol", 16384)],
)
def test_a_body_over_its_routes_limit_is_refused_declared_or_not(
    client: TestClient,
    token: Callable[..., Headers],
    path: str,
    limit: int,
    declared: bool,
) -> None:
    def sent(size: int) -> Any:
        def parts() -> Iterator[bytes]:
            for start in range(0, size, 1024):
                yield b" " * min(1024, size - start)

        content = b" " * size if declared else parts()
        return client.post(
            f"{API}{path}", content=content, headers={**token("admin"), **JSON}
        )

    assert problem(sent(limit + 1)) == (413, "body_too_large")
    assert str(limit) in sent(limit + 1).json()["detail"]
    assert problem(sent(limit)) == (422, "invalid_request")


@pytest.mark.parametrize("path", LARGE.values(), ids=LARGE)
def test_only_what_agents_upload_may_be_larger(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., Headers],
    path: str,
) -> None:
    who = token("ingest") if "/imports" in path else enrolled().headers
    headers = {**who, **JSON, "Lease-Token": "x"}
    assert client.post(
        path, content=b" " * (BODY_BYTES + 1), headers=headers
    ).status_code in (400, 422)
    refused = client.post(path, content=b" " * (8 * 1024 * 1024 + 1), headers=headers)
    assert problem(refused) == (413, "body_too_large")
    # A recording is one document, which cannot be split.
    assert "a recording of fewer benchmarks" in refused.json()["detail"]


@pytest.mark.parametrize(("method", "path"), GRANTS.values(), ids=GRANTS)
def test_a_grant_may_list_many_patterns_but_has_a_limit(
    client: TestClient, token: Callable[..., Headers], method: str, path: str
) -> None:
    headers = {**token("admin"), **JSON}
    sent = partial(client.request, method, path, headers=headers)
    assert sent(content=b" " * (BODY_BYTES + 1)).status_code in (400, 422)
    assert problem(sent(content=b" " * (GRANT_BYTES + 1))) == (413, "body_too_large")


def test_no_other_route_has_a_limit_of_its_own() -> None:
    app = create_app(Settings())
    larger = {
        route.template
        for route in RouteTable(app).routes
        if route.template.startswith(API) and (route.max_body_bytes or 0) > BODY_BYTES
    }
    assert larger == {
        path.replace("job_x", "{job_id}")
        .replace("/1/", "/{attempt}/")
        .replace("agt_x", "{agent_id}")
        for path in (*LARGE.values(), *(path for _, path in GRANTS.values()))
    }


@pytest.mark.parametrize("depth", [MAX_DEPTH, 500, 600, 700, 800, 900, 2000, 8000])
@pytest.mark.parametrize("way", ["list", "object"])
def test_nesting_is_refused_not_a_failure(
    client: TestClient, depth: int, way: str
) -> None:
    opening, closing = (b"[", b"]") if way == "list" else (b'{"a":', b"}")
    inner = opening * depth + (b"1" if way == "object" else b"") + closing * depth
    if len(inner) > 16000:
        inner = opening * (16000 // len(opening))
    answer = client.post(
        f"{API}/session/link", content=b'{"token":' + inner + b"}", headers=JSON
    )
    assert problem(answer)[0] in (400, 422)


@pytest.mark.parametrize("path", LARGE.values(), ids=LARGE)
def test_nesting_of_an_upload_is_refused_not_a_failure(
    client: TestClient,
    enrolled: Callable[..., Any],
    token: Callable[..., Headers],
    path: str,
) -> None:
    who = token("ingest") if "/imports" in path else enrolled().headers
    for depth in (600, 900, 100_000):
        deep = b"[" * depth + b"]" * depth
        body = (
            b'{"version":"1","targets":['
            + deep
            + b'],"document":'
            + deep
            + b',"items":[{"kind":'
            + deep
            + b"}]}"
        )
        answer = client.post(
            path, content=body, headers={**who, **JSON, "Lease-Token": "x"}
        )
        assert problem(answer)[0] in (400, 422)


# --- how many at once


def test_bodies_that_are_parsed_at_once_take_no_more_than_the_room_there_is() -> None:
    """Twelve uploads of 7 MiB: two fit into the room, the others wait with their end not handed on."""

    async def uploads() -> tuple[list[int], list[int]]:
        inside: list[int] = []
        most: list[int] = []
        go_on = asyncio.Event()

        async def route(_: Any, receive: Any, __: Any) -> None:
            while (await receive()).get("more_body"):
                pass
            inside.append(1)
            most.append(len(inside))
            await go_on.wait()
            inside.pop()

        room = BodyBudget(16 * 1024 * 1024)
        places = [
            admission.BudgetedBody(room, _sends(b" " * 7 * 1024 * 1024), 2**30)
            for _ in range(12)
        ]

        async def one(place: admission.BudgetedBody) -> None:
            try:
                await route(None, place.receive, None)
            finally:
                place.release()

        tasks = [asyncio.create_task(one(place)) for place in places]
        for _ in range(100):
            await asyncio.sleep(0)
        waiting = [len(inside), room.taken]
        go_on.set()
        await asyncio.gather(*tasks)
        return waiting, [max(most), len(most), room.taken]

    waiting, ended = asyncio.run(uploads())
    assert waiting == [2, 14 * 1024 * 1024]
    assert ended == [2, 12, 0]


def test_a_body_for_which_no_room_is_made_is_told_to_come_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admission, "MAX_BUDGET_WAIT_S", 0.01)

    async def second() -> tuple[int, int, int]:
        room = BodyBudget(10)
        first = await room.reserve(8)
        with pytest.raises(HTTPException) as refused:
            await room.reserve(8)
        room.release(first)
        room.release(await room.reserve(10))
        cancelled = [asyncio.create_task(room.reserve(10)) for _ in range(2)]
        await asyncio.sleep(0)
        cancelled[1].cancel()
        await asyncio.gather(*cancelled, return_exceptions=True)
        return refused.value.status_code, room.taken, len(room._waiting)

    assert asyncio.run(second()) == (503, 10, 0)


def _sends(body: bytes) -> Callable[[], Any]:
    parts = [body[start : start + 65536] for start in range(0, len(body), 65536)]

    async def receive() -> dict[str, Any]:
        part = parts.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(parts)}

    return receive


# --- the address


@pytest.mark.parametrize(
    "host", ["[", "[::1", "a:b", "x:99999", "a/b", "a@b", "a b", "[zz]"]
)
def test_a_host_that_is_none_is_refused(client: TestClient, host: str) -> None:
    for path in (f"{API}/session", "/healthz", "/"):
        assert problem(client.get(path, headers={"Host": host})) == (
            400,
            "invalid_request",
        )


@pytest.mark.parametrize(
    "host",
    ["localhost", "127.0.0.1:8321", "[::1]:80", "my_host.example.org", "xn--a.b", ""],
)
def test_a_host_that_is_one_is_not(client: TestClient, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_an_endless_address_is_refused(client: TestClient) -> None:
    assert problem(client.get("/" + "a" * 20_000)) == (414, "uri_too_long")
    assert problem(client.get(f"{API}/runs?suite=" + "a" * 20_000)) == (
        414,
        "uri_too_long",
    )


@pytest.mark.parametrize("path", CONTRACT)
def test_a_path_says_all_methods_it_has_and_refuses_the_others(
    client: TestClient, path: str
) -> None:
    there = {method.upper() for method in CONTRACT[path]}
    for method in {
        "GET",
        "HEAD",
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
        "OPTIONS",
        "TRACE",
        "QUERY",
    } - there:
        answer = client.request(method, path.replace("{attempt}", "1"))
        assert answer.status_code == 405, (method, path)
        assert set(answer.headers["allow"].split(", ")) == there


def test_a_path_that_does_not_exist_has_no_methods(client: TestClient) -> None:
    for method in ("GET", "POST", "PATCH", "DELETE"):
        assert problem(client.request(method, f"{API}/nothing")) == (404, "not_found")
        assert problem(client.request(method, "/api")) == (404, "not_found")
    answer = client.post("/runs/run_1")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    "query",
    [
        "targets?limit=1.0",
        "targets?limit=%2B1",
        "targets?limit=1_0",
        "targets?limit=%201",
        "targets?limit=",
        "targets?simulated=on",
        "targets?simulated=1",
        "targets?simulated=True",
        "jobs/job_x/log?tail=yes",
        "series/ser_x/points?to=0.5",
        "series/ser_x/points?from=1700000000",
        "targets/tgt_x/conditions?to=0.5",
        "series/ser_x/points?to=2026-11-23",
    ],
)
def test_a_value_in_an_address_is_written_as_its_type_is(
    client: TestClient, token: Callable[..., Headers], query: str
) -> None:
    answer = client.get(f"{API}/{query}", headers=token("read"))
    assert problem(answer) == (422, "invalid_request")
    name = query.split("?")[1].split("=", maxsplit=1)[0]
    assert list(answer.json()["fields"]) == [f"query.{name}"]


def test_a_value_written_as_its_type_is_reaches_its_route(
    client: TestClient, token: Callable[..., Headers]
) -> None:
    for query in (
        "targets?limit=1&simulated=false",
        "targets?simulated=true",
        "alerts?shadow=true",
    ):
        assert client.get(f"{API}/{query}", headers=token("read")).status_code == 200
    points = client.get(
        f"{API}/series/ser_x/points?to=2026-11-23T14:00:00Z", headers=token("read")
    )
    assert problem(points) == (404, "not_found")


def test_an_invented_method_makes_no_figures_of_its_own(client: TestClient) -> None:
    client.request("ZAP", "/healthz")
    text = client.get("/metrics").text
    assert "ZAP" not in text
    assert 'method="other"' in text


def test_answers_of_the_api_are_not_kept(
    client: TestClient, token: Callable[..., Headers]
) -> None:
    for path in ("/targets", "/session", "/nothing", "/openapi.json"):
        assert (
            client.get(f"{API}{path}", headers=token("read")).headers["cache-control"]
            == "no-store"
        )


def test_browsers_are_told_to_stay_with_https_only_where_they_came_by_it(
    settings: Settings, app: FastAPI
) -> None:
    hsts = "strict-transport-security"
    with TestClient(app, base_url="http://127.0.0.1") as plain:
        assert hsts not in plain.get("/healthz").headers
    with TestClient(app, base_url="https://127.0.0.1") as secure:
        assert secure.get("/healthz").headers[hsts] == "max-age=31536000"
    behind = create_app(
        settings.model_copy(update={"public_url": "https://perf.example.org"})
    )
    with TestClient(behind, base_url="http://perf.example.org") as proxied:
        assert hsts in proxied.get("/healthz").headers
        assert (
            hsts not in proxied.get("/healthz", headers={"Host": "127.0.0.1"}).headers
        )


def test_json_is_not_bent_into_the_type_that_is_wanted(
    client: TestClient, token: Callable[..., Headers]
) -> None:
    """`1` is no truth value, `"1"`, `1.0` and `true` are no integers, `0` is no instant."""
    admin = token("admin")
    tokens = {"name": "t", "permissions": ["project.read"]}
    for value in ("30", 30.0, True):
        answer = client.post(
            f"{API}/tokens", json={**tokens, "expires_in_days": value}, headers=admin
        )
        assert problem(answer) == (422, "invalid_request")
        assert list(answer.json()["fields"]) == ["body.expires_in_days"]
    for value in (0, "false", "off"):
        answer = client.put(
            f"{API}/targets/tgt_x/maintenance", json={"on": value}, headers=admin
        )
        assert problem(answer) == (422, "invalid_request")
        assert list(answer.json()["fields"]) == ["body.on"]
    for value in (0, 1.5, "1700000000", "2026-11-23"):
        sent = json.dumps({"on": True, "until": value})
        answer = client.put(
            f"{API}/targets/tgt_x/maintenance", content=sent, headers={**admin, **JSON}
        )
        assert list(answer.json()["fields"]) == ["body.until"]
