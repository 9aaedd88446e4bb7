"""A pull request on a real Gitea, from the push that slows an arm to the waiver with which it passes.

Only `make test-forge` has a Gitea, so `conftest.py` leaves this module out elsewhere. The effects are planted and large,
so that no other load decides a verdict. The time from the last sample to the comment is printed, and never asserted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from paceline.testing.forge_contracts import load_contract, make_contract
from paceline_contract.testing.waiting import WITHIN_S

from .gitea import OWNER, Gitea, running_gitea
from .stack import BIN, Stack, base_env, commit_all

pytestmark = [
    pytest.mark.journey,
    pytest.mark.shapes("scaled"),
    pytest.mark.timeout(900),
]

REVISIONS = Path(__file__).parent / "revisions"
GATE = """
[[derived]]
name = "sum_against_plain"
kind = "overhead_between_arms"
benchmark = "spin"
metric = "time"
arm = "sum"
base_arm = "plain"

[[gates]]
name = "half_of_plain"
derived = "sum_against_plain"
op = "<"
required = -0.5
"""
"""The arm takes a fourth of its reference's time until the reference does the same."""
SCOPES = "write:repository,write:issue"
"""What docs/ci.md asks for."""
MARKER = "<!-- paceline suite=revisions purpose=verdict -->"
Done = subprocess.CompletedProcess[str]


@pytest.fixture
def gitea(tmp_path: Path) -> Iterator[Gitea]:
    with running_gitea(tmp_path / "gitea", tmp_path) as forge:
        yield forge


@dataclass
class Checkout:
    """Somebody's clone of the repository of `revisions/`."""

    path: Path

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.path), *arguments]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def push(self, address: str, branch: str, old: str, new: str) -> str:
        """Push a commit to the branch that replaces a piece of the workload; returns the commit."""
        source = self.path / "spin.py"
        text = source.read_text()
        assert old in text
        source.write_text(text.replace(old, new))
        commit = commit_all(self.path)
        self.git("push", "-q", address, f"HEAD:refs/heads/{branch}")
        return commit


@dataclass
class Lab:
    """Paceline and the forge, with an agent that fetches from there and a pipeline's token."""

    stack: Stack
    gitea: Gitea
    repository: str
    token: str
    checkout: Checkout
    last_sample: Path
    """Where a launch writes when it took its last sample."""
    address: str

    latencies: list[float] = field(default_factory=list)
    """Seconds from a run's last sample to the event of its comment."""

    def paceline(self, *arguments: str, **env: str) -> Done:
        """Run a command of `paceline` with the server and a token in its environment."""
        env |= {
            "PACELINE_SERVER": self.stack.url,
            "PACELINE_TOKEN": self.stack.headers["Authorization"].split()[1],
        }
        return subprocess.run(
            [str(BIN / "paceline"), *arguments],
            env={**base_env(), **env},
            capture_output=True,
            text=True,
            check=False,
        )

    def submit(self, event: dict[str, Any], *options: str, token: str = "") -> Done:
        """Run `paceline submit` with the variables that Gitea's runner sets for an event."""
        file = self.stack.directory / "event.json"
        file.write_text(json.dumps(event))
        quick = () if options else ("--launches", "4", "--rounds", "12")
        done = self.paceline(
            *("submit", "revisions", "--forgejo", *quick, *options),
            GITHUB_SERVER_URL=self.gitea.url,
            GITHUB_API_URL=f"{self.gitea.url}/api/v1",
            GITHUB_REPOSITORY=self.repository,
            GITHUB_EVENT_PATH=str(file),
            GITHUB_SHA=self.checkout.git("rev-parse", "main"),
            GITEA_TOKEN=token or self.token,
        )
        assert self.token not in done.stdout + done.stderr
        return done

    def measure(self, commit: str, *options: str) -> tuple[Done, dict[str, Any]]:
        """Run the pipeline of a push to the pull request; returns how it ended, and the newest run."""
        event = self.gitea.wait_for_event(
            "pull_request", "pull_request", "head", "sha", value=commit
        )
        done = self.submit(event.payload, *options)
        if not options:
            ((_, text),) = self.comments(event.payload["number"])
            shown = self.gitea.wait_for_event(
                "issue_comment", "comment", "body", value=text
            )
            last_sample = float(self.last_sample.read_text())
            self.latencies.append(shown.arrived_at - last_sample)
        run = self.newest_run()
        assert run["commit"] == commit
        return done, run

    def newest_run(self) -> dict[str, Any]:
        run: dict[str, Any] = self.stack.get("/runs", suite="revisions")["items"][0]
        return run

    def open_pull_request(self, head: str, by: str = OWNER) -> int:
        """Open a pull request to `main`; returns its number."""
        opened = self.gitea.call(
            "POST",
            f"/repos/{self.repository}/pulls",
            by=by,
            head=head,
            base="main",
            title="Add <faster> | sums",
        )
        return int(opened["number"])

    def states(self, commit: str) -> list[str]:
        """Return the state of each of the commit's statuses, as the forge shows them."""
        shown = self.gitea.call(
            "GET", f"/repos/{self.repository}/commits/{commit}/status"
        )
        return [status["status"] for status in shown["statuses"]]

    def comments(self, number: int) -> list[tuple[int, str]]:
        """Return id and text of the pull request's comments."""
        listed = self.gitea.call(
            "GET", f"/repos/{self.repository}/issues/{number}/comments"
        )
        return [(comment["id"], comment["body"]) for comment in listed]


@pytest.fixture
def lab(stack: Stack, gitea: Gitea, tmp_path: Path) -> Lab:
    """The branch `main` with the arm that wins, and an agent that announced it."""
    repository = gitea.add_repository("sums")
    path, last_sample = tmp_path / "checkout", tmp_path / "last_sample"
    shutil.copytree(REVISIONS, path)
    source, manifest = path / "spin.py", path / "suite.toml"
    stamp = f"import pathlib\npathlib.Path({str(last_sample)!r}).write_text(str(time.time()))\n"
    source.write_text(
        source.read_text().replace('say(\n    "check"', f'{stamp}say(\n    "check"')
    )
    manifest.write_text(manifest.read_text() + GATE)
    checkout = Checkout(path)
    commit_all(path)
    address = gitea.clone_address(repository, OWNER)
    checkout.git("push", "-q", address, "main")
    stack.agent({"sums": (f"{gitea.url}/{repository}.git", "suite.toml")}, name="host")
    stack.suite("revisions")
    token = gitea.make_token(OWNER, SCOPES)
    return Lab(stack, gitea, repository, token, checkout, last_sample, address)


def test_a_pull_request_fails_is_mended_breaks_a_gate_and_passes_waived(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    """One comment and one status follow every push, and the waiver."""
    slow = lab.checkout.push(lab.address, "faster", "REPEAT = 1", "REPEAT = 60")
    number = lab.open_pull_request("faster")

    done, run = lab.measure(slow)
    assert done.returncode == 2, done.stderr
    assert run["pull_request"]["number"] == number
    (row,) = (
        item
        for item in lab.stack.get(f"/runs/{run['id']}/comparisons")["items"]
        if (item["arm"], item["sides"]) == ("sum", "revisions")
    )
    assert row["ratio"] > 10
    ((comment, text),) = lab.comments(number)
    assert text.splitlines()[:2] == [
        MARKER,
        f"### fail: revisions at {slow[:12]} against {run['base_commit'][:12]}",
    ]
    ratio_and_interval = row["words"].removeprefix("head ")
    assert f"**Slower than base:** spin: sum at head is {ratio_and_interval}" in text
    assert f"[Open the run]({lab.stack.url}/runs/{run['id']})" in text
    assert lab.states(slow) == ["failure"]

    mended = lab.checkout.push(lab.address, "faster", "REPEAT = 60", "REPEAT = 1")
    done, _ = lab.measure(mended)
    assert done.returncode == 0, done.stderr
    ((again, text),) = lab.comments(number)
    assert again == comment, "edited, not repeated"
    assert text.splitlines()[1].startswith("### pass: ")
    assert (lab.states(slow), lab.states(mended)) == (["failure"], ["success"])

    breaking = lab.checkout.push(
        lab.address, "faster", '"plain": plain', '"plain": built_in'
    )
    done, run = lab.measure(breaking)
    assert done.returncode == 2, done.stderr
    report = lab.stack.get(f"/jobs/{run['jobs'][0]['id']}/report")
    failed = [item["kind"] for item in report["reasons"] if item["verdict"] == "fail"]
    assert failed == ["gate"]
    ((again, text),) = lab.comments(number)
    assert (again, "| fail | spin | sum | gate half" in text) == (comment, True)
    assert lab.states(breaking) == ["failure"]

    reason = "sums may be slow until Monday"
    what = ("waivers", "add", "revisions", "gate", "--run", run["id"])
    waived = lab.paceline(*what, "--reason", reason, "--until", "+3d")
    assert waived.returncode == 0, waived.stderr
    done, resumed = lab.measure(breaking, "--resume", run["id"])
    assert (done.returncode, resumed["id"]) == (0, run["id"]), done.stderr
    ((again, text),) = lab.comments(number)
    assert again == comment
    assert text.splitlines()[1].startswith("### pass (waived): ")
    assert reason in text
    assert lab.states(breaking) == ["success"]

    with capsys.disabled():
        seconds = ", ".join(f"{latency:.1f}" for latency in lab.latencies)
        sys.stdout.write(f"\nlast sample to comment: {seconds} s\n")


def test_the_recorded_description_is_what_this_gitea_serves(gitea: Gitea) -> None:
    """The fake forge of the fast tests follows the record."""
    recorded = load_contract("forgejo")
    served = httpx.get(f"{gitea.url}/swagger.v1.json", timeout=WITHIN_S).json()
    terms = (recorded["source"], recorded["licence"])
    assert make_contract("forgejo", served, *terms) == recorded


def test_a_forks_commit_is_measured_only_after_a_maintainers_comment(lab: Lab) -> None:
    """The agent fetches it by its hash: no branch of the repository contains it."""
    lab.gitea.add_person("bob")
    lab.gitea.call("POST", f"/repos/{lab.repository}/forks", by="bob", name="sums")
    commit = lab.checkout.push(
        lab.gitea.clone_address("bob/sums", "bob"),
        "faster",
        "REPEAT = 1",
        "REPEAT = 60",
    )
    number = lab.open_pull_request("bob:faster", by="bob")
    opened = lab.gitea.wait_for_event(
        "pull_request", "pull_request", "head", "sha", value=commit
    )

    def comment(person: str, text: str, token: str = "") -> Done:
        lab.gitea.call(
            "POST",
            f"/repos/{lab.repository}/issues/{number}/comments",
            by=person,
            body=text,
        )
        event = lab.gitea.wait_for_event("issue_comment", "comment", "body", value=text)
        return lab.submit(event.payload, token=token)

    command = f"/paceline bench {commit}"
    refusals = (
        (lab.submit(opened.payload), "comes from a fork. A maintainer"),
        (comment("bob", command), "bob may not write"),
        (comment(OWNER, "/paceline bench"), "the comment names no commit"),
    )
    for done, refusal in refusals:
        assert (done.returncode, refusal in done.stderr) == (0, True), done.stderr
    blind = comment(OWNER, f"{command}\n", token=lab.gitea.make_token("bob", SCOPES))
    assert blind.returncode == 1
    assert "administrator of the repository" in blind.stderr
    assert lab.stack.get("/runs", suite="revisions")["items"] == []
    done = comment(OWNER, f"{command}\n\nIt was read.")
    assert done.returncode == 2, done.stderr
    assert lab.newest_run()["commit"] == commit
    assert lab.states(commit) == ["failure"]
    assert lab.comments(number)[-1][1].startswith(MARKER)
