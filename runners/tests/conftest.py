"""Fixtures: a user's repository with a two-arm Python suite, a server on a loopback socket, and an agent between
them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from device_providers import DeviceProvider, google_adb_server, kinds
from paceline import config
from paceline.adb.server import AdbServer
from paceline.agent import Agent
from paceline.testing import commands
from paceline.testing.fake_server import FakeJob, FakeServer
from paceline.testing.suites import MANIFEST, WORKLOAD
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S

from .phone import Phone, phone


def git(directory: Path, *arguments: str) -> str:
    identity = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "commit.gpgsign=false",
    ]
    done = subprocess.run(
        ["git", *identity, "-C", str(directory), *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture(scope="session", autouse=True)
def _commands() -> Iterator[None]:
    """Ends what forks commands, if a test ran one."""
    yield
    commands.close()


@pytest.fixture
def suite_repository(tmp_path: Path) -> Path:
    """A git repository with the suite in `bench/`, one commit on branch `main`."""
    root = tmp_path / "theirs"
    (root / "bench").mkdir(parents=True)
    (root / "bench" / "suite.toml").write_text(MANIFEST)
    (root / "bench" / "sorts.py").write_text(WORKLOAD)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Measure sorting")
    return root


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


SERIAL = "test-target"


class World:
    """One server, one repository, one agent's data directory and configuration."""

    def __init__(self, server: FakeServer, repository: Path, data: Path) -> None:
        self.server, self.repository, self.data = server, repository, data
        self.serial = f"{SERIAL}-{data.parent.name}"
        self.config_path = data.parent / "agent.toml"
        self._agents: list[ChildProcess[bytes]] = []
        self.write_config()

    def write_config(self, min_free_bytes: int = 1) -> None:
        self.config_path.write_text(
            f'[agent]\nserial = "{self.serial}"\nmin_free_bytes = {min_free_bytes}\n'
            "[devices]\nenabled = false\n"
            f'[repositories.theirs]\npath = "{self.repository}"\nmanifests = ["bench/suite.toml"]\n'
        )

    def work(self, **changes: Any) -> dict[str, Any]:
        work = {
            "suite": "mine",
            "repository": "theirs",
            "manifest_path": "bench/suite.toml",
            "commit": git(self.repository, "rev-parse", "HEAD"),
            "benchmarks": ["sort"],
            "params": {"n": [100]},
            "knobs": {},
            "first_launch": 0,
            "launches": 2,
            "rounds": 3,
            "min_time_ns": 100_000,
            "seed": 7,
            "launch_timeout_s": WITHIN_S,
        }
        return {**work, **changes}

    def add_job(self, job_id: str = "job-1", **changes: Any) -> FakeJob:
        return self.server.add_job(job_id, self.work(**changes), self.serial)

    def agent(self) -> Agent:
        return Agent(
            self.server.url, self.data, config.ConfigFile(self.config_path), poll_s=0.3
        )

    def spawn(self) -> ChildProcess[bytes]:
        """The agent as a process of its own; it ends with the test."""
        command = [
            sys.executable,
            "-m",
            "paceline",
            "agent",
            "--server",
            self.server.url,
        ]
        command += [
            "--data",
            str(self.data),
            "--config",
            str(self.config_path),
            "--enrol",
            "good-code",
        ]
        with (self.data.parent / "agent.log").open("ab") as log:
            agent = ChildProcess[bytes](command, stderr=log)
        self._agents.append(agent)
        return agent

    def end_agents(self) -> None:
        for agent in self._agents:
            agent.end()


@pytest.fixture
def world(
    server: FakeServer, suite_repository: Path, tmp_path: Path
) -> Iterator[World]:
    world = World(server, suite_repository, tmp_path / "data")
    yield world
    world.end_agents()


@pytest.fixture
def running(world: World) -> Iterator[Agent]:
    """An agent at work in a thread; leaves at the end of the test."""
    agent = world.agent()
    thread = threading.Thread(target=agent.run, args=("good-code",))
    thread.start()
    yield agent
    agent.leave()
    agent.leave()
    thread.join(WITHIN_S)
    assert not thread.is_alive()


def finish_of(world: World, job: FakeJob) -> dict[str, Any]:
    world.server.wait_for(lambda: job.finish)
    assert job.finish is not None
    return job.finish


def assert_complete(job: FakeJob, finish: dict[str, Any]) -> None:
    """Every number from 0 to last_seq arrived."""
    seqs = sorted(seq for _, seq in job.items)
    assert seqs == list(range(finish["last_seq"] + 1))


def values_of(job: FakeJob) -> int:
    return sum(len(item["values"]) for item in job.of_kind("samples"))


def hang_from_now_on(world: World) -> None:
    """The next commit's workload says hello, then hangs."""
    path = world.repository / "bench" / "sorts.py"
    text = path.read_text().replace('say("check"', 'time.sleep(600)\nsay("check"')
    path.write_text(text)
    git(world.repository, "commit", "--quiet", "-a", "-m", "Hang")


@pytest.fixture(scope="session")
def google_adb() -> str:
    result = shutil.which("adb")
    assert result, "Google's adb is missing: make setup (profile test) brings it"
    return result


@pytest.fixture(scope="session")
def adb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    with google_adb_server(tmp_path_factory.mktemp("adb-server")) as server:
        yield server


@pytest.fixture(
    params=kinds(("simulated", "direct"), ("adbd", "direct"), ("adbd", "server"))
)
def provider(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[DeviceProvider]:
    """The source of the test's devices, and the route by which the agent reaches them."""
    daemon, route = request.param
    with ExitStack() as held:
        server = None
        if (
            route == "server"
        ):  # one for each test: Google's server lists what an earlier test let go
            server = held.enter_context(
                google_adb_server(tmp_path_factory.mktemp("adb-server"))
            )
        yield DeviceProvider(daemon, server)


@pytest.fixture(
    scope="module", params=kinds(("simulated", "direct"), ("adbd", "direct"))
)
def module_phone(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Phone]:
    with phone(
        tmp_path_factory.mktemp("phone"), DeviceProvider(request.param[0])
    ) as running:
        yield running


@pytest.fixture
def device(module_phone: Phone) -> Iterator[Phone]:
    """A healthy simulated device with nothing on it, before and after."""
    assert not module_phone.left()
    yield module_phone
    module_phone.wrap = lambda connection: connection
    module_phone.peer.come_back()
    assert not module_phone.left()
