"""Runs docker-compose.yml through a deployment's life on a real engine, and breaks what can break in it.

`scripts/test-compose` starts the engine and calls this. Each step asserts what docs/deploying.md promises; its row in
the table names its time and what was counted. The system under test is a clone of HEAD made under umask 077. Steps
build on each other: a step that is named alone runs after `start`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[1]
WORK = Path(sys.argv[1]).resolve()
CLONE = WORK / "clone"
LOG = WORK / "steps.log"
RESULT = WORK / "result.txt"
WITHIN_S = 300.0
SUITE = ("misbehaving", "backend/tests/journey/workload/suite.toml")
"""A suite in plain Python, which is built and measured in seconds, and its manifest in the clone."""
IMAGES = ("paceline-server:local", "paceline-agent:local")
OVERRIDE = f"""\
services:
  migrate: {{build: {{network: host}}}}
  agent:
    build: {{network: host}}
    volumes: ["{WORK}/agent.toml:/etc/paceline/agent.toml:ro"]
  postgres:
    volumes: ["{WORK}/initdb.d:/docker-entrypoint-initdb.d:ro"]
"""
AGENT_TOML = f"""\
[repositories.paceline]
path = "/srv/repository"
manifests = ["{SUITE[1]}"]
"""
CA = WORK / "proxy-ca.crt"
COMPOSE = (
    str(WORK / "bin" / "docker-compose"),
    *("--file", "docker-compose.yml", "--file", str(WORK / "override.yml")),
)


class StepError(Exception):
    """A step that did not hold."""


def require(condition: object, text: str) -> None:
    if not condition:
        raise StepError(text)


def wait_until(what: str, condition: Callable[[], object]) -> None:
    """Wait until `condition` holds, with errors of the connection meanwhile. Raises StepError."""
    deadline, pause = time.monotonic() + WITHIN_S, threading.Event()
    while True:
        try:
            if condition():
                return
        except httpx.TransportError:
            pass
        require(time.monotonic() < deadline, f"{what}: not within {WITHIN_S:.0f} s")
        pause.wait(0.2)


# ---- commands ----


def run_command(
    *command: str, given: bytes | None = None, status: int | None = 0, **options: Any
) -> str:
    """Run a command and return its standard output; log both outputs. Raises StepError unless it ends with `status`."""
    done = subprocess.run(
        command,
        input=given,
        stdin=subprocess.DEVNULL if given is None else None,
        capture_output=True,
        check=False,
        **options,
    )
    out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    with LOG.open("a", encoding="utf-8") as log:
        log.write(
            f"$ {' '.join(command)[:200]}\n{out[-8000:]}{err[-8000:]}[{done.returncode}]\n"
        )
    if status is not None and done.returncode != status:
        last = "; ".join((err or out).strip().splitlines()[-3:])
        raise StepError(
            f"…{' '.join(command)[-80:]} ended with {done.returncode}: {last}"
        )
    return f"{out}{err}" if status != 0 else str(out)


def docker(*arguments: str) -> str:
    return run_command("docker", *arguments).strip()


def compose(*arguments: str, given: bytes | None = None, status: int | None = 0) -> str:
    return run_command(*COMPOSE, *arguments, given=given, status=status, cwd=CLONE)


def up(*options: str) -> None:
    compose("up", "--detach", "--wait", *options)


def paceline_server(*arguments: str) -> str:
    return compose("exec", "-T", "api", "paceline-server", *arguments).strip()


def containers(*services: str, every: bool = False) -> dict[str, dict[str, Any]]:
    """Return the engine's description of each container of these services, by its name."""
    listed = compose("ps", "--quiet", *(["--all"] if every else []), *services).split()
    inspected = json.loads(docker("inspect", *listed)) if listed else []
    return {container["Name"].lstrip("/"): container for container in inspected}


def kill_process(container: dict[str, Any]) -> None:
    """Kill a container's first process, as the kernel would: the engine's own kill counts as a stop."""
    os.kill(int(container["State"]["Pid"]), signal.SIGKILL)


# ---- clients ----


def set_variable(name: str, value: str) -> None:
    file = CLONE / ".env"
    lines = [
        line
        for line in file.read_text().splitlines()
        if not line.startswith(f"{name}=")
    ]
    file.write_text("\n".join([*lines, f"{name}={value}"]) + "\n")


def sign_in(address: str, **options: Any) -> httpx.Client:
    """Return a client with a session, by a one-time link, through the proxy."""
    client = httpx.Client(
        base_url=address, timeout=60, headers={"Origin": address}, **options
    )
    link = paceline_server("sign-in-link", "--name", "alice")
    require(link.startswith(address), f"the link is {link.split('#')[0]}")
    answer = client.post(
        "/api/v1/session/link", json={"token": link.split("#token=")[1]}
    )
    require(
        answer.status_code == 200,
        f"the link was answered by {answer.status_code}: {answer.text}",
    )
    return client


class Deployment:
    """The state that steps share: a signed-in client and a token."""

    def __init__(self) -> None:
        self.client = httpx.Client()
        self.token = ""

    def runs(self) -> list[dict[str, Any]]:
        """Return the runs as the API lists them, newest first."""
        items: list[dict[str, Any]] = self.client.get("/api/v1/runs").json()["items"]
        return items

    def run_ids(self) -> list[str]:
        return [run["id"] for run in self.runs()]

    def is_measuring(self) -> bool:
        states = [job["state"] for run in self.runs() for job in run["jobs"]]
        return "measuring" in states

    @contextmanager
    def submit(self, *options: str) -> Iterator[Callable[[], str]]:
        """Yield a run that was requested; call the value to wait for its verdict, which must be a pass."""
        command = [str(ROOT / ".venv/bin/paceline"), "submit", SUITE[0], *options]
        command += ["--server", "http://localhost", "--format", "json"]
        child = subprocess.Popen(
            command,
            env={**os.environ, "PACELINE_TOKEN": self.token},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

        def verdict() -> str:
            out, _ = child.communicate(timeout=WITHIN_S)
            text = out.decode(errors="replace")
            with LOG.open("a", encoding="utf-8") as log:
                log.write(f"submit: {text[-4000:]}[{child.returncode}]\n")
            require(not child.returncode, f"submit: {child.returncode}, {text[-300:]}")
            return "pass"

        try:
            yield verdict
        finally:
            if child.poll() is None:
                child.terminate()
                child.wait(WITHIN_S)

    @contextmanager
    def submit_slow(self, *, launches: int) -> Iterator[Callable[[], str]]:
        """Yield a slow run like `submit`, which measures when the body begins and when it ends."""
        slow = ("--knob", "mode=slow", "--launches", str(launches), "--rounds", "20")
        with self.submit(*slow) as verdict:
            wait_until("the job to measure", self.is_measuring)
            yield verdict


class Load:
    """Requests one after the other through the proxy, as people's browsers make them."""

    def __init__(self, client: httpx.Client) -> None:
        self.answers: Counter[str] = Counter()
        self._over = threading.Event()
        self._cookies = dict(client.cookies)
        self._thread = threading.Thread(target=self._request)

    def _request(self) -> None:
        with httpx.Client(
            base_url="http://localhost", cookies=self._cookies, timeout=90
        ) as client:
            while not self._over.wait(0.03):
                try:
                    self.answers[str(client.get("/api/v1/session").status_code)] += 1
                except httpx.TransportError as error:
                    self.answers[type(error).__name__] += 1

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def require_answered(self) -> str:
        total, good = self.answers.total(), self.answers["200"]
        require(total > 20, f"only {total} requests were made")
        require(
            good == total,
            f"{total - good} of {total} requests failed: {dict(self.answers)}",
        )
        return f"{good} of {total} requests answered"


# ---- the steps ----


def build(_: Deployment) -> str:
    """Build the images from a clone that only its owner may read."""
    shutil.rmtree(CLONE, ignore_errors=True)
    run_command("git", "clone", "--quiet", f"file://{ROOT}", str(CLONE), umask=0o077)
    require(
        (CLONE / "alembic/env.py").stat().st_mode & 0o077 == 0,
        "the clone can be read by others",
    )
    (WORK / "override.yml").write_text(OVERRIDE)
    (WORK / "agent.toml").write_text(AGENT_TOML)
    (WORK / "initdb.d").mkdir(exist_ok=True)
    output = run_command(
        "sh",
        "-c",
        "exec scripts/compose-secrets http://localhost 2>&1",
        cwd=CLONE,
        umask=0o077,
    )
    require(
        "cannot read this clone" in output,
        "compose-secrets does not say that the clone cannot be read",
    )
    compose("build")
    remedy = next(line for line in output.splitlines() if line.startswith("  find"))
    run_command("sh", "-c", remedy, cwd=CLONE)
    require((CLONE / ".env").stat().st_mode & 0o077 == 0, "the remedy opened .env")
    for name in ("PACELINE_PRESSURE_LIMIT_PERCENT", "PACELINE_DRIFT_LIMIT_PERCENT"):
        set_variable(name, "100")
    bases = {
        "paceline-server:local": "python:3.11-slim-bookworm",
        "paceline-agent:local": "rust:1-bookworm",
    }
    own_bytes = [size_of(image) - size_of(base) for image, base in bases.items()]
    sizes = " and ".join(f"{size / 1e6:.0f} MB" for size in own_bytes)
    return f"own layers of server and agent: {sizes}"


def size_of(image: str) -> int:
    return int(docker("image", "inspect", "--format", "{{.Size}}", image))


def images_hold_no_configuration(_: Deployment) -> str:
    """Check that no layer or description of an image holds this host's access to packages."""
    forbidden = WORK / "forbidden.txt"
    count = len(forbidden.read_text().splitlines())
    require(count, "nothing is forbidden")
    for image in IMAGES:
        command = f"docker save {image} | grep --text --count --fixed-strings --file"
        count_text = run_command(
            "sh", "-c", f"{command} {forbidden}", status=None
        ).strip()
        require(
            count_text == "0",
            f"{image} has {count_text} lines with the configuration of this host",
        )
    (WORK / "present.txt").write_text("PACELINE_MIGRATIONS_DIR\n")
    present = run_command(
        "sh", "-c", f"docker save {IMAGES[0]} | grep -acFf {WORK}/present.txt"
    )
    require(int(present) > 0, "the search finds nothing that is there")
    return f"{count} texts in neither image"


def start(_: Deployment) -> str:
    began = time.monotonic()
    up()
    took = time.monotonic() - began
    running = containers()
    states = {
        name: box["State"].get("Health", {}).get("Status", "-")
        for name, box in running.items()
    }
    require(len(running) == 8, f"running: {sorted(running)}")
    require(set(states.values()) <= {"healthy", "-"}, f"states: {states}")
    restarts = {
        name: box["RestartCount"]
        for name, box in running.items()
        if box["RestartCount"]
    }
    require(not restarts, f"started again: {restarts}")
    return f"8 containers up and healthy in {took:.0f} s"


def sign_in_through_proxy(state: Deployment) -> str:
    first = compose("exec", "-T", "api", "paceline-server", "sign-in-link", status=1)
    require("There is no account yet" in first, f"without an account: {first}")
    paceline_server("account", "create", "alice", "--admin")
    state.client = sign_in("http://localhost")
    who = state.client.get("/api/v1/session").json()
    require(who["account"]["name"] == "alice", f"signed in as {who}")
    state.token = paceline_server("token", "create", "ci")
    redirect = httpx.get("http://127.0.0.1/targets?x=1")
    where = redirect.headers.get("location")
    require(
        (redirect.status_code, where) == (307, "http://localhost/targets?x=1"),
        f"{redirect.status_code} to {where}",
    )
    return "account, link, session; another name leads to the right one"


def inside_only(state: Deployment) -> str:
    for path in ("/metrics", "/readyz"):
        answer = state.client.get(path)
        require(
            answer.status_code == 404,
            f"{path} is answered by {answer.status_code} outside",
        )
        code = f"import urllib.request as r; print(r.urlopen('http://127.0.0.1:8321{path}').status)"
        inside = compose("exec", "-T", "api", "python", "-c", code).strip()
        require(inside == "200", f"{path} is answered by {inside} inside")
    return "404 outside, 200 inside"


def run_to_verdict(state: Deployment) -> str:
    target = state.client.get("/api/v1/targets").json()["items"][0]
    require(target["name"] == "agent", f"the target is called {target['name']}")
    with state.submit("--launches", "5") as verdict:
        return verdict()


def idle_memory(_: Deployment) -> str:
    form = "{{.Name}} {{.MemUsage}}"
    rows = docker("stats", "--no-stream", "--format", form).splitlines()
    used = {row.split()[0].removeprefix("paceline-"): row.split()[1] for row in rows}
    require(len(used) == 8, f"rows: {rows}")
    return ", ".join(f"{name} {size}" for name, size in sorted(used.items()))


def scale(state: Deployment) -> str:
    before = containers()
    with Load(state.client) as load:
        for replicas in ("3", "2"):
            set_variable("PACELINE_API_REPLICAS", replicas)
            up()
            ids = {name: box["Id"] for name, box in containers().items()}
            changed = [
                name for name, box in before.items() if ids.get(name) != box["Id"]
            ]
            require(not changed, f"with {replicas}, made anew: {changed}")
    return f"no container made anew; {load.require_answered()}"


def rolling_restart(state: Deployment) -> str:
    with Load(state.client) as load:
        for name in sorted(containers("api")):
            docker("restart", name)
            wait_until(f"{name} to be healthy", partial(is_healthy, name))
    return load.require_answered()


def is_healthy(name: str) -> bool:
    return docker("inspect", "--format", "{{.State.Health.Status}}", name) == "healthy"


def postgres_killed(state: Deployment) -> str:
    (database,) = containers("postgres").values()
    statuses: Counter[int] = Counter()
    kill_process(database)
    began = time.monotonic()

    def is_answered() -> bool:
        status = state.client.get("/api/v1/session").status_code
        statuses[status] += 1
        return status == 200 and statuses[503] > 0

    wait_until("an answer with the database", is_answered)
    took = time.monotonic() - began
    require(set(statuses) <= {200, 503}, f"statuses: {dict(statuses)}")
    restarted = [
        name for name, box in containers("api", "worker").items() if box["RestartCount"]
    ]
    require(not restarted, f"ended with the database: {restarted}")
    return f"{statuses[503]} answers of 503, 200 after {took:.1f} s"


def redis_lost_in_job(state: Deployment) -> str:
    with state.submit_slow(launches=12) as verdict:
        compose("exec", "-T", "redis", "redis-cli", "flushall")
        compose("restart", "redis")
        require(state.is_measuring(), "the job ended before Redis was back")
        return f"{verdict()}, flushed and restarted"


def upgrade_in_job(state: Deployment) -> str:
    """Change all of our images; the job that runs meanwhile passes, and requests wait."""
    before = {
        name: box["Image"] for name, box in containers("api", "worker", "agent").items()
    }
    for path in ("backend/paceline_server/__init__.py", "runners/paceline/__init__.py"):
        with (CLONE / path).open("a") as module:
            module.write("\n# Another version.\n")
    compose("build")
    with state.submit_slow(launches=30) as verdict, Load(state.client) as load:
        up("api", "worker", "proxy")
        require(state.is_measuring(), "the job ended before the agent was replaced")
        up()
        decided = verdict()
    after = {
        name: box["Image"] for name, box in containers("api", "worker", "agent").items()
    }
    old = [name for name, image in after.items() if image in before.values()]
    require(not old and len(after) == len(before), f"of the old version: {old}")
    return f"{decided}; {load.require_answered()}"


FORGE = """
import json, urllib.request as request, urllib.error as errors
body = json.dumps({"email": "alice@example.org", "password": "wrong guess"}).encode()
answers = []
for number in range(12):
    headers = {"Content-Type": "application/json", "Origin": "https://localhost"}
    headers["Host"] = "localhost"
    headers["X-Forwarded-For"] = f"203.0.113.{number}"
    try:
        request.urlopen(request.Request("http://api:8321/api/v1/session", body, headers))
    except errors.HTTPError as error:
        answers.append(error.code)
print(answers)
"""


def https_and_forged_addresses(_: Deployment) -> str:
    """Check a certificate, a browser, and a workload that pretends to be many clients."""
    set_variable("PACELINE_PUBLIC_URL", "https://localhost")
    up()
    root = "/data/caddy/pki/authorities/local/root.crt"
    CA.write_text(compose("exec", "-T", "proxy", "cat", root))
    client = sign_in("https://localhost", verify=str(CA))
    require(
        all(cookie.secure for cookie in client.cookies.jar), "a cookie is not Secure"
    )
    answer = client.get("/api/v1/session")
    require(
        "alt-svc" not in answer.headers, f"offered: {answer.headers.get('alt-svc')}"
    )
    plain = httpx.get("http://localhost/")
    require(
        plain.headers.get("location") == "https://localhost/",
        f"http leads to {plain.headers}",
    )
    link = paceline_server("sign-in-link", "--name", "alice")
    page = run_command(
        *(
            os.environ["CHROMIUM"],
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
        ),
        *(
            "--ignore-certificate-errors",
            "--virtual-time-budget=30000",
            "--timeout=60000",
        ),
        *(f"--user-data-dir={WORK}/chromium", link),
    )
    shown = re.sub("<[^>]+>", " ", page)
    require(SUITE[0] in shown, f"the page does not show the runs: {shown[-300:]}")
    answers = json.loads(compose("exec", "-T", "agent", "python3", "-c", FORGE))
    require(answers[0] == 401 and 429 in answers, f"guesses: {answers}")
    set_variable("PACELINE_PUBLIC_URL", "http://localhost")
    up()
    return (
        "verified certificate, secure cookie, runs in Chromium; "
        f"under 12 forged addresses {answers.count(401)} guesses"
    )


def down_and_up(state: Deployment) -> str:
    before = state.run_ids()
    compose("stop", "agent")
    compose("down")
    require(not containers(every=True), "containers are left")
    up()
    require(before and state.run_ids() == before, "runs are gone")
    return f"{len(before)} runs and the session are still there"


def restore_into_fresh_system(state: Deployment) -> str:
    """Restore as docs/deploying.md says, onto volumes whose first initialisation is slow."""
    on_database = ("exec", "-T", "postgres")
    dump_command = [
        "pg_dump",
        "--username",
        "paceline",
        "--format",
        "custom",
        "paceline",
    ]
    dump = subprocess.run(
        [*COMPOSE, *on_database, *dump_command], cwd=CLONE, stdout=PIPE, check=True
    ).stdout
    runs = state.run_ids()
    compose("down", "--volumes")
    slow = WORK / "initdb.d" / "slow.sh"
    slow.write_text("sleep 25\n")
    up()
    slow.unlink()
    (migration,) = containers("migrate", every=True).values()
    require(migration["State"]["ExitCode"] == 0, "the migration failed meanwhile")
    compose("stop", "agent", "proxy", "worker", "api")
    for command in (
        "dropdb --username paceline --force paceline",
        "createdb paceline --username paceline",
    ):
        compose(*on_database, *command.split())
    restore = "pg_restore --username paceline --dbname paceline --exit-on-error"
    compose(*on_database, *restore.split(), given=dump)
    up()
    require(state.run_ids() == runs, f"restored: {state.run_ids()}, dumped: {runs}")
    wait_until(
        "the agent to be refused",
        lambda: "is not started again" in compose("logs", "agent"),
    )
    (agent,) = containers("agent").values()
    require(agent["RestartCount"] == 0, "the agent was started again and again")
    credential = "/var/lib/paceline-agent/data/credential.json"
    compose("exec", "-T", "agent", "rm", credential)
    up("--force-recreate", "enrolment", "agent")
    wait_until(
        "the agent to be ready", lambda: "ready: target" in compose("logs", "agent")
    )
    wait_until("the enrolment to end", lambda: not containers("enrolment"))
    return (
        f"slow first start held; {len(runs)} runs restored; "
        "the agent ended once and was enrolled again"
    )


def stop_signals(_: Deployment) -> str:
    compose("stop")
    codes = {
        name: box["State"]["ExitCode"] for name, box in containers(every=True).items()
    }
    wrong = {name: code for name, code in codes.items() if code}
    require(not wrong, f"ended with: {wrong}")
    plain = [
        line
        for line in compose("logs", "--no-log-prefix", "worker", "api").splitlines()
        if not line.startswith("{")
    ]
    require(not plain, f"among the JSON: {plain[:3]}")
    return f"{len(codes)} containers ended with 0; all lines of the server are JSON"


STEPS: dict[str, Callable[[Deployment], str]] = {
    step.__name__: step
    for step in (
        build,
        images_hold_no_configuration,
        start,
        sign_in_through_proxy,
        inside_only,
        run_to_verdict,
        idle_memory,
        scale,
        rolling_restart,
        postgres_killed,
        redis_lost_in_job,
        upgrade_in_job,
        https_and_forged_addresses,
        down_and_up,
        restore_into_fresh_system,
        stop_signals,
    )
}
NEEDED = ("build", "start", "sign_in_through_proxy")
"""The steps that run before a step that is named alone."""


def write_row(row: str) -> None:
    """Add a row to the table of the result, and show it."""
    sys.stdout.write(row + "\n")
    sys.stdout.flush()
    with RESULT.open("a", encoding="utf-8") as table:
        table.write(row + "\n")


def main() -> int:
    named = sys.argv[2:]
    unknown = [name for name in named if name not in STEPS]
    if unknown:
        sys.exit(f"test-compose: no step {unknown[0]!r}; they are {', '.join(STEPS)}")
    chosen = [name for name in STEPS if not named or name in named or name in NEEDED]
    LOG.unlink(missing_ok=True)
    RESULT.unlink(missing_ok=True)
    commit = run_command("git", "rev-parse", "--short", "HEAD", cwd=ROOT).strip()
    engine = docker("version", "--format", "{{.Server.Version}}")
    date = time.strftime("%F", time.gmtime())
    write_row(
        f"test-compose of {commit}, {date}, Docker {engine}, {os.cpu_count()} CPUs"
    )
    state, began = Deployment(), time.monotonic()
    for name in chosen:
        started = time.monotonic()
        try:
            outcome, failed = STEPS[name](state), False
        except (StepError, httpx.HTTPError, subprocess.SubprocessError) as error:
            outcome, failed = f"FAILED: {error}", True
        row = f"  {name:<28} {time.monotonic() - started:6.1f} s  {outcome}"
        write_row(row)
        if failed:
            compose("logs", "--no-color", "--tail", "50", status=None)
            return 1
    write_row(f"{len(chosen)} steps passed in {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
