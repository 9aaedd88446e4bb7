"""`paceline-server up` as a person meets it: real processes, a real agent, one data directory."""

from __future__ import annotations

import json
import os
import queue
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from paceline.testing.suites import MANIFEST
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S, wait_until

COMMAND = Path(sys.executable).with_name("paceline-server")


class Up:
    """One running `up`; `line(pattern)` waits for a line of its output."""

    def __init__(
        self, data: Path, *more: str, env: dict[str, str] | None = None
    ) -> None:
        argv = [str(COMMAND), "up", "--data", str(data), *more]
        self.process = ChildProcess[str](
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**bare_environment(), **(env or {})},
        )
        self.said: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def line(self, pattern: str) -> re.Match[str]:
        deadline = time.monotonic() + WITHIN_S
        while True:
            line = self._lines.get(timeout=max(0.1, deadline - time.monotonic()))
            assert line is not None, f"ended without {pattern!r}:\n{''.join(self.said)}"
            self.said.append(line)
            match = re.search(pattern, line)
            if match:
                return match

    def ready(self) -> tuple[str, str]:
        """(address, one-time token)."""
        address = self.line(r"Paceline is ready:\s+(http://\S+)")[1]
        return address, self.line(r"/sign-in#token=(\S+)")[1]

    def end(self, sig: signal.Signals | None = signal.SIGTERM) -> int:
        """The exit status after a signal, or (None) after it ended by itself."""
        if sig is not None:
            self.process.send_signal(sig)
        code = self.process.wait(WITHIN_S)
        self.close()
        return code

    def close(self) -> None:
        """End it if it still runs, and read its output to the end: a thread whose file is closed meanwhile fails."""
        self.process.kill()
        self.process.wait()
        self._reader.join(WITHIN_S)
        self.process.end()

    def agents(self) -> list[psutil.Process]:
        return self.children("agent")

    def children(self, word: str = "") -> list[psutil.Process]:
        try:
            children = psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []
        return [child for child in children if word in _command(child)]


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:  # it ended meanwhile
        return ""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Up]]:
    ups: list[Up] = []
    yield ups
    for up in ups:
        up.close()


def start(
    started: list[Up], *arguments: str | Path, env: dict[str, str] | None = None
) -> Up:
    up = Up(Path(arguments[0]), *map(str, arguments[1:]), env=env)
    started.append(up)
    return up


def own_repository(root: Path) -> Path:
    """A repository with a suite called `mine`."""
    root.mkdir()
    (root / "suite.toml").write_text(MANIFEST, encoding="utf-8")
    git = [
        "git",
        "-C",
        str(root),
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
    ]
    for command in ("init --quiet", "add --all", "commit --quiet -m Measure"):
        subprocess.run([*git, *command.split()], check=True)
    return root


def get(url: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.get(url, headers=headers, timeout=WITHIN_S)


def items(address: str, path: str, cookie: dict[str, str]) -> list[Any]:
    """What the API lists there."""
    return list(get(f"{address}/api/v1{path}", cookie).json()["items"])


def cookie_for(address: str, token: str) -> dict[str, str]:
    answer = httpx.post(
        f"{address}/api/v1/session/link", json={"token": token}, timeout=WITHIN_S
    )
    assert answer.status_code == 200, answer.text
    return {"Cookie": f"paceline={answer.cookies['paceline']}"}


def wait_for_agent(address: str, cookie: dict[str, str]) -> str:
    """The id of the online agent; the stream says when to look again."""
    with httpx.stream(
        "GET", f"{address}/api/v1/stream", headers=cookie, timeout=WITHIN_S
    ) as stream:
        for _ in stream.iter_lines():
            agents = items(address, "/agents", cookie)
            online = [agent["id"] for agent in agents if agent["state"] == "online"]
            if online:
                return str(online[0])
    raise AssertionError("the stream ended")


def simulated_targets(
    address: str, cookie: dict[str, str], count: int
) -> list[dict[str, Any]]:
    """The simulated targets, once there are so many."""
    with httpx.stream(
        "GET", f"{address}/api/v1/stream", headers=cookie, timeout=WITHIN_S
    ) as stream:
        for _ in stream.iter_lines():
            targets = items(address, "/targets?simulated=true", cookie)
            if len(targets) >= count:
                return targets
    raise AssertionError("the stream ended")


def announces(address: str, cookie: dict[str, str], suite: str) -> bool:
    """Whether an agent has announced `suite`, once any is announced."""
    return suite in {item["name"] for item in items(address, "/suites", cookie)}


def test_up_serves_signs_in_enrols_once_and_ends_with_its_agent(
    tmp_path: Path, started: list[Up], port: int
) -> None:
    own = own_repository(tmp_path / "own")
    first = start(
        started,
        tmp_path / "data",
        "--no-first-run",
        "--port",
        str(port),
        "--repository",
        own,
    )
    address, token = first.ready()
    assert get(f"{address}/readyz").json()["status"] == "ready"
    cookie = cookie_for(address, token)
    agent_id = wait_for_agent(address, cookie)
    first.line(rf"Repository own:  {own} \(suite.toml\)")
    wait_until(
        "the suite of the own repository", lambda: announces(address, cookie, "mine")
    )
    agents = first.agents()
    assert agents
    assert first.end() == 0
    assert not [line for line in first.said if line.startswith("{")], (
        "its log is no part of what a person reads"
    )
    log = (tmp_path / "data" / "server.log").read_text().splitlines()
    assert "agent_enrolled" in {json.loads(line)["event"] for line in log}
    assert not [
        agent
        for agent in agents
        if agent.is_running() and agent.status() != psutil.STATUS_ZOMBIE
    ]

    second = start(started, tmp_path / "data", "--no-first-run", "--port", str(port))
    again, another = second.ready()
    assert again == address
    assert another != token
    cookie = cookie_for(again, another)
    assert wait_for_agent(again, cookie) == agent_id
    second.line(rf"Repository own:  {own} \(suite.toml\)")
    assert len(items(again, "/agents", cookie)) == 1
    assert second.end(signal.SIGINT) == 0


def test_another_port_keeps_the_same_agent(tmp_path: Path, started: list[Up]) -> None:
    data = tmp_path / "data"
    first = start(started, data, "--no-first-run", "--port", "0")
    address, token = first.ready()
    agent_id = wait_for_agent(address, cookie_for(address, token))
    assert first.end() == 0
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # then the port is another program's already
            taken.bind(("127.0.0.1", int(address.rsplit(":", 1)[1])))
        second = start(started, data, "--no-first-run", "--port", "0")
        again, another = second.ready()
        assert again != address
        cookie = cookie_for(again, another)
        assert wait_for_agent(again, cookie) == agent_id
        assert len(items(again, "/agents", cookie)) == 1
        assert second.end() == 0
    assert (data / "agent" / "credential.json").stat().st_mode & 0o077 == 0
    assert "target_moved" not in (data / "server.log").read_text()
    (data / "paceline.sqlite").unlink()
    third = start(started, data, "--no-first-run", "--port", "0")
    fresh, link = third.ready()
    assert wait_for_agent(fresh, cookie_for(fresh, link)) != agent_id, (
        "an empty database enrols it again"
    )


def test_an_agent_that_lost_its_data_comes_back_but_the_host_of_another_one_is_not_taken(
    tmp_path: Path, started: list[Up]
) -> None:
    """`up` makes a code that replaces the agent it started before; the agent of somebody else keeps its host."""
    data = tmp_path / "data"

    def owner_after(*, before: str | None) -> str:
        up = start(started, data, "--no-first-run", "--port", "0")
        address, token = up.ready()
        cookie = cookie_for(address, token)

        def probe() -> Any:
            targets = items(address, "/targets", cookie)
            owners = [target["agent_id"] for target in targets]
            return owners[0] if owners and owners[0] != before else None

        owner = str(wait_until("the host", probe))
        assert up.end() == 0
        shutil.rmtree(data / "agent")
        return owner

    owner_after(before=owner_after(before=None))
    with closing(sqlite3.connect(data / "paceline.sqlite")) as database, database:
        database.execute("UPDATE agent SET enrolled_by = 'somebody'")
    last = start(started, data, "--no-first-run", "--port", "0")
    last.line("does not accept the agent of this host, which is not started again")
    assert "enrolment-code --replaces agt_" in (data / "agent.log").read_text()
    assert last.end() == 0


@pytest.mark.parametrize("chosen", [True, False])
def test_a_taken_port_is_an_error_with_the_option_to_give_before_anything_is_made(
    tmp_path: Path, started: list[Up], chosen: bool
) -> None:
    data = tmp_path / "data"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        options = ["--port", str(port)] if chosen else []
        up = start(
            started,
            data,
            "--no-agent",
            *options,
            env={} if chosen else {"PACELINE_PORT": str(port)},
        )
        output = up.line(
            rf"cannot listen on 127.0.0.1:{port}: another program uses this port"
        )
        proposed = re.search(r'`make run ARGS="--port (\d+)"`', output.string)
        assert proposed is not None, output.string
        assert int(proposed[1]) != port
        assert up.end(None) == 1
    assert sorted(path.name for path in data.iterdir()) == ["up.lock"], (
        "no database, no agent"
    )


def test_one_data_directory_has_one_server(tmp_path: Path, started: list[Up]) -> None:
    first = start(started, tmp_path / "data", "--no-agent", "--port", "0")
    address, _ = first.ready()
    second = start(started, tmp_path / "data", "--no-agent", "--port", "0")
    second.line(f"already runs on .*, at {address}: use that one, end it first, or")
    assert second.end(None) == 1
    assert get(f"{address}/healthz").status_code == 200


def test_a_sign_in_link_is_made_only_while_a_server_runs(
    tmp_path: Path, started: list[Up]
) -> None:
    def link() -> subprocess.CompletedProcess[str]:
        argv = [str(COMMAND), "sign-in-link", "--data", str(tmp_path / "data")]
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("PACELINE_")
        }
        return subprocess.run(
            argv, env=environment, capture_output=True, text=True, check=False
        )

    before = link()
    assert (before.returncode, before.stdout) == (1, "")
    assert f"no server runs on the data directory {tmp_path / 'data'}" in before.stderr
    assert not (tmp_path / "data").exists(), "asking makes nothing"
    up = start(started, tmp_path / "data", "--no-agent", "--port", "0")
    address, _ = up.ready()
    during = link()
    assert during.returncode == 0, during.stderr
    assert during.stdout.startswith(f"{address}/sign-in#token=")
    assert up.end() == 0
    after = link()
    assert (after.returncode, after.stdout) == (1, "")


def test_api_and_up_keep_each_other_out_of_a_data_directory(
    tmp_path: Path, started: list[Up]
) -> None:
    data = tmp_path / "data"
    first = start(started, data, "--no-agent", "--port", "0")
    address, _ = first.ready()
    with serve_api(data) as refused:
        stderr = refused.communicate(timeout=WITHIN_S)[1]
    assert refused.returncode == 1
    assert stderr.startswith(
        f"paceline-server: Paceline already runs on {data}, at {address}: "
    ), stderr
    assert stderr.count("\n") == 1
    assert first.end() == 0

    with serve_api(data) as serving:
        assert serving.stderr is not None
        while "listening" not in serving.stderr.readline():
            assert serving.poll() is None
        second = start(started, data, "--no-agent", "--port", "0")
        second.line("already runs on .*, at http://127.0.0.1:")
        assert second.end(None) == 1
        serving.terminate()
        serving.communicate(timeout=WITHIN_S)


def test_every_command_refuses_a_database_of_a_newer_version(
    tmp_path: Path,
) -> None:
    env = {**bare_environment(), "PACELINE_DATA_DIR": str(tmp_path)}
    subprocess.run([COMMAND, "migrate"], check=True, env=env, stdout=subprocess.DEVNULL)
    with closing(sqlite3.connect(tmp_path / "paceline.sqlite")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.commit()
    for arguments in (
        ["migrate"],
        ["up", "--no-agent", "--port", "0"],
        ["api", "--port", "0"],
        ["recompute"],
        ["enrolment-code"],
    ):
        done = subprocess.run(
            [COMMAND, *arguments],
            check=False,
            env=env,
            capture_output=True,
            text=True,
            timeout=WITHIN_S,
        )
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1, done.stderr
        assert "has schema 9999" in done.stderr
        assert "Run that version, or restore a backup" in done.stderr


def test_only_its_user_may_read_the_database(tmp_path: Path, started: list[Up]) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "paceline.sqlite").touch()
    (data / "paceline.sqlite").chmod(
        0o644
    )  # as an older version made it, whatever the umask here
    up = start(started, data, "--no-agent", "--port", "0")
    up.ready()
    modes = {
        path.name: path.stat().st_mode & 0o777 for path in data.glob("paceline.sqlite*")
    }
    assert modes == {
        "paceline.sqlite": 0o600,
        "paceline.sqlite-wal": 0o600,
        "paceline.sqlite-shm": 0o600,
    }


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="limits of another process are set by Linux's prlimit",
)
def test_a_server_whose_writes_fail_is_not_ready_until_they_succeed_again(
    tmp_path: Path, started: list[Up]
) -> None:
    """A limit on the size of files stands in for a full disk: each write to one fails, as there."""
    up = start(started, tmp_path / "data", "--no-agent", "--port", "0")
    address, _ = up.ready()
    assert get(f"{address}/readyz").status_code == 200
    process = psutil.Process(up.process.pid)
    before = process.rlimit(psutil.RLIMIT_FSIZE)
    process.rlimit(psutil.RLIMIT_FSIZE, (4096, before[1]))
    try:
        checks = readiness(address, 503)["checks"]
        assert (checks["writes"], checks["database"]) == ("failing", "ok")
    finally:
        process.rlimit(psutil.RLIMIT_FSIZE, before)
    assert readiness(address, 200)["status"] == "ready"


def readiness(address: str, status: int) -> dict[str, Any]:
    """The body of /readyz, once it answers with `status`."""

    def probe() -> Any:
        answer = get(f"{address}/readyz")
        return answer.json() if answer.status_code == status else None

    return dict(wait_until(f"readiness {status}", probe))


def bare_environment() -> dict[str, str]:
    """The environment without settings of Paceline."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("PACELINE_")
    }


def serve_api(data: Path) -> ChildProcess[str]:
    return ChildProcess[str](
        [COMMAND, "api", "--port", "0"],
        env={**bare_environment(), "PACELINE_DATA_DIR": str(data)},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(
    sys.platform != "linux", reason="the parent-death signal is Linux's"
)
def test_three_simulated_devices_and_the_agent_end_with_a_killed_server(
    tmp_path: Path, started: list[Up]
) -> None:
    up = start(
        started, tmp_path / "data", "--no-first-run", "--port", "0", "--devices", "3"
    )
    address, token = up.ready()
    serials = {
        up.line(rf"Simulated device:\s+(\S+) \({words}")[1]
        for words in ("healthy", "over", "drops")
    }
    targets = simulated_targets(address, cookie_for(address, token), 3)
    assert {one["serial"] for one in targets} == serials
    assert {one["kind"] for one in targets} == {"device"}
    assert up.agents()
    assert up.children("paceline.testing.adbd.fleet")
    begun = up.children()
    up.process.kill()
    up.process.wait()
    _, alive = psutil.wait_procs(begun, timeout=WITHIN_S)
    assert not alive


def test_up_with_redis_is_refused_with_advice(
    tmp_path: Path, started: list[Up]
) -> None:
    up = start(
        started, tmp_path / "data", env={"PACELINE_REDIS_URL": "redis://127.0.0.1:1/0"}
    )
    up.line("unset it, or run `paceline-server api`")
    assert up.end(None) == 1
