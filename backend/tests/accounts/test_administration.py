"""Accounts of the installation: who is cut off and how far, and that somebody is always left to let people in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.accounts import service
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.accounts import Account
from sqlalchemy import select

pytestmark = pytest.mark.shapes("embedded", "scaled")

API = "/api/v1"
Headers = dict[str, str]
SignIn = Callable[..., Any]


def accounts(client: TestClient, headers: Headers, **query: object) -> list[str]:
    answer = client.get(
        f"{API}/installation/accounts",
        headers=headers,
        params=query,  # type: ignore[arg-type]
    )
    return [one["name"] for one in answer.json()["items"]]


def test_a_disabled_account_is_out_at_once_with_its_tokens_and_stays_out_of_old_sessions(
    client: TestClient, sign_in: SignIn
) -> None:
    chief, leaver = sign_in(name="Chief"), sign_in("admin", name="Leaver")
    made = client.post(
        f"{API}/tokens",
        headers=leaver.headers,
        json={"name": "ci", "permissions": ["project.read"]},
    )
    token = {"Authorization": f"Bearer {made.json()['secret']}"}
    assert client.get(f"{API}/runs", headers=token).status_code == 200
    path = f"{API}/accounts/{leaver.account_id}"
    assert client.post(f"{path}/disable", headers=chief.headers).status_code == 204
    for headers in (leaver.headers, token):
        assert client.get(f"{API}/runs", headers=headers).status_code == 401
    assert client.post(f"{path}/enable", headers=chief.headers).status_code == 204
    assert client.get(f"{API}/runs", headers=leaver.headers).status_code == 401
    assert client.get(f"{API}/runs", headers=token).status_code == 200


def test_of_the_last_admins_who_remove_each_other_one_stays(
    client: TestClient, sign_in: SignIn, together: Callable[..., list[object]]
) -> None:
    ada, eve = sign_in(name="Ada"), sign_in(name="Eve")

    def demote(who: Any, whom: Any) -> int:
        return client.put(
            f"{API}/accounts/{whom.account_id}/installation-admin",
            headers=who.headers,
            json={"is_installation_admin": False},
        ).status_code

    assert demote(ada, ada) == 403, "nobody changes their own"
    answers = together(lambda: demote(ada, eve), lambda: demote(eve, ada))
    assert answers.count(200) == 1
    with read_scope() as session:
        left = session.scalars(
            select(Account.name).where(Account.is_installation_admin)
        ).all()
    assert len(left) == 1
    last = ada if left == ["Ada"] else eve
    answer = client.post(
        f"{API}/accounts/{last.account_id}/disable", headers=last.headers
    )
    assert (answer.status_code, answer.json()["code"]) == (409, "last_admin")


def test_an_admin_signs_somebody_out_and_hands_them_a_reset_link(
    client: TestClient, sign_in: SignIn
) -> None:
    chief, other = sign_in(name="Chief"), sign_in("read", name="Other")
    path = f"{API}/accounts/{other.account_id}"
    assert client.delete(f"{path}/sessions", headers=chief.headers).status_code == 204
    assert client.get(f"{API}/session", headers=other.headers).status_code == 401
    without = client.post(f"{path}/reset-link", headers=chief.headers)
    assert without.status_code == 400, "there is no address to sign in with"
    with session_scope() as session:
        session.get_one(Account, other.account_id).email = "other@example.org"
    made = client.post(f"{path}/reset-link", headers=chief.headers).json()
    page, _, secret = made["url"].partition("#token=")
    assert page == "http://127.0.0.1:8321/reset-password"
    answer = client.post(
        f"{API}/session/reset",
        json={"token": secret, "password": "walnut ferry dusk piano"},
    )
    assert answer.json()["account"]["name"] == "Other"


def test_searching_accounts_takes_text_as_it_is_in_any_case(
    client: TestClient, sign_in: SignIn
) -> None:
    chief = sign_in(name="Chief")
    with session_scope() as session:
        for name in ("100% Ada", "Ada_B", "AdaXB"):
            service.create_account(session, name)
        service.create_account(session, "ÉMILE", email="zola@example.org")
    assert accounts(client, chief.headers, q="%") == ["100% Ada"]
    assert accounts(client, chief.headers, q="a_b") == ["Ada_B"]
    assert accounts(client, chief.headers, q="émile") == ["ÉMILE"]
    assert accounts(client, chief.headers, q="ZOLA@") == ["ÉMILE"]
    assert len(accounts(client, chief.headers, limit=2)) == 2
