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
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S, wait_until
from paceline_server.kernel.settings import Settings
from paceline_server.runtime import data_lock
from paceline_server.store import outbox
from paceline_server.store.session import Database, read_scope, session_scope
from paceline_server.store.tables.audit import AuditEntry
from paceline_server.store.tables.messages import OutboxMessage
from paceline_server.testing import commands
from sqlalchemy import select

COMMAND = Path(sys.executable).with_name("paceline-server")


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
        return commands.run(*arguments, env=environment, given=say)

    return command


@contextmanager
def running(
    environment: dict[str, str], says: str, *arguments: str
) -> Iterator[subprocess.Popen[str]]:
    """A command that serves, entered once its log says `says`. It prints nothing beside its log."""
    process = ChildProcess[str](
        [str(COMMAND), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
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
        process.terminate()
        try:
            code = process.wait(WITHIN_S)
            printed = process.stdout.read()
            reader.join(WITHIN_S)  # it fails when its file is closed meanwhile
        finally:
            process.end()
    assert code in (0, -signal.SIGTERM), "".join(said)
    assert printed == ""


Run = Callable[..., subprocess.CompletedProcess[str]]


def test_accounts_links_and_codes_come_from_the_command_line(
    run: Run, client: object, settings: Settings
) -> None:
    assert "already current" in run("migrate").stdout
    with data_lock.hold_lock(settings.data_dir):  # as a server of this directory does
        assert (
            "Create one: paceline-server account create" in run("sign-in-link").stderr
        )
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
    with data_lock.hold_lock(settings.data_dir):  # as a server of this directory does
        link = run("sign-in-link").stdout.strip()
    token = link.split("#token=")[1]
    answer = client.post("/api/v1/session/link", json={"token": token})  # type: ignore[attr-defined]
    assert answer.json()["account"]["name"] == "ada"
    assert answer.json()["role"] == "maintainer"
    assert run("enrolment-code").stdout.startswith("ple_")


@pytest.mark.shapes("embedded")
def test_people_are_managed_on_the_shell_and_the_last_way_in_is_there(
    run: Run, client: TestClient, settings: Settings
) -> None:
    run("account", "create", "ada", "--email", "ada@example.org", "--admin")
    refused = run("account", "disable", "ada")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "last admin" in refused.stderr
    with data_lock.hold_lock(settings.data_dir):  # as a server of this directory does
        invited = run("account", "invite", "Grace@example.org", "--role", "triager")
    secret = invited.stdout.strip().partition("#token=")[2]
    body = {"token": secret, "email": "grace@example.org", "name": "Grace"}
    accepted = client.post(
        "/api/v1/session/invitation",
        json={**body, "password": "walnut ferry dusk piano"},
    )
    assert accepted.json()["role"] == "triager", accepted.text
    assert "\tinvitation\t" in run("account", "sessions", "grace").stdout
    assert run("account", "sign-out", "GRACE@example.org").stdout == "1 ended\n"
    assert client.get("/api/v1/session").status_code == 401
    weak = run("account", "set-password", "grace", say="paceline1234\n")
    assert "easily guessed" in weak.stderr
    assert (
        run("account", "set-password", "grace", say="vivid otter cello\n").stderr == ""
    )
    run("account", "disable", "grace")
    listed = run("account", "list").stdout.splitlines()
    assert listed == [
        "ada\tada@example.org\tadmin",
        "Grace\tgrace@example.org\tdisabled",
    ]
    with data_lock.hold_lock(settings.data_dir):
        link = run("account", "break-glass", "grace").stdout.strip()
    answer = client.post(
        "/api/v1/session/link", json={"token": link.partition("#token=")[2]}
    )
    assert "installation.admin" in answer.json()["permissions"], answer.text
    assert run("account", "admin", "ada", "--revoke").returncode == 0
    with read_scope() as session:
        actions = session.scalars(
            select(AuditEntry.action).where(AuditEntry.actor == "shell")
        ).all()
    assert {"create", "invite", "end_sessions", "set_password", "disable"} <= set(
        actions
    )
    assert {"break_glass", "demote"} <= set(actions)


@pytest.mark.shapes("embedded")
def test_exports_are_written_judged_and_restored_from_the_command_line(
    run: Run, database: Database, tmp_path: Path
) -> None:
    """What they hold is tested in tests/publish; this is about options, output and exit statuses."""
    directory = str(tmp_path / "export")
    written = run("export", directory, "--from", "2026-01-01", "--to", "2026-02-01")
    assert "0 runs with 0 samples" in written.stdout, written.stderr
    again = run("export", directory)
    assert (again.returncode, again.stdout) == (1, "")
    assert "exists already" in again.stderr
    judged = run("judge", directory)
    assert judged.returncode == 0
    assert "0 jobs judged again" in judged.stdout
    assert run("import-export", directory).stdout.strip() == "prj_default"
    (tmp_path / "export" / "run.parquet").write_bytes(b"")
    refused = run("import-export", directory)
    assert refused.returncode == 1
    assert "was changed after it was exported" in refused.stderr


def test_a_token_for_ci_comes_from_the_command_line_and_acts_in_its_project_only(
    run: Run, client: TestClient
) -> None:
    assert run("project", "create", "other").returncode == 0
    secret = run("token", "create", "ci", "--project", "other").stdout.strip()
    headers = {"Authorization": f"Bearer {secret}"}
    own = client.get("/api/v1/runs", params={"project": "other"}, headers=headers)
    assert (own.status_code, own.json()["items"]) == (200, [])
    foreign = client.get("/api/v1/runs", params={"project": "default"}, headers=headers)
    assert foreign.status_code == 404
    run_asked_for = client.post("/api/v1/runs", headers=headers, json={"suite": "none"})
    assert run_asked_for.json()["code"] == "unknown_suite"
    refused = client.post("/api/v1/projects", headers=headers, json={"name": "x"})
    assert refused.status_code == 403


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ci", "--permission", "everything"), "cannot hold everything"),
        (("ci", "--permission", "agent"), "cannot hold agent"),
        (("ci", "--permission", "installation.admin"), "page Tokens, with 'administer"),
        (("ci", "--project", "nowhere"), "nowhere"),
        (("",), "1 to 100 characters"),
    ],
)
def test_a_token_that_cannot_be_made_says_why(
    run: Run, client: TestClient, arguments: tuple[str, ...], words: str
) -> None:
    done = run("token", "create", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    "arguments",
    [("token", "create", "ci"), ("account", "list"), ("export", "out")],
    ids=" ".join,
)
def test_a_command_where_no_server_has_its_data_says_where_it_looked_and_leaves_nothing(
    environment: dict[str, str], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Outside the clone, `var` is another directory. Nothing may begin a second, empty server there."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    unset = {"PACELINE_DATABASE_URL", "PACELINE_DATA_DIR"}
    env = {key: value for key, value in environment.items() if key not in unset}
    done = commands.run(*arguments, env=env, cwd=elsewhere)
    assert (done.returncode, done.stdout) == (1, "")
    assert str(elsewhere / "var" / "paceline.sqlite") in done.stderr
    assert "--data" in done.stderr
    assert list(elsewhere.iterdir()) == []


@pytest.mark.shapes("embedded")
def test_agents_are_managed_on_the_command_line(
    run: Run, client: TestClient, enrolled: Callable[..., Any]
) -> None:
    lab, other = enrolled("lab-1"), enrolled("lab-2")
    said = {
        "kind": "host",
        "serial": "serial-lab-1",
        "name": "lab-1",
        "factors": {},
        "fingerprint": "0" * 64,
    }
    beat = {"version": "1", "targets": [said]}
    path = "/api/v1/agents/self/heartbeat"
    client.post(path, json=beat, headers=other.headers)
    claim, *shown = run("agent", "claims").stdout.strip().split("\t")
    assert shown == ["host:serial-lab-1", "lab-1", "lab-2"]
    assert run("agent", "move", claim).returncode == 0
    taken = client.post(path, json=beat, headers=other.headers).json()
    assert taken["refused_targets"] == []
    assert run("agent", "rotate", "lab-2").returncode == 0
    assert client.post(path, json=beat, headers=other.headers).json()[
        "rotate_credential"
    ]
    code = run("enrolment-code", "--replaces", "lab-2", "--target", "host:*")
    assert code.stdout.startswith("ple_"), code.stderr
    assert run("agent", "revoke", lab.agent_id).returncode == 0
    assert client.post(path, json=beat, headers=lab.headers).status_code == 401
    assert f"{lab.agent_id}\trevoked\tlab-1\tdefault\t**\t*" in (
        run("agent", "list").stdout
    )


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("enrolment-code", "--repository", "../../etc/passwd"), "is no location"),
        (("enrolment-code", "--target", "phone"), "names no targets"),
        (("enrolment-code", "--project", "nowhere"), "no project 'nowhere'"),
        (("enrolment-code", "--replaces", "nobody"), "no agent 'nobody'"),
        (("agent", "revoke", "nobody"), "no agent 'nobody'"),
        (("agent", "move", "clm_x"), "no claim 'clm_x'"),
    ],
)
def test_what_cannot_be_done_to_an_agent_is_said_in_a_sentence(
    run: Run, client: TestClient, arguments: tuple[str, ...], words: str
) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr


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


@pytest.mark.shapes("embedded")
def test_migrations_that_cannot_be_listed_are_a_sentence(
    environment: dict[str, str], run: Run, tmp_path: Path
) -> None:
    """As in an image made of a clone whose directories only their owner may read."""
    (tmp_path / "env.py").touch()
    environment["PACELINE_MIGRATIONS_DIR"] = str(tmp_path)
    refused = run("migrate")
    assert (refused.returncode, "Traceback" in refused.stderr) == (1, False)
    assert "readable for this user" in refused.stderr


@pytest.mark.shapes("scaled")
def test_several_api_processes_and_a_worker_share_the_work(
    environment: dict[str, str],
    run: Run,
    database: Database,
    token: Callable[..., dict[str, str]],
    port: int,
) -> None:
    """Two API processes on one port, a worker beside them; a stream hears of what any of them did."""
    address = f"http://127.0.0.1:{port}"
    with (
        running(environment, "worker_started", "worker"),
        running(
            environment, "listening", "api", "--processes", "2", "--port", str(port)
        ),
    ):
        headers = token("admin")
        with httpx.Client(
            base_url=address, headers=headers, timeout=WITHIN_S
        ) as client:
            assert wait_until_ready(address)["checks"] == {
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
                    f"{address}/api/v1/agents/self/heartbeat",
                    json=beat,
                    headers=agent,
                    timeout=WITHIN_S,
                ).is_success
                assert any(line == "event: target" for line in lines)
        with session_scope() as session:
            message_id = outbox.add(session, "job.analyse", "job_none:0").id
        _wait_for_attempt(message_id)


@pytest.mark.shapes("scaled")
def test_no_api_process_outlives_the_one_that_was_killed(
    environment: dict[str, str], database: Database, port: int
) -> None:
    """They share its standard error: that ends when the last of them has. Then nobody holds the port."""
    arguments = ["api", "--processes", "2", "--port", str(port)]
    process = ChildProcess[bytes](
        [str(COMMAND), *arguments], env=environment, stderr=subprocess.PIPE
    )
    assert process.stderr is not None
    ended = threading.Thread(target=process.stderr.read, daemon=True)
    ended.start()
    try:
        wait_until_ready(f"http://127.0.0.1:{port}")
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
        httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=WITHIN_S)


def wait_until_ready(address: str) -> dict[str, Any]:
    """What /readyz says once a process listens and its parts answer: a broker that stands still is not reachable."""

    def probe() -> Any:
        with suppress(httpx.ConnectError):
            answer = httpx.get(f"{address}/readyz", timeout=WITHIN_S)
            return answer.json() if answer.is_success else None

    return dict(wait_until("the API", probe))


def _wait_for_attempt(message_id: int) -> None:
    """Wait until a worker in another process has tried the message, which fails because there is no such job."""

    def is_tried() -> bool:
        with read_scope() as session:
            message = session.get_one(OutboxMessage, message_id)
            return bool(message.attempts or message.done_at)

    wait_until("a worker to take the message up", is_tried)


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
