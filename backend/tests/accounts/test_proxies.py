"""Sign-ins are throttled per client address, also behind a proxy; only a trusted proxy may name the client.

The clock stands still where a pause is expected: it lasts a second, which a busy machine needs for one sign-in.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.accounts import passwords, service
from paceline_server.kernel.settings import Settings, SettingsError, load_settings
from paceline_server.store.session import session_scope
from paceline_server.testing.running_server import running

EMAIL, PASSWORD = "ada@example.org", "correct horse battery"
embedded = pytest.mark.shapes("embedded")


@contextmanager
def served(settings: Settings, trusted: str) -> Iterator[httpx.Client]:
    with (
        running(settings.model_copy(update={"trusted_proxies": trusted})) as server,
        httpx.Client(base_url=server.url, timeout=WITHIN_S) as client,
    ):
        with session_scope() as session:
            service.create_account(
                session,
                "ada",
                email=EMAIL,
                password_hash=passwords.hash_password(PASSWORD),
            )
        yield client


def sign_in(client: httpx.Client, password: str, said: str) -> int:
    body = {"email": EMAIL, "password": password}
    headers = {"X-Forwarded-For": said}
    return client.post("/api/v1/session", json=body, headers=headers).status_code


@embedded
@pytest.mark.usefixtures("clock")
def test_behind_a_trusted_proxy_guesses_elsewhere_lock_nobody_out(
    settings: Settings,
) -> None:
    with served(settings, "10.9.0.0/16, 127.0.0.1") as client:
        assert [sign_in(client, "wrong guess", "203.0.113.9") for _ in range(5)] == [
            401
        ] * 5
        assert sign_in(client, PASSWORD, "203.0.113.9") == 429
        assert sign_in(client, PASSWORD, "203.0.113.10") == 200


@embedded
@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("trusted", ["", "10.9.0.0/16"])
def test_a_client_cannot_pretend_to_be_many(settings: Settings, trusted: str) -> None:
    with served(settings, trusted) as client:
        guesses = [
            sign_in(client, "wrong guess", f"203.0.113.{number}") for number in range(5)
        ]
        assert guesses == [401] * 5
        assert sign_in(client, PASSWORD, "203.0.113.99") == 429


@pytest.mark.parametrize("value", ["*", "proxy.example.org", "10.0.0.1/8"])
def test_a_proxy_that_is_no_address_is_refused_at_start(value: str) -> None:
    with pytest.raises(SettingsError, match=r"PACELINE_TRUSTED_PROXIES.*e\.g\."):
        load_settings({"PACELINE_TRUSTED_PROXIES": value})
    assert load_settings({"PACELINE_TRUSTED_PROXIES": "10.0.0.0/8, ::1"}).proxies == [
        "10.0.0.0/8",
        "::1",
    ]
