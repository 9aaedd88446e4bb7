"""Real processes for the journey tests: API, Celery worker and agents, each started as a user would start
them.

Nothing here fakes anything; a process ends with its test (or, by its parent's death, with pytest).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S, wait_until
from paceline_server.kernel import clock
from paceline_server.store import outbox
from paceline_server.store.session import read_scope

BIN = Path(sys.executable).parent
SUITES = Path(__file__).parent / "workload"
CLONE = Path(__file__).resolve().parents[3]
BUILT = CLONE / "build" / "journeys" / "artifacts"
"""The builds of this clone's commit by the first journey, which later ones reuse (scripts/e2e, too)."""
LOCKS = CLONE / "build" / "journeys" / "locks"
"""The directory of the processes' temporary files, among them the locks of targets. A job has the host to itself from
its build on, and tests that run beside a journey would wait for that as long as a build takes."""
SHARED_HOST = {
    "PACELINE_PRESSURE_LIMIT_PERCENT": "100",
    "PACELINE_DRIFT_LIMIT_PERCENT": "100000",
}
"""The machine of a test run is always shared, with the servers under test and with all else that `make test` does."""
WITHOUT_PAUSES = {
    "PACELINE_LEASE_S": "30",
    "PACELINE_HEARTBEAT_S": "1",
    "PACELINE_CONFIRM_COOLDOWN_S": "0.1",
    "PACELINE_SWEEP_S": "0.2",
}
"""Settings of a server without cool-down, so that a journey takes seconds. An agent may be silent for 30 s, as it may on a
loaded machine; a test that needs the end of a lease ends it itself (`end_lease`)."""


@dataclass
class Process:
    """One child with its output kept for the failure message."""

    name: str
    popen: ChildProcess[bytes]
    log: Path

    def kill(self) -> None:
        """kill −9, as a power cut would."""
        self.popen.kill()
        self.popen.wait()

    def stop(self) -> int:
        """SIGTERM, then wait."""
        if self.popen.poll() is None:
            self.popen.terminate()
        try:
            return self.popen.wait(WITHIN_S)
        except subprocess.TimeoutExpired:
            self.popen.end()
            raise AssertionError(
                f"{self.name} did not end on SIGTERM:\n{self.tail()}"
            ) from None

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def tail(self) -> str:
        return self.output()[-4000:]


@contextmanager
def running(
    name: str, argv: list[str], env: dict[str, str], logs: Path
) -> Iterator[Process]:
    """Run a program until the block ends; it is asked to end, and killed if the block failed."""
    log = logs / f"{name}-{len(list(logs.iterdir()))}.log"
    with log.open("wb") as sink:
        popen = ChildProcess[bytes](
            argv,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
        )
        process = Process(name, popen, log)
        try:
            yield process
        except BaseException:
            popen.end()
            raise
        process.stop()


@dataclass
class Stack:
    """A server of the scaled shape and what is needed to talk to it."""

    url: str
    env: dict[str, str]
    directory: Path
    stack: ExitStack
    headers: dict[str, str]
    processes: list[Process] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.client = self.stack.enter_context(
            httpx.Client(base_url=self.url, headers=self.headers, timeout=WITHIN_S)
        )
        (self.directory / "logs").mkdir()

    def is_ready(self) -> bool:
        """Return whether the server answers and is ready."""
        try:
            return self.client.get("/readyz").status_code == 200
        except (OSError, httpx.HTTPError):
            return False

    def start(self, name: str, *argv: str, **env: str) -> Process:
        process = self.stack.enter_context(
            running(
                name,
                [str(BIN / argv[0]), *argv[1:]],
                {**self.env, **env},
                self.directory / "logs",
            )
        )
        self.processes.append(process)
        return process

    def agent(
        self,
        repositories: Mapping[str, tuple[Path | str, str]],
        name: str = "agent",
        *,
        devices: str = "",
        **env: str,
    ) -> Process:
        """Start an agent that may build `repositories` (name → path or URL, manifest); enrolled on first start. It
        drives no devices, unless `devices` (lines of its section) says which."""
        data = self.directory / name
        data.mkdir(exist_ok=True)
        lines = [f'[agent]\nserial = "{name}-{self.directory.name}"\nname = "{name}"\n']
        lines.append(f"[devices]\nenabled = {json.dumps(bool(devices))}\n{devices}\n")
        for repository, (place, manifest) in repositories.items():
            kind = "path" if isinstance(place, Path) else "url"
            lines.append(
                f'[repositories.{repository}]\n{kind} = "{place}"\nmanifests = ["{manifest}"]\n'
            )
        (data / "agent.toml").write_text("\n".join(lines))
        argv = [
            "paceline",
            "agent",
            "--server",
            self.url,
            "--data",
            str(data),
            "--config",
            str(data / "agent.toml"),
        ]
        if not (data / "credential.json").exists():
            argv += ["--enrol", self.post("/agents/enrolment-codes")["code"]]
        return self.start(name, *argv, **env)

    def credential(self, name: str = "agent") -> str:
        """The stored credential of the agent of this name."""
        credential = json.loads((self.directory / name / "credential.json").read_text())
        return str(credential["credential"])

    def suite(self, name: str) -> Any:
        """The suite, once an agent has announced it."""
        return wait_until(f"suite {name}", lambda: self.found(f"/suites/{name}"))

    def found(self, path: str) -> Any:
        answer = self.client.get(f"/api/v1{path}")
        return answer.json() if answer.status_code == 200 else None

    def measure(self, suite: str, **options: Any) -> str:
        """Request a run of an announced suite; its only job's id. An agent that stood still for longer than its
        heartbeats may is offline, and waited for."""
        self.suite(suite)

        def request() -> Any:
            answer = self.client.post("/api/v1/runs", json={"suite": suite, **options})
            if answer.status_code == 409 and answer.json()["code"] == "no_target":
                return None
            assert answer.is_success, f"{answer.status_code} {answer.text}"
            return answer.json()["jobs"]

        jobs = wait_until(f"a target for {suite}", request)
        assert len(jobs) == 1, jobs
        return str(jobs[0]["id"])

    def alerts(self) -> Any:
        """All alerts, once the worker has drawn the consequences of everything that has happened."""

        def is_idle() -> bool:
            soon = clock.now() + timedelta(seconds=2 * outbox.CLAIM_S)
            with read_scope() as session:
                return not outbox.list_due(session, soon)

        wait_until("the worker to have nothing to do", is_idle)
        return self.get("/alerts")["items"]

    def end(self) -> None:
        """Kill every process at once. An agent that is asked to end waits for its job, which may wait for a test."""
        for process in reversed(self.processes):
            process.popen.end()

    def job_in(self, job_id: str, *states: str) -> Any:
        """The job, once it is in one of `states`."""

        def probe() -> Any:
            job = self.get(f"/jobs/{job_id}")
            return job if job["state"] in states else None

        try:
            return wait_until(f"job in {states}", probe)
        except AssertionError as error:
            raise AssertionError(
                f"{error}; it is {self.get(f'/jobs/{job_id}')}\n{self.tails()}"
            ) from None

    def server(self, *argv: str) -> str:
        """The output of a `paceline-server` command that ends by itself."""
        done = subprocess.run(
            [str(BIN / "paceline-server"), *argv],
            env=self.env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    def get(self, path: str, **query: str) -> Any:
        answer = self.client.get(f"/api/v1{path}", params=query)
        assert answer.status_code == 200, (
            f"GET {path}: {answer.status_code} {answer.text}"
        )
        return answer.json()

    def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self.client.post(f"/api/v1{path}", json=body)
        assert answer.is_success, f"POST {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def tails(self) -> str:
        return "\n".join(
            f"--- {process.name}\n{process.tail()}" for process in self.processes
        )


def keep_builds(agent_data: Path) -> None:
    """Hand on what this agent built. An entry's name says of which commit and with which tools it is, so one
    that is no longer true is never found again."""
    staging = BUILT.with_suffix(".new")
    shutil.rmtree(staging, ignore_errors=True)
    shutil.copytree(agent_data / "artifacts", staging)
    shutil.rmtree(BUILT, ignore_errors=True)
    staging.rename(BUILT)


def with_kept_builds(agent_data: Path) -> None:
    """Let an agent begin as one that built this commit before; without anything kept it builds itself."""
    if BUILT.is_dir():
        shutil.copytree(BUILT, agent_data / "artifacts")


def commit_all(repository: Path) -> str:
    """Make `repository` a git repository with everything in it committed; its commit id."""
    git = [
        "git",
        "-C",
        str(repository),
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.invalid",
    ]
    if not (repository / ".git").exists():
        subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "a revision"], check=True)
    return subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()


def misbehaving_repository(directory: Path) -> Path:
    """A repository holding the suite of `workload/`."""
    repository = directory / "misbehaving"
    shutil.copytree(SUITES, repository)
    commit_all(repository)
    return repository


def base_env() -> dict[str, str]:
    """The environment of every process: ours without settings of a surrounding Paceline, and with the journeys'
    locks."""
    LOCKS.mkdir(parents=True, exist_ok=True)
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PACELINE_")
    }
    return {
        **env,
        "PYTHONUNBUFFERED": "1",
        "PATH": f"{BIN}{os.pathsep}{env['PATH']}",
        "TMPDIR": str(LOCKS),
    }
