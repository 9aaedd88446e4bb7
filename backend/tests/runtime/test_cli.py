"""The command line against both shapes: migrate, accounts, links, codes, several API processes, a worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from paceline_server.kernel.settings import Settings
from paceline_server.runtime import data_lock
from paceline_server.store import outbox
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.messages import OutboxMessage
from paceline_server.testing.servers import free_port

COMMAND = Path(sys.executable).with_name("paceline-server")
WITHIN_S = 150.0


@pytest.fixture
def environment(settings: Settings) -> dict[str, str]:
    clean = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("PACELINE_")
    }
    clean["PACELINE_DATABASE_URL"] = settings.database_url
    clean["PACELINE_DATA_DIR"] = str(settings.data_dir)
    if settings.redis_url:
        clean["PACELINE_REDIS_URL"] = settings.redis_url
    return clean


@pytest.fixture
def run(environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    def command(*arguments: str, say: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(COMMAND), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
            check=False,
            input=say,
        )

    return command


@contextmanager
def running(
    environment: dict[str, str], says: str, *arguments: str
) -> Iterator[subprocess.Popen[str]]:
    """A command that serves, entered once its log says `says`."""
    process = subprocess.Popen(
        [str(COMMAND), *arguments],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    ready = threading.Event()
    said: list[str] = []

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            said.append(line)
            if says in line:
                ready.set()
        ready.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert ready.wait(WITHIN_S)
        assert process.poll() is None, "".join(said)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(WITHIN_S)
        reader.join(10)
        if process.stderr is not None:
            process.stderr.close()
    assert code in (0, -signal.SIGTERM), "".join(said)


Run = Callable[..., subprocess.CompletedProcess[str]]


def test_accounts_links_and_codes_come_from_the_command_line(
    run: Run, client: object, settings: Settings
) -> None:
    assert "already current" in run("migrate").stdout
    created = run(
        "account",
        "create",
        "ada",
        "--email",
        "ada@example.org",
        "--password-stdin",
        say="long enough pw\n",
    )
    assert created.stdout.startswith("acc_"), created.stderr
    again = run("account", "create", "ada")
    assert again.returncode == 1
    assert "exists already" in again.stderr
    assert "Traceback" not in again.stderr
    short = run(
        "account",
        "create",
        "bob",
        "--email",
        "b@example.org",
        "--password-stdin",
        say="short\n",
    )
    assert "at least 12" in short.stderr
    with data_lock.held(settings.data_dir):  # as a server of this directory does
        link = run("sign-in-link").stdout.strip()
    token = link.split("#token=")[1]
    answer = client.post("/api/v1/session/link", json={"token": token})  # type: ignore[attr-defined]
    assert answer.json()["account"]["name"] == "ada"
    assert answer.json()["scopes"] == ["read", "alerts:write", "ingest"]
    assert run("enrolment-code").stdout.startswith("ple_")


@pytest.mark.shapes("embedded")
def test_judge_used_wrongly_exits_1_because_2_is_a_failed_gate(run: Run) -> None:
    assert run("judge").returncode == 1


@pytest.mark.shapes("embedded")
def test_recompute_says_what_differs_and_takes_a_series_or_a_suite(
    run: Run, client: object
) -> None:
    done = run("recompute")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "changes: none differs"
    refused = run("recompute", "--series", "ser_x", "--suite", "sorting")
    assert (refused.returncode, "not both" in refused.stderr) == (1, True)
    unknown = run("recompute", "--series", "ser_x")
    assert (unknown.returncode, "no series 'ser_x'" in unknown.stderr) == (1, True)


@pytest.mark.shapes("embedded")
def test_an_unmigrated_database_and_missing_redis_are_refused_with_advice(
    run: Run, tmp_path: Path
) -> None:
    empty = run("enrolment-code", "--data", str(tmp_path / "x")).stderr
    assert empty == "" or "migrate" in empty
    several = run("api", "--processes", "2")
    assert several.returncode == 1
    assert "PACELINE_REDIS_URL" in several.stderr
    assert "PACELINE_REDIS_URL" in run("worker").stderr


@pytest.mark.shapes("scaled")
def test_several_api_processes_and_a_worker_share_the_work(
    environment: dict[str, str],
    run: Run,
    database: Database,
    token: Callable[..., dict[str, str]],
) -> None:
    """Two API processes on one port, a worker beside them; a stream hears of what any of them did."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with (
        running(environment, "worker_started", "worker"),
        running(
            environment, "listening", "api", "--processes", "2", "--port", str(port)
        ),
    ):
        headers = token("admin")
        transport = httpx.HTTPTransport(retries=8)
        with httpx.Client(
            transport=transport, base_url=address, headers=headers, timeout=WITHIN_S
        ) as client:
            assert client.get("/readyz").json()["checks"] == {
                "database": "ok",
                "writes": "ok",
                "broker": "ok",
            }
            with client.stream("GET", "/api/v1/stream") as stream:
                lines = stream.iter_lines()
                assert any(line == "event: ready" for line in lines)
                agent = _enrolled(client)
                beat = {"version": "1", "targets": [_target()]}
                assert httpx.post(
                    f"{address}/api/v1/agents/self/heartbeat", json=beat, headers=agent
                ).is_success
                assert any(line == "event: target" for line in lines)
        with session_scope() as session:
            message_id = outbox.add(session, "job.analyse", "job_none:0").id
        _wait_for_attempt(message_id)


@pytest.mark.shapes("scaled")
def test_no_api_process_outlives_the_one_that_was_killed(
    environment: dict[str, str], database: Database
) -> None:
    """They share its standard error: that ends when the last of them has. Then nobody holds the port."""
    port = free_port()
    arguments = ["api", "--processes", "2", "--port", str(port)]
    process = subprocess.Popen(
        [str(COMMAND), *arguments],
        env=environment,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stderr is not None
    ended = threading.Thread(target=process.stderr.read, daemon=True)
    ended.start()
    try:
        with httpx.Client(
            transport=httpx.HTTPTransport(retries=8), timeout=WITHIN_S
        ) as client:
            assert client.get(f"http://127.0.0.1:{port}/readyz").is_success
        process.kill()
        process.wait(WITHIN_S)
        ended.join(WITHIN_S)
        assert not ended.is_alive()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    process.stderr.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/readyz")


def _wait_for_attempt(message_id: int) -> None:
    """Until a worker in another process has taken the message up (it fails: there is no such job)."""
    waiting = threading.Event()
    for _ in range(int(WITHIN_S / 0.1)):
        with read_scope() as session:
            message = session.get(OutboxMessage, message_id)
            assert message is not None
            if message.attempts or message.done_at:
                return
        waiting.wait(0.1)
    raise AssertionError("no worker took the message up")


def _enrolled(client: httpx.Client) -> dict[str, str]:
    code = client.post("/api/v1/agents/enrolment-codes").json()["code"]
    body = {"code": code, "name": "lab", "version": "1"}
    credential = client.post("/api/v1/agents/enrol", json=body).json()
    return {"Authorization": f"Bearer {credential['credential']}"}


def _target() -> dict[str, object]:
    return {
        "kind": "host",
        "serial": "s",
        "name": "lab",
        "factors": {},
        "fingerprint": "0" * 64,
    }
