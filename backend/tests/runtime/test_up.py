"""`paceline-server up` as a person meets it: real processes, a real agent, one data directory."""

from __future__ import annotations

import os
import queue
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

WITHIN_S = 90.0
COMMAND = Path(sys.executable).with_name("paceline-server")


class Up:
    """One running `up`; `line(pattern)` waits for a line of its output."""

    def __init__(self, data: Path, *more: str, env: dict[str, str] | None = None) -> None:
        argv = [str(COMMAND), "up", "--data", str(data), *more]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PACELINE_")}
        self.process = subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**environment, **(env or {})},
        )
        self.said: list[str] = []
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

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
            found = re.search(pattern, line)
            if found:
                return found

    def ready(self) -> tuple[str, str]:
        """(address, one-time token)."""
        address = self.line(r"Paceline is ready:\s+(http://\S+)")[1]
        return address, self.line(r"/sign-in#token=(\S+)")[1]

    def end(self, sig: signal.Signals | None = signal.SIGTERM) -> int:
        """Its exit status, after a signal or (None) by itself."""
        if sig is not None:
            self.process.send_signal(sig)
        code = self.process.wait(WITHIN_S)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

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
        if up.process.poll() is None:
            up.process.kill()
            up.process.wait()
        if up.process.stdout is not None:
            up.process.stdout.close()


def start(started: list[Up], *arguments: str | Path, env: dict[str, str] | None = None) -> Up:
    up = Up(Path(arguments[0]), *map(str, arguments[1:]), env=env)
    started.append(up)
    return up


def cookie_for(address: str, token: str) -> dict[str, str]:
    answer = httpx.post(f"{address}/api/v1/session/link", json={"token": token})
    assert answer.status_code == 200, answer.text
    return {"Cookie": f"paceline={answer.cookies['paceline']}"}


def wait_for_agent(address: str, cookie: dict[str, str]) -> str:
    """The id of the online agent; the stream says when to look again."""
    with httpx.stream("GET", f"{address}/api/v1/stream", headers=cookie, timeout=WITHIN_S) as stream:
        for _ in stream.iter_lines():
            agents = httpx.get(f"{address}/api/v1/agents", headers=cookie).json()["items"]
            online = [agent["id"] for agent in agents if agent["state"] == "online"]
            if online:
                return str(online[0])
    raise AssertionError("the stream ended")


def simulated_targets(address: str, cookie: dict[str, str], count: int) -> list[dict[str, Any]]:
    """Once there are so many."""
    with httpx.stream("GET", f"{address}/api/v1/stream", headers=cookie, timeout=WITHIN_S) as stream:
        for _ in stream.iter_lines():
            found = httpx.get(f"{address}/api/v1/targets?simulated=true", headers=cookie).json()["items"]
            if len(found) >= count:
                return list(found)
    raise AssertionError("the stream ended")


def test_up_serves_signs_in_enrols_once_and_ends_with_its_agent(tmp_path: Path, started: list[Up]) -> None:
    first = start(started, tmp_path / "data", "--no-first-run", "--port", "0")
    address, token = first.ready()
    assert httpx.get(f"{address}/readyz").json()["status"] == "ready"
    agent_id = wait_for_agent(address, cookie_for(address, token))
    agents = first.agents()
    assert agents
    assert first.end() == 0
    assert not [agent for agent in agents if agent.is_running() and agent.status() != psutil.STATUS_ZOMBIE]

    second = start(started, tmp_path / "data", "--no-first-run", "--port", address.rsplit(":", 1)[1])
    again, another = second.ready()
    assert again == address
    assert another != token
    cookie = cookie_for(again, another)
    assert wait_for_agent(again, cookie) == agent_id
    assert len(httpx.get(f"{again}/api/v1/agents", headers=cookie).json()["items"]) == 1
    assert second.end(signal.SIGINT) == 0


def test_a_taken_default_port_is_replaced_and_said_but_a_chosen_one_is_an_error(
    tmp_path: Path, started: list[Up]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        env = {"PACELINE_PORT": str(port)}
        up = start(started, tmp_path / "data", "--no-agent", env=env)
        assert int(up.line(r"Port (\d+) is taken; using (\d+) instead")[1]) == port
        address, _ = up.ready()
        assert not address.endswith(f":{port}")
        assert up.end() == 0
        chosen = start(started, tmp_path / "data", "--no-agent", "--port", str(port))
        chosen.line(rf"cannot listen on 127.0.0.1:{port}")
        assert chosen.end(None) == 1


def test_one_data_directory_has_one_server(tmp_path: Path, started: list[Up]) -> None:
    first = start(started, tmp_path / "data", "--no-agent", "--port", "0")
    address, _ = first.ready()
    second = start(started, tmp_path / "data", "--no-agent", "--port", "0")
    second.line(f"already runs on .*, at {address}")
    assert second.end(None) == 1
    assert httpx.get(f"{address}/healthz").status_code == 200


@pytest.mark.skipif(sys.platform != "linux", reason="the parent-death signal is Linux's")
def test_three_simulated_devices_arrive_and_are_gone_with_a_killed_server_as_its_agent_is(
    tmp_path: Path, started: list[Up]
) -> None:
    up = start(started, tmp_path / "data", "--no-first-run", "--port", "0", "--devices", "3")
    address, token = up.ready()
    serials = {up.line(rf"Simulated device:\s+(\S+) \({words}")[1] for words in ("healthy", "over", "drops")}
    found = simulated_targets(address, cookie_for(address, token), 3)
    assert {one["serial"] for one in found} == serials
    assert {one["kind"] for one in found} == {"device"}
    assert up.agents()
    assert up.children("paceline.testing.adbd.fleet")
    begun = up.children()
    up.process.kill()
    up.process.wait()
    _, alive = psutil.wait_procs(begun, timeout=WITHIN_S)
    assert not alive


def test_up_with_redis_is_refused_with_advice(tmp_path: Path, started: list[Up]) -> None:
    up = start(started, tmp_path / "data", env={"PACELINE_REDIS_URL": "redis://127.0.0.1:1/0"})
    up.line("unset it, or run `paceline-server api`")
    assert up.end(None) == 1
