"""Tokens of programs: made, shown once, limited, revoked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import read_scope
from paceline_server.store.tables.accounts import Token
from sqlalchemy import select

pytestmark = pytest.mark.shapes("embedded", "scaled")

API = "/api/v1"
Headers = dict[str, str]


@pytest.fixture
def admin(token: Callable[..., Headers]) -> Headers:
    return token("admin")


def make(
    client: TestClient, admin: Headers, *permissions: str, **more: object
) -> dict[str, str]:
    answer = client.post(
        f"{API}/tokens",
        json={"name": "ci", "permissions": list(permissions), **more},
        headers=admin,
    )
    assert answer.status_code == 201, answer.text
    made: dict[str, str] = answer.json()
    return made


def bearer(made: dict[str, str]) -> Headers:
    return {"Authorization": f"Bearer {made['secret']}"}


def test_a_secret_has_256_random_bits_and_is_shown_once(
    client: TestClient, admin: Headers
) -> None:
    made = make(client, admin, "project.read")
    assert made["secret"].startswith(made["prefix"] + "_")
    assert (
        len(made["secret"].removeprefix(made["prefix"] + "_")) == 43
    )  # 256 bits in base64
    listed = client.get(f"{API}/tokens", headers=admin)
    assert made["secret"] not in listed.text
    with read_scope() as session:
        stored = session.scalars(select(Token.secret_sha256)).all()
    assert made["secret"] not in "".join(stored)


def test_a_token_may_what_its_permissions_say_and_no_more(
    client: TestClient, admin: Headers
) -> None:
    reading = bearer(make(client, admin, "project.read"))
    assert client.get(f"{API}/targets", headers=reading).status_code == 200
    refused = client.get(f"{API}/tokens", headers=reading)
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")


def test_a_revoked_token_is_refused_at_once(client: TestClient, admin: Headers) -> None:
    made = make(client, admin, "project.read")
    assert client.get(f"{API}/targets", headers=bearer(made)).status_code == 200
    assert client.delete(f"{API}/tokens/{made['id']}", headers=admin).status_code == 204
    refused = client.get(f"{API}/targets", headers=bearer(made))
    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
    assert refused.headers["www-authenticate"] == "Bearer"


def test_an_expired_token_is_refused(
    client: TestClient, clock: FrozenClock, admin: Headers
) -> None:
    made = make(client, admin, "project.read", expires_in_days=1)
    clock.advance(86399)
    assert client.get(f"{API}/targets", headers=bearer(made)).status_code == 200
    clock.advance(1)
    assert client.get(f"{API}/targets", headers=bearer(made)).status_code == 401


def test_use_is_remembered_to_the_minute(
    client: TestClient, clock: FrozenClock, admin: Headers
) -> None:
    made = make(client, admin, "project.read")

    def last_used() -> str | None:
        items = client.get(f"{API}/tokens", headers=admin).json()["items"]
        value: str | None = next(
            item["last_used_at"] for item in items if item["id"] == made["id"]
        )
        return value

    assert last_used() is None
    client.get(f"{API}/targets", headers=bearer(made))
    first = last_used()
    assert first is not None
    clock.advance(59)
    client.get(f"{API}/targets", headers=bearer(made))
    assert last_used() == first
    clock.advance(2)
    client.get(f"{API}/targets", headers=bearer(made))
    assert last_used() != first


def test_nobody_gives_a_permission_they_lack(
    client: TestClient, sign_in: Callable[..., object]
) -> None:
    person = sign_in("admin")
    for name, status in (
        ("agent", 403),
        ("project.read", 201),
        ("runs.create", 201),
    ):
        answer = client.post(
            f"{API}/tokens",
            json={"name": "t", "permissions": [name]},
            headers=person.headers,  # type: ignore[attr-defined]
        )
        assert answer.status_code == status


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic abc",
        "Bearer plt_x",
        "Bearer \xff",
        "bearer  plt_x",
    ],
)
def test_a_malformed_authorization_is_unauthenticated(
    client: TestClient, value: str
) -> None:
    headers = [(b"Authorization", value.encode("latin-1"))]
    answer = client.get(f"{API}/targets", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


def test_a_token_needs_no_origin(client: TestClient, admin: Headers) -> None:
    headers = {**admin, "Sec-Fetch-Site": "cross-site"}
    assert (
        client.post(
            f"{API}/tokens",
            json={"name": "t", "permissions": ["project.read"]},
            headers=headers,
        ).status_code
        == 201
    )


def test_pages_neither_repeat_nor_skip_while_rows_are_added(
    client: TestClient, admin: Headers
) -> None:
    wanted = {make(client, admin, "project.read")["id"] for _ in range(5)}
    seen: list[str] = []
    cursor = None
    while True:
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = client.get(f"{API}/tokens", params=query, headers=admin).json()
        seen += [item["id"] for item in page["items"]]
        make(client, admin, "project.read")
        cursor = page["next"]
        if cursor is None:
            break
    assert len(seen) == len(set(seen))
    assert wanted <= set(seen)


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "!!!",
        "W10",
        "WzFd",
        "WyJcdTAwMDAiXQ",
        "WyJcdWQ4MDAiXQ",
        "W1tdXQ",
        "e30",
        "bnVsbA",
        "WyJhIiwiYiJd",
        "é",
    ],
)
def test_a_broken_cursor_is_a_400(
    client: TestClient, admin: Headers, cursor: str
) -> None:
    answer = client.get(f"{API}/tokens", params={"cursor": cursor}, headers=admin)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
