"""Signing in and out, over HTTP."""

from __future__ import annotations

from collections.abc import Callable

from fastapi.testclient import TestClient
from paceline_server.accounts import service
from paceline_server.store.session import session_scope


def make_link(minutes: float = 30) -> str:
    with session_scope() as session:
        account = service.create_account(session, "ada", email="ada@example.org")
        return service.create_link(session, account, minutes)


def test_a_link_signs_in_once(client: TestClient) -> None:
    link = make_link()
    first = client.post("/api/v1/session/link", json={"token": link})
    assert first.status_code == 200, first.text
    assert first.json()["account"]["name"] == "ada"
    assert client.get("/api/v1/session").json()["account"]["name"] == "ada"
    again = client.post("/api/v1/session/link", json={"token": link})
    assert (again.status_code, again.json()["code"]) == (401, "link_invalid")


def test_of_racing_sign_ins_with_one_link_one_wins(
    client: TestClient, together: Callable[..., list[object]]
) -> None:
    link = make_link()
    answers = together(*[lambda: client.post("/api/v1/session/link", json={"token": link}).status_code] * 8)
    assert sorted(answers) == [200] + [401] * 7
