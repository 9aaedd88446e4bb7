"""Measures what the embedded shape costs beside a bare FastAPI + Celery, and how soon a delivered job has its verdict.

    python backend/benchmarks/embedded.py [--rounds 5] [--jobs 12]

`paceline-server up --no-agent --no-first-run` in an empty directory, so that each start includes the migration,
takes turns with `bare_embedded.py`. Then one more `up` receives simulated jobs over HTTP. Release notes quote the
ratios; the latency depends on the machine.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from paceline_contract.testing.ports import reserved_port
from paceline_server.testing.delivered_jobs import Lab
from paceline_server.testing.scripted_agent import COMMIT, PREFIX, ScriptedAgent
from paceline_server.testing.sorting_suite import suite_manifest

HERE = Path(__file__).parent
LOOK_EVERY_S = 0.005
WITHIN_S = 60.0
SLOWER = {1000: 0.126, 2000: -0.6}
"""True effects of every delivered job: one point fails its rule, the other passes."""
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@dataclass(frozen=True)
class Started:
    """A server that answers `/readyz`, how long that took from its exec, and its output's file."""

    process: subprocess.Popen[bytes]
    address: str
    ready_s: float
    said: Path

    def rss_mib(self) -> float:
        """Resident memory of the process and all it started."""
        main = psutil.Process(self.process.pid)
        return float(
            sum(one.memory_info().rss for one in [main, *main.children(recursive=True)])
            / 2**20
        )


@contextmanager
def started(argv: Sequence[str], port: int, directory: Path) -> Iterator[Started]:
    """Run a server on `port` until the block ends."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("PACELINE_")
    }
    environment["PACELINE_CONFIRM_COOLDOWN_S"] = (
        "3600"  # confirmations would be leased among the jobs
    )
    said = directory / "output"
    with said.open("wb") as output:
        begun = time.perf_counter()
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=HERE,
            env=environment,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=address, timeout=WITHIN_S) as client:
            _until(
                lambda: process.poll() is not None or _is_ready(client),
                "the server to be ready",
            )
        if process.poll() is not None:
            raise RuntimeError(f"{argv[0]} ended:\n{said.read_text()}")
        yield Started(process, address, time.perf_counter() - begun, said)
    finally:
        process.terminate()
        process.wait(WITHIN_S)


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _until(reached: Callable[[], bool], what: str) -> None:
    deadline = time.perf_counter() + WITHIN_S
    while not reached():
        if time.perf_counter() > deadline:
            raise RuntimeError(f"waited {WITHIN_S:g} s for {what}")
        time.sleep(LOOK_EVERY_S)


@contextmanager
def paceline() -> Iterator[Started]:
    """`up` without an agent, in an empty directory."""
    command = str(Path(sys.executable).with_name("paceline-server"))
    with tempfile.TemporaryDirectory() as directory, reserved_port() as port:
        argv = [command, "up", "--no-agent", "--no-first-run", "--port", str(port)]
        argv += ["--data", str(Path(directory) / "data")]
        with started(argv, port, Path(directory)) as server:
            yield server


@contextmanager
def bare() -> Iterator[Started]:
    """The bare prototype."""
    with reserved_port() as port, tempfile.TemporaryDirectory() as directory:
        argv = [
            sys.executable,
            "-m",
            "uvicorn",
            "--factory",
            "bare_embedded:create",
            "--port",
            str(port),
        ]
        with started(argv, port, Path(directory)) as server:
            yield server


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def spread(values: Sequence[float], form: str) -> str:
    """`median (min-max)`."""
    numbers = [statistics.median(values), min(values), max(values)]
    middle, low, high = (form.format(number) for number in numbers)
    return f"{middle} ({low}-{high})"


def compare(rounds: int) -> None:
    """Ready time and memory, in turns; the order alternates."""
    ready: dict[str, list[float]] = {"paceline": [], "bare": []}
    memory: dict[str, list[float]] = {"paceline": [], "bare": []}
    for number in range(rounds + 1):
        peers = [("paceline", paceline), ("bare", bare)]
        for name, start in peers if number % 2 else reversed(peers):
            with start() as server:
                if number:  # the first round fills caches
                    ready[name].append(server.ready_s)
                    memory[name].append(server.rss_mib())
    for title, values, form in (
        ("ready", ready, "{:.2f} s"),
        ("RSS", memory, "{:.0f} MiB"),
    ):
        ratios = [
            ours / theirs
            for ours, theirs in zip(values["paceline"], values["bare"], strict=True)
        ]
        say(
            f"{title:<6} paceline {spread(values['paceline'], form)}   bare {spread(values['bare'], form)}   "
            f"ratio {spread(ratios, '{:.2f}')}"
        )


def sign_in(server: Started) -> dict[str, str]:
    """Headers of the browser session the printed link gives."""
    _until(lambda: "/sign-in#token=" in server.said.read_text(), "the sign-in link")
    found = re.search(r"/sign-in#token=(\S+)", server.said.read_text())
    token = found[1] if found else ""
    answer = httpx.post(
        f"{server.address}{PREFIX}/session/link",
        json={"token": token},
        headers=SAME_ORIGIN,
    )
    answer.raise_for_status()
    return {"Cookie": f"paceline={answer.cookies['paceline']}", **SAME_ORIGIN}


def open_lab(client: httpx.Client, person: dict[str, str]) -> Lab:
    """Enrol an agent with one target and let it announce the suite, all over HTTP."""
    code = (
        client.post(f"{PREFIX}/agents/enrolment-codes", headers=person)
        .raise_for_status()
        .json()["code"]
    )
    spec = {"code": code, "name": "lab", "version": "1"}
    credential = (
        client.post(f"{PREFIX}/agents/enrol", json=spec)
        .raise_for_status()
        .json()["credential"]
    )
    agent = {"Authorization": f"Bearer {credential}"}
    target = {
        "kind": "host",
        "serial": "s",
        "name": "lab",
        "factors": {"cpu": "x"},
        "fingerprint": "a" * 64,
    }
    suite = {
        "repository": "demo",
        "manifest_path": "suite.toml",
        "manifest": suite_manifest(),
        "commit": COMMIT,
        "branch": "main",
    }
    beat = {"version": "1", "targets": [target], "suites": [suite]}
    client.post(
        f"{PREFIX}/agents/self/heartbeat", json=beat, headers=agent
    ).raise_for_status()
    targets = (
        client.get(f"{PREFIX}/targets", headers=person)
        .raise_for_status()
        .json()["items"]
    )
    return Lab(client, ScriptedAgent(client, agent), targets[0]["id"], person)


def latency(jobs: int) -> None:
    """The time from the request that finishes a delivery to the stored verdict, as seen by polling."""
    finished = [0.0]

    def sent(request: httpx.Request) -> None:
        if request.url.path.endswith("/finish"):
            finished[0] = time.perf_counter()

    took: list[float] = []
    verdicts: list[str] = []
    with (
        paceline() as server,
        httpx.Client(
            base_url=server.address, timeout=WITHIN_S, event_hooks={"request": [sent]}
        ) as client,
    ):
        lab = open_lab(client, sign_in(server))
        for number in range(jobs):
            lab.request()
            state, job_id = "queued", ""
            while state == "queued":  # once more when the first batch cannot decide
                job_id = lab.deliver(SLOWER, seed=number + 1).job_id
                path = f"{PREFIX}/jobs/{job_id}"
                seen = [client.get(path, headers=dict(lab.headers)).json()]

                def decided(
                    path: str = path, seen: list[dict[str, str]] = seen
                ) -> bool:
                    seen[0] = client.get(path, headers=dict(lab.headers)).json()
                    return seen[0]["state"] in ("done", "queued", "failed")

                _until(decided, "a verdict")
                state = seen[0]["state"]
            took.append(time.perf_counter() - finished[0])
            verdicts.append(str(seen[0]["verdict"]))
        alerts = client.get(f"{PREFIX}/alerts", headers=dict(lab.headers)).json()[
            "items"
        ]
    counted = ", ".join(f"{verdicts.count(one)} {one}" for one in sorted(set(verdicts)))
    middle, longest = statistics.median(took) * 1e3, max(took) * 1e3
    say(
        f"finish → stored verdict: median {middle:.0f} ms, max {longest:.0f} ms "
        f"over {jobs} jobs ({counted}; alerts: {', '.join(one['state'] for one in alerts)})"
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--rounds", type=int, default=5, help="starts of each server (default 5)"
    )
    parser.add_argument(
        "--jobs", type=int, default=12, help="jobs delivered (default 12)"
    )
    options = parser.parse_args()
    compare(options.rounds)
    latency(options.jobs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
