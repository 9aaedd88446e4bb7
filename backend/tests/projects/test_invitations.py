"""Invitations: who gets in by a link, as what, and who does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from paceline_server.kernel.clock import FrozenClock
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.audit import AuditEntry
from paceline_server.store.tables.projects import Invitation, ProjectMember
from sqlalchemy import select

API = "/api/v1"
EMAIL = "grace@example.org"
PASSWORD = "walnut ferry dusk piano"
Headers = dict[str, str]


@pytest.fixture
def chief(sign_in: Callable[..., Any]) -> Headers:
    headers: Headers = sign_in("admin", name="Chief").headers
    return headers


def invite(
    client: TestClient, headers: Headers, email: str = EMAIL, role: str = "triager"
) -> str:
    """The secret of a new invitation."""
    body = {"email": email, "role": role}
    made = client.post(f"{API}/invitations", headers=headers, json=body)
    assert made.status_code == 201, made.text
    page, _, secret = made.json()["url"].partition("#token=")
    assert page == "http://127.0.0.1:8321/invitation"
    return str(secret)


def accept(
    client: TestClient, secret: str, email: str = EMAIL, name: str = "Grace"
) -> tuple[int, str]:
    body = {"token": secret, "email": email, "name": name, "password": PASSWORD}
    answer = client.post(f"{API}/session/invitation", json=body)
    return answer.status_code, answer.json().get("code", "")


def join(client: TestClient, secret: str, headers: Headers) -> tuple[int, str]:
    body = {"token": secret}
    answer = client.post(f"{API}/account/invitations", json=body, headers=headers)
    return answer.status_code, answer.json().get("code", "")


def states(client: TestClient, headers: Headers) -> list[str]:
    items = client.get(f"{API}/invitations", headers=headers).json()["items"]
    return [one["state"] for one in items]


def test_an_invited_person_makes_an_account_and_is_a_member_with_that_role_and_no_more(
    client: TestClient, chief: Headers
) -> None:
    secret = invite(client, chief)
    offer = client.post(f"{API}/session/invitation/offer", json={"token": secret})
    assert (offer.json()["project"], offer.json()["role"]) == ("default", "triager")
    assert EMAIL not in offer.text
    assert accept(client, secret, email="GRACE@example.org ") == (200, "")
    session_now = client.get(f"{API}/session").json()
    assert (session_now["role"], session_now["account"]["email"]) == ("triager", EMAIL)
    refused = client.get(f"{API}/invitations")
    assert refused.status_code == 403
    assert states(client, chief) == ["accepted"]
    with read_scope() as session:
        recorded = {
            (entry.action, entry.actor, entry.actor_kind)
            for entry in session.scalars(select(AuditEntry))
        }
    assert {
        ("invite", "Chief", "account"),
        ("create", "Grace", "account"),
        ("set", "Grace", "account"),
        ("sign_in", "Grace", "account"),
    } <= recorded


def test_an_invitation_lets_in_once_also_of_many_at_one_instant(
    client: TestClient, chief: Headers, together: Callable[..., list[object]]
) -> None:
    secret = invite(client, chief)
    answers = together(
        *[lambda n=n: accept(client, secret, name=f"Grace {n}")[0] for n in range(4)]
    )
    assert answers.count(200) == 1
    assert accept(client, secret, name="Later") == (410, "invitation_invalid")
    with read_scope() as session:
        emails = session.scalars(
            select(Account.email).where(Account.email.is_not(None))
        )
        assert emails.all() == [EMAIL]
        stored = session.scalars(select(Invitation.token_sha256)).one()
    assert secret not in stored


def test_a_late_withdrawn_or_replaced_invitation_is_refused(
    client: TestClient, chief: Headers, clock: FrozenClock
) -> None:
    replaced = invite(client, chief)
    late = invite(client, chief)
    assert accept(client, replaced) == (410, "invitation_invalid")
    withdrawn = invite(client, chief, email="other@example.org")
    item = client.get(f"{API}/invitations", headers=chief).json()["items"][0]
    path = f"{API}/invitations/{item['id']}"
    assert client.delete(path, headers=chief).status_code == 204
    assert accept(client, withdrawn, "other@example.org") == (410, "invitation_invalid")
    clock.advance(7 * 86400)
    assert accept(client, late) == (410, "invitation_invalid")
    offer = client.post(f"{API}/session/invitation/offer", json={"token": late})
    assert offer.status_code == 410


def test_another_address_is_refused_and_guessing_it_is_slowed_down(
    client: TestClient, chief: Headers, clock: FrozenClock
) -> None:
    secret = invite(client, chief)
    for guess in range(5):
        address = f"guess-{guess}@example.org"
        assert accept(client, secret, email=address) == (403, "other_address")
    assert accept(client, secret) == (429, "throttled")
    clock.advance(2)
    assert accept(client, secret) == (200, "")


def test_somebody_who_has_an_account_joins_with_it_and_nobody_else_does(
    client: TestClient, chief: Headers, sign_in: Callable[..., Any]
) -> None:
    grace = sign_in("read", name="Grace")
    stranger = sign_in("read", name="Stranger")
    with session_scope() as session:
        session.get_one(Account, grace.account_id).email = EMAIL
        for person in (grace, stranger):
            session.delete(
                session.get_one(ProjectMember, ("prj_default", person.account_id))
            )
    secret = invite(client, chief, role="admin")
    assert accept(client, secret) == (409, "account_exists")
    assert join(client, secret, stranger.headers) == (403, "other_address")
    assert join(client, secret, grace.headers) == (200, "")
    assert join(client, secret, grace.headers) == (410, "invitation_invalid")
    seen = client.get(f"{API}/session", headers=grace.headers).json()
    assert seen["role"] == "admin"


def test_a_member_is_not_invited_and_an_old_link_does_not_change_a_role(
    client: TestClient, chief: Headers, sign_in: Callable[..., Any]
) -> None:
    secret = invite(client, chief, role="admin")
    grace = sign_in("read", name="Grace")
    with session_scope() as session:
        session.get_one(Account, grace.account_id).email = EMAIL
    body = {"email": EMAIL, "role": "admin"}
    again = client.post(f"{API}/invitations", headers=chief, json=body)
    assert (again.status_code, again.json()["code"]) == (409, "already_member")
    assert join(client, secret, grace.headers) == (200, "")
    seen = client.get(f"{API}/session", headers=grace.headers).json()
    assert seen["role"] == "viewer"
