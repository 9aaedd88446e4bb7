"""Signing in and out, over HTTP: links, passwords, cookies, other sites."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.accounts import credentials, passwords, service, throttling
from paceline_server.accounts.auth import admit
from paceline_server.accounts.permissions import OF_INSTALLATION_ADMIN
from paceline_server.kernel.clock import FrozenClock
from paceline_server.kernel.errors import ProblemError
from paceline_server.kernel.settings import Settings
from paceline_server.runtime.sweeper import prune
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.accounts import (
    Account,
    BrowserSession,
    SignInLink,
    SignInThrottle,
)
from sqlalchemy import select

API = "/api/v1"
PASSWORD = "correct horse battery"


def make_link(minutes: float = 30) -> str:
    with session_scope() as session:
        account = service.create_account(
            session,
            "ada",
            email="Ada@example.org",
            password_hash=passwords.hash_password(PASSWORD),
            is_installation_admin=True,
        )
        return credentials.create_link(session, account, minutes)


def sign_in(
    client: TestClient, password: str = PASSWORD, email: str = "ada@example.org"
) -> tuple[int, str]:
    answer = client.post(f"{API}/session", json={"email": email, "password": password})
    return answer.status_code, answer.json().get("code", "")


def test_a_link_signs_in_once(client: TestClient) -> None:
    link = make_link()
    first = client.post(f"{API}/session/link", json={"token": link})
    assert first.status_code == 200, first.text
    assert first.json()["account"]["name"] == "ada"
    assert set(first.json()["permissions"]) == OF_INSTALLATION_ADMIN
    assert client.get(f"{API}/session").json()["account"]["name"] == "ada"
    again = client.post(f"{API}/session/link", json={"token": link})
    assert (again.status_code, again.json()["code"]) == (401, "link_invalid")


def test_of_racing_sign_ins_with_one_link_one_wins(
    client: TestClient, together: Callable[..., list[object]]
) -> None:
    link = make_link()
    answers = together(
        *[lambda: client.post(f"{API}/session/link", json={"token": link}).status_code]
        * 8
    )
    assert sorted(answers, key=str) == [200] + [401] * 7


def test_an_old_link_is_refused(client: TestClient, clock: FrozenClock) -> None:
    link = make_link(minutes=5)
    clock.advance(301)
    answer = client.post(f"{API}/session/link", json={"token": link})
    assert (answer.status_code, answer.json()["code"]) == (401, "link_invalid")


def test_an_old_session_is_over_however_much_it_is_used(
    client: TestClient, clock: FrozenClock
) -> None:
    client.post(f"{API}/session/link", json={"token": make_link()})
    cookie = {"Cookie": f"paceline={client.cookies['paceline']}"}
    for _ in range(13):
        clock.advance(86400)
        used = client.get(f"{API}/account/sessions", headers=cookie)
        assert used.status_code == 200
    clock.advance(86399)
    assert client.get(f"{API}/session", headers=cookie).status_code == 200
    clock.advance(1)
    assert client.get(f"{API}/session", headers=cookie).status_code == 401


def test_no_secret_is_stored(client: TestClient) -> None:
    link = make_link()
    client.post(f"{API}/session/link", json={"token": link})
    cookie = client.cookies["paceline"]
    with read_scope() as session:
        assert session.scalars(select(SignInLink.token_sha256)).all() == [
            hashlib.sha256(link.encode()).hexdigest()
        ]
        assert session.scalars(select(BrowserSession.token_sha256)).all() == [
            hashlib.sha256(cookie.encode()).hexdigest()
        ]
        password_hash = session.scalars(select(Account.password_hash)).one()
    assert password_hash is not None
    assert password_hash.startswith("$argon2id$")


def test_a_password_signs_in_whatever_the_case_of_the_address(
    client: TestClient,
) -> None:
    make_link()
    assert sign_in(client, email="ADA@Example.org")[0] == 200


@pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
def test_a_wrong_password_and_an_unknown_address_get_one_answer(
    client: TestClient, email: str
) -> None:
    make_link()
    assert sign_in(client, password="wrong", email=email) == (401, "unauthenticated")


def test_an_account_without_a_password_has_none(client: TestClient) -> None:
    with session_scope() as session:
        service.create_account(session, "eve", email="eve@example.org")
    for guess in (
        "x",
        "password",
        "a password nobody has: compared against so that unknown addresses take as long",
    ):
        assert sign_in(client, password=guess, email="eve@example.org")[0] == 401


def test_failing_again_and_again_must_wait_and_success_forgets(
    client: TestClient, clock: FrozenClock
) -> None:
    make_link()
    for _ in range(5):
        assert sign_in(client, "wrong") == (401, "unauthenticated")
    answer = client.post(
        f"{API}/session", json={"email": "ada@example.org", "password": PASSWORD}
    )
    assert (answer.status_code, answer.json()["code"]) == (429, "throttled")
    assert int(answer.headers["retry-after"]) >= 1
    clock.advance(2)
    assert sign_in(client)[0] == 200
    assert sign_in(client, "wrong") == (401, "unauthenticated")
    assert sign_in(client)[0] == 200


def test_failures_at_one_instant_are_all_counted(
    database: Database, together: Callable[..., list[object]]
) -> None:
    keys = throttling.sign_in_keys("ada@example.org", "203.0.113.9")

    def reserve(place: str) -> None:
        with session_scope() as session:
            service.reserve_attempt(
                session, keys | {"address_from_place": f"both:ada:{place}"}, "ada@x.org"
            )

    together(*[lambda place=str(number): reserve(place) for number in range(12)])
    with read_scope() as session:
        failures = {
            row.key: row.failures for row in session.scalars(select(SignInThrottle))
        }
    assert (failures.pop(keys["address"]), failures.pop(keys["place"])) == (12, 12)
    assert list(failures.values()) == [1] * 12


def test_of_guesses_at_one_instant_no_more_are_compared_than_one_after_the_other(
    client: TestClient, clock: FrozenClock, together: Callable[..., list[object]]
) -> None:
    make_link()
    answers = together(*[lambda: sign_in(client, "wrong")[0]] * 12)
    assert sorted(answers, key=str) == [401] * 5 + [429] * 7
    assert sign_in(client)[0] == 429
    clock.advance(2)
    assert sign_in(client)[0] == 200


def test_success_is_not_counted_against_the_place_it_came_from(
    client: TestClient,
) -> None:
    make_link()
    sign_in(client, "wrong", email="eve@example.org")
    for _ in range(3):
        assert sign_in(client)[0] == 200
    with read_scope() as session:
        place = select(SignInThrottle.failures).where(
            SignInThrottle.key.startswith("place:")
        )
        assert session.scalars(place).one() == 1


@pytest.mark.shapes("embedded")
def test_sign_ins_wait_in_a_queue_of_their_own_that_has_an_end(
    client: TestClient,
    monkeypatch: pytest.MonkeyPatch,
    together: Callable[..., list[object]],
) -> None:
    """While one comparison is slow and the queue behind it full, others are told to come back, and requests
    that need a thread and the database are answered."""
    going_on, begun = threading.Event(), threading.Event()

    def slow(*_: object) -> bool:
        begun.set()
        return not going_on.wait(WITHIN_S)

    monkeypatch.setattr(passwords, "matches", slow)
    total = passwords.MAX_CONCURRENT + passwords.MAX_WAITING + 60
    answers: list[object] = []
    emails = iter([f"{number}@example.org" for number in range(total)])
    asking = threading.Thread(
        target=lambda: answers.extend(
            together(*[lambda: sign_in(client, "x", email=next(emails))] * total)
        )
    )
    asking.start()
    assert begun.wait(WITHIN_S)
    assert client.get(f"{API}/session").status_code == 401
    assert client.get("/readyz").status_code == 200
    going_on.set()
    asking.join(WITHIN_S)
    assert set(answers) <= {(401, "unauthenticated"), (503, "busy"), (429, "throttled")}
    assert answers.count((401, "unauthenticated")) >= 1


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "origin", ["http://[", "http://[::1", "[", "http://x:y", "//[", "\x7f"]
)
def test_an_origin_that_is_none_is_another_site(
    client: TestClient, origin: str
) -> None:
    signing_in = {
        "/session": {"email": "a@b.c", "password": "x"},
        "/session/link": {"token": "x"},
    }
    for path, body in signing_in.items():
        answer = client.post(f"{API}{path}", json=body, headers={"Origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (403, "csrf_refused")


def test_failures_long_ago_count_no_more_and_are_removed(
    client: TestClient, clock: FrozenClock
) -> None:
    make_link()
    sign_in(client, "wrong")
    clock.advance(3601)
    sign_in(client, "wrong", email="eve@example.org")
    with read_scope() as session:
        assert sorted(session.scalars(select(SignInThrottle.failures))) == [1] * 5
    prune()
    with read_scope() as session:
        assert len(session.scalars(select(SignInThrottle.key)).all()) == 3


def test_throttling_stores_no_typed_in_address(client: TestClient) -> None:
    sign_in(client, "wrong", email="typo-of-a-password@example.org")
    with read_scope() as session:
        assert not any(
            "typo" in key for key in session.scalars(select(SignInThrottle.key))
        )


def test_signing_out_ends_the_session_at_once(client: TestClient) -> None:
    client.post(f"{API}/session/link", json={"token": make_link()})
    cookie = client.cookies["paceline"]
    assert (
        client.delete(
            f"{API}/session", headers={"Sec-Fetch-Site": "same-origin"}
        ).status_code
        == 204
    )
    assert (
        client.get(
            f"{API}/session", headers={"Cookie": f"paceline={cookie}"}
        ).status_code
        == 401
    )


# --- one's own sessions


def open_browser(app: FastAPI, agent: str = "") -> TestClient:
    """A browser of its own that has signed in by password."""
    opened = TestClient(
        app,
        base_url="http://127.0.0.1:8321",
        client=("127.0.0.1", 50000),
        headers={"User-Agent": agent, "Sec-Fetch-Site": "same-origin"},
    )
    assert sign_in(opened)[0] == 200
    return opened


def listed(opened: TestClient) -> list[dict[str, object]]:
    items: list[dict[str, object]] = opened.get(f"{API}/account/sessions").json()[
        "items"
    ]
    return items


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = (
    "Mozilla/5.0 (Linux; Android 16; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Mobile Safari/537.36"
)


def test_sessions_are_listed_by_device_and_ended_one_by_one_or_all_but_ones_own(
    app: FastAPI, client: TestClient
) -> None:
    make_link()
    desk, phone, third = (
        open_browser(app, FIREFOX),
        open_browser(app, PHONE),
        open_browser(app),
    )
    mine = listed(desk)
    assert [(one["device"], one["is_current"]) for one in mine] == [
        ("", False),
        ("Chrome on Android", False),
        ("Firefox on Linux", True),
    ]
    assert {(one["method"], one["place"]) for one in mine} == {
        ("password", "127.0.0.1")
    }
    assert desk.delete(f"{API}/account/sessions/{mine[1]['id']}").status_code == 204
    assert phone.get(f"{API}/session").status_code == 401
    assert third.get(f"{API}/session").status_code == 200
    assert desk.delete(f"{API}/account/sessions").status_code == 204
    assert third.get(f"{API}/session").status_code == 401
    assert [one["is_current"] for one in listed(desk)] == [True]


def test_an_idle_session_is_over_and_its_use_keeps_it(
    app: FastAPI, client: TestClient, clock: FrozenClock
) -> None:
    make_link()
    used, idle = open_browser(app), open_browser(app)
    clock.advance(71 * 3600)
    assert len(listed(used)) == 2
    clock.advance(3600)
    assert idle.get(f"{API}/session").status_code == 401
    assert [one["is_current"] for one in listed(used)] == [True]
    prune()
    with read_scope() as session:
        assert len(session.scalars(select(BrowserSession.id)).all()) == 1


def test_an_open_stream_does_not_keep_a_session_from_becoming_idle(
    app: FastAPI, client: TestClient, clock: FrozenClock
) -> None:
    make_link()
    opened = open_browser(app)
    request = Request(
        {
            "type": "http",
            "method": "GET",
            "scheme": "http",
            "server": ("127.0.0.1", 8321),
            "path": "/",
            "query_string": b"",
            "headers": [
                (b"host", b"127.0.0.1:8321"),
                (b"cookie", f"paceline={opened.cookies['paceline']}".encode()),
            ],
            "app": app,
        }
    )
    for _ in range(3):
        clock.advance(23 * 3600)
        admit(request, "project.read", is_use=False)
    clock.advance(3 * 3600)
    with pytest.raises(ProblemError, match="has ended"):
        admit(request, "project.read", is_use=False)


def test_a_planted_cookie_is_worth_nothing_after_signing_in(
    app: FastAPI, client: TestClient
) -> None:
    """Session fixation: the attacker's own session is in the victim's browser when the victim signs in."""
    make_link()
    attacker = open_browser(app)
    planted = attacker.cookies["paceline"]
    victim = TestClient(app, base_url="http://127.0.0.1:8321")
    victim.cookies.set("paceline", planted)
    assert sign_in(victim)[0] == 200
    assert victim.cookies.get("paceline", domain="127.0.0.1") != planted
    assert attacker.get(f"{API}/session").status_code == 401


# --- cookies


def cookie_of(answer_headers: str) -> tuple[str, set[str]]:
    name = answer_headers.split("=", 1)[0]
    return name, {part.strip().lower() for part in answer_headers.split(";")[1:]}


@pytest.mark.shapes("embedded")
def test_over_https_the_cookie_is_host_bound(app: FastAPI) -> None:
    with TestClient(app, base_url="https://paceline.example.org") as client:
        answer = client.post(f"{API}/session/link", json={"token": make_link()})
        name, flags = cookie_of(answer.headers["set-cookie"])
        assert name == "__Host-paceline"
        assert {"secure", "httponly", "samesite=lax", "path=/"} <= flags
        assert not any(flag.startswith("domain") for flag in flags)
        assert client.get(f"{API}/session").status_code == 200


@pytest.mark.shapes("embedded")
def test_over_plain_http_on_loopback_the_cookie_is_unprefixed_and_said_in_the_log(
    client: TestClient, capfd: pytest.CaptureFixture[str]
) -> None:
    from paceline_server.kernel import logging  # noqa: PLC0415 - the log goes to this test's stderr

    logging.configure(json=True)
    answer = client.post(f"{API}/session/link", json={"token": make_link()})
    name, flags = cookie_of(answer.headers["set-cookie"])
    assert name == "paceline"
    assert {"httponly", "samesite=lax"} <= flags
    assert "session_cookie_without_https" in capfd.readouterr().err


@pytest.mark.shapes("embedded")
def test_over_plain_http_elsewhere_nobody_signs_in(app: FastAPI) -> None:
    link = make_link()
    with TestClient(app, base_url="http://192.0.2.7:8321") as client:
        answer = client.post(f"{API}/session/link", json={"token": link})
        assert (answer.status_code, answer.json()["code"]) == (
            403,
            "insecure_transport",
        )
        assert "set-cookie" not in answer.headers
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert (
            client.post(f"{API}/session/link", json={"token": link}).status_code == 200
        )  # not used up


@pytest.mark.shapes("embedded")
def test_behind_a_proxy_that_ends_tls_the_public_url_makes_it_secure(
    settings: Settings, database: object
) -> None:
    from paceline_server.api import create_app  # noqa: PLC0415 - with other settings

    behind = create_app(
        settings.model_copy(update={"public_url": "https://perf.example.org"})
    )
    with TestClient(behind, base_url="http://perf.example.org") as client:
        answer = client.post(f"{API}/session/link", json={"token": make_link()})
        assert cookie_of(answer.headers["set-cookie"])[0] == "__Host-paceline"


# --- other sites


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Origin": "http://127.0.0.1:8321"}, 201),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:8321"}, 403),
    ],
)
def test_a_cookie_writes_only_from_our_own_pages(
    client: TestClient, headers: dict[str, str], status: int
) -> None:
    client.post(f"{API}/session/link", json={"token": make_link()})
    answer = client.post(
        f"{API}/tokens",
        json={"name": "t", "permissions": ["project.read"]},
        headers=headers,
    )
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "csrf_refused"


@pytest.mark.shapes("embedded")
def test_another_site_cannot_sign_a_browser_in(client: TestClient) -> None:
    link = make_link()
    answer = client.post(
        f"{API}/session/link",
        json={"token": link},
        headers={"Sec-Fetch-Site": "cross-site"},
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_refused")
