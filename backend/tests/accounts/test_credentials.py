"""Passwords over HTTP: which are accepted, how they are changed and reset, and what ends with the old one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from paceline_server.accounts import administration, credentials, passwords, service
from paceline_server.accounts.names import normalize_email, normalize_name
from paceline_server.accounts.password_rules import check_password
from paceline_server.kernel.clock import FrozenClock
from paceline_server.kernel.errors import ProblemError
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.audit import AuditEntry
from sqlalchemy import select

API = "/api/v1"
OLD = "correct horse battery"
NEW = "walnut ferry dusk piano"
OURS = {"Sec-Fetch-Site": "same-origin"}


def make_account(name: str = "ada", password: str | None = OLD) -> str:
    with session_scope() as session:
        return service.create_account(
            session,
            name,
            email=f"{name}@example.org",
            password_hash=password and passwords.hash_password(password),
        ).id


def browser(app: FastAPI, password: str = OLD, name: str = "ada") -> TestClient:
    """A browser of its own that has signed in."""
    opened = TestClient(
        app, base_url="http://127.0.0.1:8321", client=("127.0.0.1", 50000)
    )
    body = {"email": f"{name}@example.org", "password": password}
    answer = opened.post(f"{API}/session", json=body)
    assert answer.status_code == 200, answer.text
    return opened


def status(opened: TestClient) -> int:
    return opened.get(f"{API}/session").status_code


def change(opened: TestClient, current: str | None, password: str) -> tuple[int, str]:
    answer = opened.put(
        f"{API}/account/password",
        json={"current": current, "password": password},
        headers=OURS,
    )
    return answer.status_code, answer.json().get("code", "")


def reset_link(account_id: str) -> str:
    with session_scope() as session:
        made = administration.create_reset_link(
            session, account_id, 30, "http://x", "t"
        )
    return made.url.partition("#token=")[2]


def reset(opened: TestClient, link: str, password: str = NEW) -> tuple[int, str]:
    answer = opened.post(
        f"{API}/session/reset", json={"token": link, "password": password}
    )
    return answer.status_code, answer.json().get("code", "")


def test_a_changed_password_ends_every_other_session_and_link_and_renews_ones_own(
    app: FastAPI, client: TestClient
) -> None:
    account_id = make_account()
    here, there = browser(app), browser(app)
    link = reset_link(account_id)
    before = here.cookies["paceline"]
    assert change(here, OLD, NEW) == (200, "")
    assert here.cookies["paceline"] != before
    assert (status(here), status(there)) == (200, 401)
    assert reset(client, link) == (401, "link_invalid")
    assert status(browser(app, NEW)) == 200


def test_without_the_present_password_nobody_sets_another_and_guesses_are_slowed_down(
    app: FastAPI, client: TestClient, clock: FrozenClock
) -> None:
    make_account()
    here = browser(app)
    for guess in (None, "", "wrong", NEW, "wrong"):
        assert change(here, guess, NEW) == (403, "wrong_password")
    assert change(here, OLD, NEW) == (429, "throttled")
    clock.advance(2)
    assert change(here, OLD, NEW) == (200, "")


def test_an_account_without_a_password_gets_its_first_one(
    client: TestClient,
) -> None:
    account_id = make_account(password=None)
    with session_scope() as session:
        link = credentials.create_link(
            session, session.get_one(Account, account_id), 30
        )
    assert client.post(f"{API}/session/link", json={"token": link}).status_code == 200
    assert client.get(f"{API}/session").json()["has_password"] is False
    assert change(client, None, NEW) == (200, "")
    assert client.get(f"{API}/session").json()["has_password"] is True


def test_a_reset_link_sets_a_password_once_and_signs_everybody_else_out(
    app: FastAPI, client: TestClient, together: Callable[..., list[object]]
) -> None:
    account_id = make_account()
    thief = browser(app)
    link = reset_link(account_id)
    assert reset(client, link, "short") == (400, "weak_password")
    assert client.post(f"{API}/session/link", json={"token": link}).status_code == 401
    answers = together(*[lambda: reset(client, link)[0]] * 3)
    assert sorted(answers, key=str) == [200, 401, 401]
    assert (status(client), status(thief)) == (200, 401)
    with read_scope() as session:
        recorded = session.execute(
            select(AuditEntry.action, AuditEntry.actor, AuditEntry.actor_kind).where(
                AuditEntry.object_id == account_id
            )
        ).all()
    assert ("set_password", "ada", "account") in [tuple(row) for row in recorded]
    assert ("sign_in", "ada", "account") in [tuple(row) for row in recorded]


def test_a_reset_link_is_refused_when_old_and_when_the_account_is_disabled(
    client: TestClient, clock: FrozenClock
) -> None:
    account_id = make_account()
    link = reset_link(account_id)
    clock.advance(30 * 60)
    assert reset(client, link) == (401, "link_invalid")
    link = reset_link(account_id)
    with session_scope() as session:
        administration.disable_account(session, account_id, "t")
    assert reset(client, link) == (401, "link_invalid")


@pytest.mark.parametrize(
    "password",
    [
        "short",
        "a" * 40,
        "password1234",
        "qwertyuiop123",
        "123456789012",
        "iloveyou1234",
        "ada@example.org",
        "paceline2026",
        "adaadaadaada",
        "abcdefghijklmnop",
    ],
)
def test_known_and_guessable_passwords_are_refused(password: str) -> None:
    with pytest.raises(ProblemError) as refused:
        check_password(password, ("ada", "ada@example.org"))
    assert refused.value.code == "weak_password"


@pytest.mark.parametrize(
    "password",
    [
        OLD,
        NEW,
        "Zq7$kfW2!mXp",
        "é" * 5 + "Straße über Fluß",
        "walnut ferry dusk piano " * 40,
    ],
)
def test_long_and_unusual_passwords_are_accepted(password: str) -> None:
    check_password(password, ("ada", "ada@example.org"))


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("  Ada   Lovelace ", "Ada Lovelace"),
        ("Jos\u0065\u0301", "Jos\u00e9"),
        ("\uff21da", "Ada"),
        ("Łucja Żółć", "Łucja Żółć"),
        ("田中 Ken", "田中 Ken"),
    ],
)
def test_names_have_one_spelling(written: str, stored: str) -> None:
    assert normalize_name(written) == stored


@pytest.mark.parametrize(
    "name", ["", "\u200bAda", "Ad\u0430", "\u0391da", "SYSTEM", "Schedule x", "x" * 101]
)
def test_names_that_hide_something_are_refused(name: str) -> None:
    with pytest.raises(ProblemError):
        normalize_name(name)


@pytest.mark.parametrize(
    "email",
    [
        "ada",
        "@example.org",
        "ada@",
        "a@b@example.org",
        "ada @example.org",
        "ada@example.org\u200b",
        "ad\u0430@example.org",
        "ada@example.org,eve@example.org",
        '"a"@example.org',
        "x" * 250 + "@x.org",
    ],
)
def test_addresses_that_are_none_are_refused(email: str) -> None:
    with pytest.raises(ProblemError):
        normalize_email(email)


@pytest.mark.usefixtures("database")
def test_names_and_addresses_that_differ_in_case_or_form_are_taken() -> None:
    make_account("ada")
    for name, email in (
        ("ADA", "x@example.org"),
        ("\uff41da", "x@example.org"),
        ("bob", "ADA@Example.org"),
        ("bob", "ada@\uff45xample.org"),
    ):
        with pytest.raises(ProblemError, match="exists"), session_scope() as session:
            service.create_account(session, name, email=email)
    with session_scope() as session:
        dotless = service.create_account(session, "mike", email="m\u0131ke@example.org")
        dotted = service.create_account(session, "mike 2", email="mike@example.org")
    assert dotless.id != dotted.id, "an i without a dot is another address"
