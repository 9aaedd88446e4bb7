"""The ready files in ci/, executed: their script parts with the variables that each system sets, against a server and
a forge on loopback sockets. The client is installed by the scripts themselves, from wheels and from the source.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from paceline.testing.fake_forge import TOKEN, FakeForge
from paceline.testing.fake_server import FakeServer

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
HEAD = "a" * 40
RUN = {
    "id": "run_1",
    "suite": "hashing",
    "commit": HEAD,
    "state": "done",
    "outcome": "fail",
    "reason": "sha256 is 9.8 % slower",
    "jobs": [],
}


@pytest.fixture(scope="module")
def dependencies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dependencies and build tools of the client, without the client: pip finds them installed and needs no
    index.
    """
    directory = tmp_path_factory.mktemp("dependencies")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("paceline", "_paceline", "_virtualenv")):
            (directory / entry.name).symlink_to(entry)
    return directory


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The wheels of the client, as PACELINE_PACKAGES."""
    directory = tmp_path_factory.mktemp("wheels")
    for member in ("contract", "runners"):
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
        subprocess.run(
            [*build, "-d", str(directory)],
            cwd=ROOT / member,
            check=True,
            capture_output=True,
        )
    return " ".join(map(str, sorted(directory.glob("*.whl"))))


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        running.run, running.markdown = dict(RUN), "### fail: hashing\n"
        yield running


def run_script(
    shell: list[str], text: str, cwd: Path, dependencies: Path, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs a script as the CI system does, in an empty directory and without an index for pip."""
    script = cwd / "script.sh"
    script.write_text(text)
    return subprocess.run(
        [*shell, str(script)],
        cwd=cwd,
        env={
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "HOME": str(cwd),
            "PYTHONPATH": str(dependencies),
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # pip reads it as "no isolation"
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **env,
        },
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def check(
    done: subprocess.CompletedProcess[str], forge: FakeForge, where: tuple[str, int]
) -> None:
    """The pipeline fails with the verdict, which is reported at the commit and in the pull request."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert TOKEN not in done.stdout + done.stderr
    assert len(forge.statuses) == 2
    assert forge.statuses[-1].commit == HEAD
    assert forge.statuses[-1].description == "fail: sha256 is 9.8 % slower"
    assert [text.endswith("### fail: hashing") for text in forge.texts(*where)] == [
        True
    ]


def read_yaml(path: str) -> Any:
    return yaml.safe_load((ROOT / "ci" / path).read_text(encoding="utf-8"))


def expand(value: str, known: dict[str, str]) -> str:
    """The `${{ … }}` of Actions; an unknown one fails the test."""
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: known[match[1]], value)


def actions_variables(forge: FakeForge, cwd: Path) -> dict[str, str]:
    """The variables that GitHub and Forgejo set for a pull request."""
    event = cwd / "event.json"
    head = {"sha": HEAD, "repo": {"full_name": "ann/sorts"}}
    event.write_text(json.dumps({"pull_request": {"number": 7, "head": head}}))
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": forge.api_url,
        "GITHUB_REPOSITORY": "ann/sorts",
        "GITHUB_SHA": "b" * 40,
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_EVENT_PATH": str(event),
    }


def test_the_github_action_installs_from_its_own_checkout_and_writes_the_step_summary(
    server: FakeServer, dependencies: Path, tmp_path: Path
) -> None:
    action = read_yaml("github/action.yml")
    (step,) = action["runs"]["steps"]
    inputs = {name: str(item.get("default")) for name, item in action["inputs"].items()}
    inputs |= {
        "suite": "hashing",
        "server": server.url,
        "token": server.credential,
        "arguments": "--launches 3",
    }
    known = {f"inputs.{name}": value for name, value in inputs.items()}
    known |= {"github.token": TOKEN, "github.action_path": str(ROOT / "ci" / "github")}
    known["inputs.github-token"] = expand(inputs["github-token"], known)
    summary = tmp_path / "summary.md"
    with FakeForge("github") as forge:
        env = {name: expand(value, known) for name, value in step["env"].items()}
        env |= actions_variables(forge, tmp_path)
        env |= {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
        done = run_script(shell, step["run"], tmp_path, dependencies, env)
        check(done, forge, ("ann/sorts", 7))
    assert summary.read_text() == "### fail: hashing\n"
    assert server.requested[0]["launches"] == 3


def test_the_forgejo_workflow_runs(
    server: FakeServer, dependencies: Path, wheels: str, tmp_path: Path
) -> None:
    workflow = read_yaml("forgejo/paceline.yml")
    (step,) = workflow["jobs"]["benchmarks"]["steps"]
    known = {
        "vars.PACELINE_SERVER": server.url,
        "vars.PACELINE_PACKAGES": wheels,
        "secrets.PACELINE_TOKEN": server.credential,
        "github.token": TOKEN,
    }
    with FakeForge("forgejo") as forge:
        env = {name: expand(value, known) for name, value in step["env"].items()}
        env |= actions_variables(forge, tmp_path)
        done = run_script(["bash", "-e"], step["run"], tmp_path, dependencies, env)
        check(done, forge, ("ann/sorts", 7))


def test_the_gitlab_template_runs_and_leaves_its_report(
    server: FakeServer, dependencies: Path, wheels: str, tmp_path: Path
) -> None:
    job = read_yaml("gitlab/paceline.gitlab-ci.yml")[".paceline"]
    with FakeForge("gitlab") as forge:
        env = job["variables"] | {
            "PACELINE_SUITE": "hashing",
            "PACELINE_SERVER": server.url,
            "PACELINE_TOKEN": server.credential,
            "PACELINE_PACKAGES": wheels,
            "PACELINE_ARGUMENTS": "--format markdown --output paceline.md",
            "GITLAB_CI": "true",
            "GITLAB_TOKEN": TOKEN,
            "CI_API_V4_URL": forge.api_url,
            "CI_PROJECT_ID": "42",
            "CI_PIPELINE_ID": "9",
            "CI_COMMIT_SHA": HEAD,
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "42",
        }
        text = "\n".join(job["script"])
        shell = ["bash", "-eo", "pipefail"]
        done = run_script(shell, text, tmp_path, dependencies, env)
        check(done, forge, ("42", 7))
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).exists()


@pytest.mark.parametrize("number", ["7", ""])
def test_the_jenkinsfile_runs_for_pull_requests_and_branches(
    server: FakeServer, dependencies: Path, wheels: str, tmp_path: Path, number: str
) -> None:
    text = (ROOT / "ci" / "jenkins" / "Jenkinsfile").read_text(encoding="utf-8")
    script = re.search(r"sh '''(.*?)'''", text, re.DOTALL)
    assert script is not None
    body = script[1].replace("\\\n", "")  # Groovy joins these lines
    environment = dict(re.findall(r"^    ([A-Z_]+) = '(.*)'$", text, re.MULTILINE))
    with FakeForge("github") as forge:
        env = environment | {
            "PACELINE_SERVER": server.url,
            "PACELINE_PACKAGES": wheels,
            "PACELINE_TOKEN": server.credential,
            "PACELINE_FORGE_TOKEN": TOKEN,
            "FORGE_URL": forge.api_url,
            "REPOSITORY": "ann/sorts",
            "GIT_COMMIT": HEAD,
            "BRANCH_NAME": "PR-7" if number else "main",
        }
        if number:
            env |= {"CHANGE_ID": number, "CHANGE_TARGET": "main"}
        done = run_script(["sh", "-xe"], body, tmp_path, dependencies, env)
        if number:
            check(done, forge, ("ann/sorts", 7))
        else:
            assert done.returncode == 2, done.stderr
            assert forge.comments == {}
    assert server.requested[0].get("branch") == (None if number else "main")
    assert server.requested[0].get("base_branch") == ("main" if number else None)


@pytest.mark.parametrize(
    "path",
    ["gitlab/paceline.gitlab-ci.yml", "jenkins/Jenkinsfile", "forgejo/paceline.yml"],
)
def test_no_ci_file_installs_from_an_index_where_anybody_could_own_the_name(
    path: str,
) -> None:
    text = (ROOT / "ci" / path).read_text(encoding="utf-8")
    assert re.findall(r"pip install --quiet (.*)", text) == ["$PACELINE_PACKAGES"]
