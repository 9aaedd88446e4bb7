"""Tests what applies to every request: problems, limits, headers, pages, readiness, metrics, logs."""

from __future__ import annotations

import gzip
import io
import json
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import structlog
from fastapi import FastAPI
from fastapi.testclient import TestClient
from paceline_server.api import create_app
from paceline_server.kernel import logging
from paceline_server.kernel.ids import new_id
from paceline_server.kernel.settings import Settings, SettingsError, load_settings
from paceline_server.store.session import Database

pytestmark = pytest.mark.shapes("embedded")

API = "/api/v1"
Headers = dict[str, str]


def is_problem(answer: object, status: int, code: str) -> None:
    assert answer.status_code == status, answer.text  # type: ignore[attr-defined]
    assert answer.headers["content-type"] == "application/problem+json"  # type: ignore[attr-defined]
    body = answer.json()  # type: ignore[attr-defined]
    assert (body["status"], body["code"]) == (status, code)
    assert body["title"]
    assert body["detail"]


@pytest.mark.shapes("embedded", "scaled")
def test_every_kind_of_refusal_is_a_problem(
    client: TestClient, token: Callable[..., Headers]
) -> None:
    admin = token("admin")
    is_problem(client.get(f"{API}/nothing"), 404, "not_found")
    is_problem(client.patch(f"{API}/tokens", headers=admin), 405, "method_not_allowed")
    is_problem(client.get(f"{API}/targets/tgt_none", headers=admin), 404, "not_found")
    is_problem(client.get(f"{API}/targets"), 401, "unauthenticated")
    is_problem(
        client.get(f"{API}/targets", params={"limit": 0}, headers=admin),
        422,
        "invalid_request",
    )
    is_problem(
        client.get(f"{API}/targets", params={"limit": 201}, headers=admin),
        422,
        "invalid_request",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"name": 1}',
        b'{"name":"a","permissions":[]}',
        b'{"name":"a","permissions":["project.read"],"extra":1}',
        b'{"name":"a\\u0000","permissions":["project.read"]}',
        b'{"name":"\\ud800","permissions":["project.read"]}',
        b'{"name":"a","permissions":["project.read"],"expires_in_days":NaN}',
        b'{"name":"a","permissions":["project.read"],"expires_in_days":9223372036854775808}',
        b"[" * 100_000,
        b'{"name":"a","permissions":' + b'["project.read",' * 5000,
        b'{"a":' * 20_000,
    ],
)
def test_garbage_is_a_4xx_problem(
    client: TestClient, token: Callable[..., Headers], body: bytes
) -> None:
    answer = client.post(
        f"{API}/tokens",
        content=body,
        headers={**token("admin"), "Content-Type": "application/json"},
    )
    assert 400 <= answer.status_code < 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"]


def test_a_body_over_the_limit_is_refused_declared_or_not(
    settings: Settings, database: Database, token: Callable[..., Headers]
) -> None:
    app = create_app(settings.model_copy(update={"max_body_bytes": 4096}))
    headers = {**token("admin"), "Content-Type": "application/json"}
    with TestClient(app, base_url="http://127.0.0.1") as client:
        is_problem(
            client.post(f"{API}/tokens", content=b" " * 4097, headers=headers),
            413,
            "body_too_large",
        )

        def parts() -> Iterator[bytes]:
            for _ in range(5):
                yield b" " * 1024

        is_problem(
            client.post(f"{API}/tokens", content=parts(), headers=headers),
            413,
            "body_too_large",
        )


def test_compressed_bodies_are_refused_where_routes_do_not_accept_them(
    client: TestClient, token: Callable[..., Headers]
) -> None:
    headers = {
        **token("admin"),
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
    }
    bomb = gzip.compress(b" " * 1_000_000)
    answer = client.post(f"{API}/tokens", content=bomb, headers=headers)
    assert 400 <= answer.status_code < 500


def test_every_answer_carries_security_headers_and_a_request_id(
    client: TestClient,
) -> None:
    answer = client.get("/healthz")
    assert answer.json() == {"status": "ok"}
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "script-src 'self';" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["x-request-id"].startswith("req_")
    assert (
        client.get("/healthz", headers={"X-Request-Id": "abc-1"}).headers[
            "x-request-id"
        ]
        == "abc-1"
    )
    assert (
        client.get("/healthz", headers={"X-Request-Id": "a b\n"[:3]}).headers[
            "x-request-id"
        ]
        != "a b"
    )


@pytest.mark.shapes("embedded", "scaled")
def test_readiness_names_what_is_not_ready(app: FastAPI, client: TestClient) -> None:
    assert client.get("/readyz").json()["status"] == "ready"
    app.state.checks["broker"] = lambda: False
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {
        "database": "ok",
        "writes": "ok",
        "broker": "failing",
    }


@pytest.mark.shapes("embedded", "scaled")
def test_an_unmigrated_database_is_not_ready(
    client: TestClient, database: Database
) -> None:
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0000'")
    assert client.get("/readyz").json()["checks"]["database"] == "failing"


def test_metrics_count_requests_by_route_not_by_address(client: TestClient) -> None:
    client.get(f"{API}/targets/tgt_secret")
    text = client.get("/metrics").text
    assert 'route="/api/v1/targets/{target_id}"' in text
    assert "tgt_secret" not in text
    assert "paceline_outbox_pending 0.0" in text


# --- pages


@pytest.fixture
def paged(
    settings: Settings, database: Database, tmp_path: Path
) -> Iterator[TestClient]:
    root = tmp_path / "dist"
    (root / "assets").mkdir(parents=True)
    (root / "index.html").write_text("<title>Paceline</title>")
    (root / "assets" / "app-1a2b.js").write_text("1")
    (tmp_path / "secret.txt").write_text("TOP")
    app = create_app(settings.model_copy(update={"frontend_dir": root}))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def test_an_address_of_the_app_is_answered_with_the_page_uncached(
    paged: TestClient,
) -> None:
    for path in ("/", "/runs/run_1", "/sign-in"):
        answer = paged.get(path)
        assert "Paceline" in answer.text
        assert answer.headers["cache-control"] == "no-cache"


def test_hashed_files_are_kept_for_ever(paged: TestClient) -> None:
    answer = paged.get("/assets/app-1a2b.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/%00"],
)
def test_no_file_outside_the_build_is_reachable(paged: TestClient, path: str) -> None:
    assert "TOP" not in paged.get(path).text


@pytest.mark.parametrize(
    "path",
    [
        "a" * 256,
        "assets/" + "b" * 256 + ".js",
        "%C3%A9" * 128,
        "a/" * 600,
        "a" * 15_000,
        "%FF" * 300,
        "a/" * 5000 + "x",
    ],
)
def test_an_address_longer_than_names_of_files_can_be_is_not_found(
    paged: TestClient, path: str
) -> None:
    is_problem(paged.get(f"/{path}"), 404, "not_found")
    assert paged.get("/" + "a" * 255).status_code == 200


def test_a_missing_file_or_endpoint_is_no_page(paged: TestClient) -> None:
    is_problem(paged.get("/assets/gone-1.js"), 404, "not_found")
    is_problem(paged.get("/api/v2/runs"), 404, "not_found")


def test_without_a_build_the_page_says_how_to_make_one(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    app = create_app(settings.model_copy(update={"frontend_dir": tmp_path}))
    with TestClient(app) as client:
        assert "make run" in client.get("/").text


# --- settings, ids, logs


def test_several_processes_without_redis_are_refused_with_advice() -> None:
    with pytest.raises(SettingsError, match="PACELINE_REDIS_URL"):
        load_settings({}, processes=2)


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(SettingsError, match="PACELINE_PORT"):
        load_settings({"PACELINE_PORT": "http"})


@pytest.mark.parametrize("around", ["{}\n", "\r\n{}", " {}\t"])
def test_white_space_around_a_setting_is_left_out(around: str) -> None:
    """A secret from a file ends with a line break, which no address and no password has."""
    texts = {
        "database_url": "postgresql://p@db/p",
        "redis_url": "redis://r",
        "public_url": "https://p.example",
        "webhook_url": "https://hook.example/x",
        "smtp_password": "two words",
    }
    environ = {f"PACELINE_{name.upper()}": around.format(texts[name]) for name in texts}
    for settings in (
        load_settings(environ),
        load_settings(
            {}, **{name: around.format(text) for name, text in texts.items()}
        ),
    ):
        assert settings.model_dump(include=set(texts)) == texts
    assert load_settings({"PACELINE_WEBHOOK_URL": " \n"}).webhook_url is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SMTP_PASSWORD", "s3cr\N{LATIN SMALL LETTER E WITH ACUTE}t"),
        ("SMTP_USER", "s3cr\nt"),
        ("WEBHOOK_URL", "https://hook.example/s3cr et"),
        ("WEBHOOK_URL", "https://hook.example:s3cret/"),
        ("WEBHOOK_URL", "https://[s3cret/"),
        ("WEBHOOK_URL", "s3cret"),
        ("PUBLIC_URL", "https:///s3cret"),
        ("DATABASE_URL", "postgresql://p:s3cr\x00@db/p"),
        ("REDIS_URL", "redis://:s3cr\x1bt@r"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_and_not_printed(
    name: str, value: str
) -> None:
    with pytest.raises(SettingsError, match=f"PACELINE_{name} ") as refused:
        load_settings({f"PACELINE_{name}": value})
    assert "s3cr" not in str(refused.value)
    assert "\N{LATIN SMALL LETTER E WITH ACUTE}" not in str(refused.value)


def test_ids_sort_in_the_order_they_were_made() -> None:
    made = [new_id("job") for _ in range(5000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "://",
        "://a:",
        "x://a:b",
        "://:",
        "pla_",
        "pla_" + "x" * 19 + " ",
        "é",
        "a://b:c d",
        "_",
    ],
)
def test_masking_secrets_takes_time_in_proportion_to_the_text(text: str) -> None:
    """The long text is 64 times the short one. A linear pattern takes 64 times as long for it, a pattern that
    begins anew at every character 4,096 times. The limit of 512 leaves a margin of 8 on either side. CPU time of
    this thread counts, the least of several tries, and the short text is masked so often that its time is far
    above the clock's resolution. (Both lengths are below the one at which text is cut.)"""

    def least_cpu_time(length: int, loops: int) -> float:
        sent = (text * length)[:length]

        def cpu_time_of_one_call() -> float:
            began = time.thread_time()
            for _ in range(loops):
                logging.redact_text(sent)
            return (time.thread_time() - began) / loops

        return min(cpu_time_of_one_call() for _ in range(5))

    assert least_cpu_time(16_000, loops=8) < 512 * least_cpu_time(250, loops=512)


def test_long_values_in_log_lines_are_cut() -> None:
    assert logging.redact_text("a" * 16_384) == "a" * 16_384
    assert (
        logging.redact_text("a" * 1_000_000) == "a" * 16_384 + "… (1000000 characters)"
    )
    assert logging.redact_text(
        "see postgresql://me:hunter2@db/x, https://u:p:q@h and a://b"
    ) == ("see postgresql://me:…@db/x, https://u:…@h and a://b")


@pytest.mark.parametrize("json_lines", [True, False])
def test_logs_hold_no_secret(json_lines: bool) -> None:
    secret = "plt_abcd1234_" + "x" * 43
    output = io.StringIO()
    with redirect_stderr(output):
        logging.configure(json=json_lines)
        log = structlog.get_logger("test")
        log.info(
            "a",
            authorization=f"Bearer {secret}",
            url=f"/sign-in#token={secret}",
            lease_token="abc123",
        )
        log.info("b", url="postgresql+psycopg://me:hunter2@db/x", code="item_conflict")
        log.info(
            "d",
            sent={
                "headers": [{"Cookie": "abc123"}, ("x", secret)],
                "to": {"x://me:hunter2@db"},
            },
        )
        try:
            raise RuntimeError(f"bad {secret}")
        except RuntimeError:
            log.exception("c")
    logging.configure(json=True)
    assert secret not in output.getvalue()
    assert "hunter2" not in output.getvalue()
    assert "abc123" not in output.getvalue()
    if json_lines:
        assert [
            json.loads(line)["event"] for line in output.getvalue().splitlines()
        ] == [
            "a",
            "b",
            "d",
            "c",
        ]
    assert "item_conflict" in output.getvalue()
