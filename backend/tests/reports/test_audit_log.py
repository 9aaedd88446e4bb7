"""The audit log over HTTP: which entries its filters leave, and which belong to no project."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock

API = "/api/v1"
SignIn = Callable[..., Any]


def entries(client: TestClient, path: str, headers: Any, **filters: str) -> list[str]:
    """`actor action` of each entry, the newest first."""
    answer = client.get(f"{API}{path}", headers=headers, params=filters)
    assert answer.status_code == 200, answer.text
    return [f"{one['actor']} {one['action']}" for one in answer.json()["items"]]


def test_the_log_of_a_project_is_filtered_by_who_and_when_and_that_of_the_installation_is_apart(
    client: TestClient, sign_in: SignIn, clock: FrozenClock
) -> None:
    chief, other = sign_in(name="Chief"), sign_in("read", name="Other")
    path = f"{API}/accounts/{other.account_id}/installation-admin"
    body: dict[str, object] = {"is_installation_admin": True}
    assert client.put(path, headers=chief.headers, json=body).status_code == 200
    made = client.post(
        f"{API}/tokens",
        headers=chief.headers,
        json={"name": "ci", "permissions": ["tokens.write", "project.read"]},
    ).json()
    noon = clock.advance(3600).isoformat()
    ci = {"Authorization": f"Bearer {made['secret']}"}
    body = {"name": "second", "permissions": ["project.read"]}
    assert client.post(f"{API}/tokens", headers=ci, json=body).status_code == 201

    def tokens(**filters: str) -> list[str]:
        return entries(client, "/audit", chief.headers, object_kind="token", **filters)

    assert tokens() == ["ci create", "Chief create"]
    assert tokens(actor_kind="token") == ["ci create"]
    assert tokens(**{"from": noon}) == ["ci create"]
    assert tokens(to=noon) == ["Chief create"]
    assert "Chief promote" not in entries(client, "/audit", chief.headers)
    of_all = "/installation/audit"
    assert entries(client, of_all, chief.headers) == ["Chief promote"]
    early = "2020-01-01T00:00:00Z"
    assert entries(client, of_all, chief.headers, to=early) == []


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("name", "value"),
    [("actor_kind", "god"), ("object_kind", "x"), ("from", "x"), ("to", "2026-01-01")],
)
def test_a_filter_that_is_none_is_refused(
    client: TestClient, token: Callable[..., Any], name: str, value: str
) -> None:
    answer = client.get(f"{API}/audit", headers=token("read"), params={name: value})
    assert answer.status_code == 422
