"""Does the six tasks of a new user's first day with the commands that the documents print.

One server of `paceline-server up`, with a simulated phone, serves all of them. Nothing judges a time: verdicts come
from planted effects of at least twofold.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from paceline_contract.testing.ports import reserved_port
from paceline_contract.testing.waiting import WITHIN_S, wait_until
from printed_commands import block, fill, run_in_shell

from .stack import SHARED_HOST, WITHOUT_PAUSES, Stack, base_env, commit_all

pytestmark = [pytest.mark.journey, pytest.mark.timeout(900)]

REVISIONS = Path(__file__).parent / "revisions"
PHONE = Path(__file__).parent / "device"
QUICK = {"launches": 3, "rounds": 12, "min_time_ns": 200_000}
PATIENT = {"PACELINE_HEARTBEAT_S": "5"}
"""After three missing heartbeats no command may request a run. The commands are printed ones, which do not try again."""
ADDRESS = "https://paceline.example.org"
Done = subprocess.CompletedProcess[str]


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(
        command, check=True, capture_output=True, text=True
    ).stdout.strip()


def replace_in(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{old} is not in {path}"
    path.write_text(text.replace(old, new), encoding="utf-8")


@dataclass
class Revisions:
    """The repository of `revisions/`: an arm that wins on `main`, is slow on `slow`, is not checked on `unchecked`, and
    whose check fails on `wrong`."""

    path: Path
    quick: str
    slow: str
    unchecked: str
    wrong: str

    @classmethod
    def make(cls, path: Path) -> Revisions:
        shutil.copytree(REVISIONS, path)
        quick = commit_all(path)

        def branch(name: str, old: str, new: str) -> str:
            git(path, "checkout", "-q", "-b", name, "main")
            replace_in(path / "spin.py", old, new)
            commit = commit_all(path)
            git(path, "checkout", "-q", "main")
            return commit

        check = 'say(\n    "check",'
        return cls(
            path,
            quick,
            branch("slow", "REPEAT = 1", "REPEAT = 60"),
            branch("unchecked", check, f"None and {check}"),
            branch("wrong", "== 1_999_000", "== 1"),
        )


def phone_repository(path: Path) -> Path:
    """The device's suite, with launches that wait for nobody."""
    shutil.copytree(PHONE, path)
    replace_in(path / "steps.sh", 'until [ -e "$TMPDIR/go" ]; do sleep 0.05; done', ":")
    commit_all(path)
    return path


@dataclass
class Day:
    """A new user's files, server and shell."""

    root: Path
    env: dict[str, str]
    """What the user has exported."""
    began: str

    @property
    def clone(self) -> Path:
        """What stands for the clone of Paceline: the server's data are in `var`."""
        return self.root / "paceline"

    @property
    def mine(self) -> Path:
        """The user's repository, with the suite that `paceline new` wrote."""
        return self.root / "mine"

    def run(self, text: str, cwd: Path | None = None, **env: str) -> Done:
        return run_in_shell(text, cwd or self.clone, **{**self.env, **env})

    def output(self, text: str, cwd: Path | None = None, **env: str) -> str:
        """The standard output of commands that succeed."""
        done = self.run(text, cwd, **env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def output_of_server(self, text: str) -> str:
        """The output of commands on the server, in a shell that knows its data as README says."""
        return self.output(block("README.md", "path") + text).strip()

    def checkout(self, repository: Path, name: str, *branch: str) -> Path:
        """A checkout of its own, so that the agent goes on to see the repository as it is."""
        path = self.root / name
        git(self.root, "clone", "-q", str(repository), str(path))
        git(path, "checkout", "-q", *branch)
        return path


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    root = tmp_path_factory.mktemp("day")
    env = {**base_env(), **SHARED_HOST, "HOME": str(root)}
    day = Day(root, env, datetime.now(UTC).isoformat())
    for directory in (day.clone, day.mine):
        directory.mkdir()
    return day


@pytest.fixture(scope="module")
def first_commands(day: Day) -> Done:
    """The outcome of the first commands in the user's own repository. It is committed then, with a knob."""
    done = day.run(block("docs/bring-your-own-suite.md", "first"), day.mine)
    (day.mine / ".gitignore").write_text("build/\n", encoding="utf-8")
    commit_all(day.mine)
    knob = block("docs/bring-your-own-suite.md", "knob")
    with (day.mine / "bench" / "suite.toml").open("a", encoding="utf-8") as manifest:
        manifest.write(fill(f"\n{knob}", {'"parse"': '"largest"', '"fast"': '"heap"'}))
    workload = day.mine / "bench" / "top_ten.py"
    replace_in(workload, '"top_ten")', '"top_ten", knobs={"slow_percent": 0})')
    once = "heapq.nlargest(10, data)"
    again = f'for _ in range(work.knobs["slow_percent"] // 100):\n        {once}'
    replace_in(workload, f"    return {once}", f"    {again}\n    return {once}")
    commit_all(day.mine)
    return done


@pytest.fixture(scope="module")
def revisions(day: Day) -> Revisions:
    return Revisions.make(day.root / "revisions")


@pytest.fixture(scope="module")
def stack(day: Day, first_commands: Done, revisions: Revisions) -> Iterator[Stack]:
    """What `make run DEVICES=1 REPOSITORY=…` starts, and a client with the documented token for CI."""
    phone = phone_repository(day.root / "phone")
    data = day.clone / "var"
    with ExitStack() as resources:
        port = str(resources.enter_context(reserved_port()))
        day.env["PACELINE_SERVER"] = f"http://127.0.0.1:{port}"
        stack = Stack(
            day.env["PACELINE_SERVER"],
            {**base_env(), **SHARED_HOST, **WITHOUT_PAUSES, **PATIENT},
            day.root,
            resources,
            {},
        )
        own = [
            argument
            for path in (day.mine, revisions.path, phone)
            for argument in ("--repository", str(path))
        ]
        options = ("--no-first-run", "--devices", "1", "--port", port, *own)
        stack.start("up", "paceline-server", "up", "--data", str(data), *options)
        wait_until("the server", stack.is_ready)
        token = day.output_of_server(block("docs/ci.md", "shell token"))
        stack.client.headers["Authorization"] = f"Bearer {token}"
        day.env["PACELINE_TOKEN"] = token
        yield stack


def measure(stack: Stack, suite: str, **options: Any) -> Any:
    """The job of a run that is measured and judged."""
    job = stack.job_in(stack.measure(suite, **options), "done", "failed")
    assert job["state"] == "done", job
    return job


@pytest.fixture(scope="module")
def own_job(stack: Stack) -> Any:
    return measure(stack, "top_ten", **QUICK)


@pytest.fixture(scope="module")
def alert(stack: Stack, own_job: Any) -> str:
    """The id of an open alert about an arm that its knob makes several times slower."""
    slowed = measure(stack, "top_ten", **QUICK, knobs={"slow_percent": 1000})
    assert slowed["verdict"] == "fail", slowed
    (found,) = wait_until(
        "the alert to be confirmed",
        lambda: stack.get("/alerts", suite="top_ten", state="open")["items"],
    )
    return str(found["id"])


@pytest.fixture(scope="module")
def phone(stack: Stack) -> Any:
    """The simulated phone, once it is checked and good."""

    def good() -> Any:
        found = stack.get("/targets", kind="device", health="good")["items"]
        return found[0] if found else None

    return wait_until("the simulated phone to be good", good)


@pytest.fixture(scope="module")
def phone_job(stack: Stack, phone: Any) -> Any:
    """A job on the phone with the options that a form begins with: nothing is suppressed."""
    options = {"launches": 3, "rounds": 12, "benchmarks": ["step"]}
    return measure(stack, "waiting", targets=[phone["id"]], **options)


def test_an_own_suite_is_written_measured_served_and_judged(
    stack: Stack, first_commands: Done, own_job: Any
) -> None:
    assert first_commands.returncode in {0, 2, 3}, first_commands.stderr
    assert "largest" in first_commands.stdout
    report = stack.get(f"/jobs/{own_job['id']}/report")
    assert [(check["name"], check["ok"]) for check in report["checks"]] == [
        ("arms_agree", True)
    ]
    assert {row["verdict"] for row in report["comparisons"]} <= {
        "pass",
        "fail",
        "inconclusive",
    }
    assert {row["params"]["values"] for row in report["comparisons"]} == {1000, 10000}


def test_ci_exits_by_the_verdict(
    day: Day, stack: Stack, revisions: Revisions, tmp_path: Path
) -> None:
    """Every verdict has the exit of the page's table, by the recipe with curl and by `paceline submit`."""
    stack.suite("revisions")
    made = day.output(
        block("docs/ci.md", "token"),
        tmp_path,
        LINK=day.output_of_server("paceline-server sign-in-link"),
    )
    assert not (tmp_path / "session.txt").exists()
    secret = re.search(r'"secret":\s*"(plt_[^"]+)"', made)
    assert secret is not None, made
    for commit, status, word in (
        (revisions.quick, 0, "pass: "),
        (revisions.slow, 2, "fail: "),
        (revisions.unchecked, 3, "inconclusive: "),
        (revisions.wrong, 1, "failed: "),
    ):
        done = day.run(
            fill(block("docs/ci.md", "request"), {"hashing": "revisions"}),
            tmp_path,
            PACELINE_TOKEN=secret[1],
            COMMIT=commit,
        )
        assert done.returncode == status, done.stdout + done.stderr
        assert done.stdout.startswith(word)
    values = {ADDRESS: stack.url, "plt_…": secret[1], "hashing": "revisions"}
    submit = fill(block("docs/ci.md", "submit"), values)
    day.output(submit, tmp_path, COMMIT=revisions.quick)
    formats = fill(block("docs/ci.md", "formats"), {"hashing": "revisions"})
    day.output(formats, tmp_path)
    assert "<testsuite" in (tmp_path / "verdicts.xml").read_text(encoding="utf-8")
    assert "revisions" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_two_commits_are_compared_by_a_suite_and_by_a_command(
    day: Day, first_commands: Done, revisions: Revisions, tmp_path: Path
) -> None:
    lines = block("docs/harnesses.md", "two commits")
    slower = day.run(lines, day.checkout(revisions.path, "slower", "slow"))
    assert slower.returncode == 2, slower.stdout + slower.stderr
    assert "verdict: FAIL - spin: sum at head is " in slower.stdout

    documents = day.checkout(day.mine, "documents", "-b", "documents")
    (documents / "README.md").write_text("Only words.\n", encoding="utf-8")
    commit_all(documents)
    same = day.output(lines, documents)
    assert same.count("PASS - nothing slower: ") == 2, same

    program = tmp_path / "convert"
    (tmp_path / "input.png").touch()
    for seconds in ("0.01", "0.1"):
        program.write_text(f"#!/bin/sh\nsleep {seconds}\n", encoding="utf-8")
        program.chmod(0o755)
        commit_all(tmp_path)
        if seconds == "0.01":
            git(tmp_path, "checkout", "-q", "-b", "slower")
    done = day.run(block("docs/harnesses.md", "command"), tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "slower" in done.stdout


def test_an_alert_is_understood_and_decided(
    day: Day, alert: str, tmp_path: Path
) -> None:
    token = day.output_of_server(block("docs/rules.md", "token"))
    names = {"ALERT": alert}

    def do(text: str) -> str:
        return day.output(text, tmp_path, PACELINE_TOKEN=token)

    looked_at = do(fill(block("docs/rules.md", "look"), names))
    assert alert in looked_at
    assert "heap" in looked_at
    assert "slower" in looked_at
    saved = do(block("docs/rules.md", "save"))
    assert "In the last 30 days it would not have fired." in saved
    muted = do(fill(block("docs/rules.md", "mute"), names))
    assert "ledger is no longer muted." in muted
    assert "by triage: fan is broken" in do(f"paceline alerts show {alert}")
    decided = do(fill(block("docs/rules.md", "decide"), names))
    states = re.findall(rf"^{alert}: (\w+)$", decided, re.MULTILINE)
    assert states == ["acknowledged", "acknowledged", "expected", "open"]
    batch = re.search(r"paceline alerts undo (\S+)", do(block("docs/rules.md", "bulk")))
    assert batch is not None
    assert json.loads(do(f"paceline alerts show {alert} --json"))["state"] == "infra"
    do(fill(block("docs/rules.md", "undo"), {"BATCH": batch[1]}))
    assert json.loads(do(f"paceline alerts show {alert} --json"))["state"] == "open"


def test_a_simulated_phone_passes_by_default_and_is_taken_out_of_service(
    day: Day, stack: Stack, phone: Any, phone_job: Any
) -> None:
    assert phone_job["verdict"] == "pass", phone_job
    assert "simulated" in phone_job["reason"]
    shown = day.run(block("docs/android.md", "simulated"))
    assert shown.returncode in {0, 1}, shown.stderr
    assert shown.stdout.count(phone["serial"]) >= 2, shown.stdout

    with httpx.Client(
        base_url=stack.url, headers={"Origin": stack.url}, timeout=WITHIN_S
    ) as browser:
        link = day.output_of_server("paceline-server sign-in-link")
        signed_in = {"token": link.partition("token=")[2]}
        assert browser.post("/api/v1/session/link", json=signed_in).is_success
        wanted = {
            "name": "targets",
            "permissions": ["project.read", "installation.admin"],
        }
        made = browser.post("/api/v1/tokens", json=wanted)
        assert made.is_success, made.text
    commands = fill(block("docs/android.md", "targets"), {"TARGET": phone["id"]})
    said = day.output(commands, PACELINE_TOKEN=made.json()["secret"])
    assert "(simulated)" in said
    events = stack.get(f"/targets/{phone['id']}/events", axis="health")["items"]
    (released,) = (
        event["evidence"]
        for event in events
        if event["evidence"].get("reason") == "new cable"
    )
    assert "loose cable" in released["was"]
    wait_until(
        "the released phone to be good again",
        lambda: stack.get(f"/targets/{phone['id']}")["health"]["state"] == "good",
    )


def test_the_three_questions_have_one_answer_each(
    day: Day, stack: Stack, own_job: Any, alert: str, phone_job: Any
) -> None:
    """What the pages *Overview*, *Arms* and *Noise* ask for, of what the day measured."""
    news = stack.get("/since", **{"from": day.began})
    assert alert in [item["id"] for item in news["alerts"]]
    standings = {
        (row["benchmark"], row["arm"], row["target_id"]): row["standing"]
        for row in stack.get("/arms/standings")["rows"]
    }
    host = own_job["target_id"]
    assert standings["largest", "heap", host] in {"won", "lost", "undecided"}
    assert standings["step", "long", phone_job["target_id"]] == "won"
    ranked = stack.get("/targets-by-noise")["targets"]
    assert ranked[0]["target_id"] == host
    assert ranked[0]["jobs"] >= 1
    assert [target["simulated"] for target in ranked[1:]] in ([], [True])
