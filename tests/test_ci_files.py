"""The ready files in ci/, executed: their script parts with the variables that each system sets, against a server and
a forge on loopback sockets. The client is installed by the scripts themselves, from wheels and from the source.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from paceline.testing.fake_forge import (
    TOKEN,
    Artifact,
    FakeForge,
    own_pull_request,
)
from paceline.testing.fake_server import FakeServer
from paceline.testing.suites import MANIFEST, WORKLOAD

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
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
    """The wheels of the client that `make dist` builds, as PACELINE_PACKAGES."""
    directory = tmp_path_factory.mktemp("wheels")
    built = subprocess.run(
        ["scripts/dist", "--to", str(directory), "contract", "runners"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    names = [
        f"{package}-{version}{kind}"
        for package in ("paceline", "paceline_contract")
        for kind in ("-py3-none-any.whl", ".tar.gz")
    ]
    assert [line.split()[1] for line in built.stdout.splitlines()] == names
    assert sorted(path.name for path in directory.iterdir()) == ["SHA256SUMS", *names]
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


def git(directory: Path, *arguments: str) -> str:
    """The output of git there, with an author for commits."""
    author = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    argv = ["git", *author, "-c", "commit.gpgsign=false", "-C", str(directory)]
    done = subprocess.run(
        [*argv, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def suite_repository(root: Path) -> str:
    """Make a repository with a suite and two commits; returns the newer one."""
    (root / "bench").mkdir(parents=True)
    (root / "bench" / "suite.toml").write_text(MANIFEST)
    (root / "bench" / "sorts.py").write_text(WORKLOAD)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Measure sorting")
    (root / "bench" / "sorts.py").write_text(f"{WORKLOAD}\n# Faster.\n")
    git(root, "commit", "--quiet", "-a", "-m", "Sort faster")
    return git(root, "rev-parse", "HEAD")


def run_step(workflow: str, job: str, name: str) -> dict[str, Any]:
    """The step of a workflow that runs a script."""
    steps = read_yaml(workflow)["jobs"][job]["steps"]
    (step,) = [step for step in steps if step.get("name") == name]
    chosen: dict[str, Any] = step
    return chosen


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


def run_action(
    given: dict[str, str],
    cwd: Path,
    dependencies: Path,
    variables: dict[str, str],
) -> subprocess.CompletedProcess[str]:
    """Run the composite action with a workflow's inputs; its token is the job's."""
    action = read_yaml("github/action.yml")
    (step,) = action["runs"]["steps"]
    inputs = {name: str(item.get("default")) for name, item in action["inputs"].items()}
    assert given.keys() <= inputs.keys()
    known = {f"inputs.{name}": value for name, value in (inputs | given).items()}
    known |= {"github.token": TOKEN, "github.action_path": str(ROOT / "ci" / "github")}
    known["inputs.github-token"] = expand(inputs["github-token"], known)
    env = {name: expand(value, known) for name, value in step["env"].items()}
    return run_script(BASH, step["run"], cwd, dependencies, env | variables)


def test_the_github_action_installs_from_its_own_checkout_and_writes_the_step_summary(
    server: FakeServer, dependencies: Path, tmp_path: Path
) -> None:
    given = {
        "suite": "hashing",
        "server": server.url,
        "token": server.credential,
        "arguments": "--launches 3",
    }
    summary = tmp_path / "summary.md"
    with FakeForge("github") as forge:
        env = actions_variables(forge, tmp_path)
        env |= {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary)}
        done = run_action(given, tmp_path, dependencies, env)
        check(done, forge, ("ann/sorts", 7))
    assert summary.read_text() == "### fail: hashing\n"
    assert server.requested[0]["launches"] == 3


@pytest.mark.parametrize("permission", ["write", "read"])
def test_the_github_workflow_for_comments_measures_a_fork_for_a_maintainer_only(
    server: FakeServer, dependencies: Path, tmp_path: Path, permission: str
) -> None:
    workflow = read_yaml("github/bench-comment.yml")
    assert "contents: write" not in str(workflow["permissions"])
    (step,) = workflow["jobs"]["benchmarks"]["steps"]
    assert step["uses"].startswith("PACELINE_REPOSITORY/ci/github@")
    known = {"secrets.PACELINE_TOKEN": server.credential}
    given = {name: expand(value, known) for name, value in step["with"].items()}
    with FakeForge("github") as forge:
        forge.permissions["ann"] = permission
        pull = own_pull_request(7, "bob/sorts")
        forge.pulls[7] = pull
        env = actions_variables(forge, tmp_path)
        env |= {"GITHUB_SHA": "d" * 40, "GITHUB_REF": "refs/heads/main"}
        event = {
            "action": "created",
            "issue": {"number": 7, "pull_request": {}},
            "comment": {
                "body": f"/paceline bench {HEAD}",
                "user": {"login": "ann"},
                "created_at": "2026-11-28T12:00:00Z",
            },
        }
        Path(env["GITHUB_EVENT_PATH"]).write_text(json.dumps(event))
        env |= {
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "s"),
        }
        done = run_action(given | {"server": server.url}, tmp_path, dependencies, env)
        if permission == "write":
            check(done, forge, ("ann/sorts", 7))
            assert server.requested[0]["head"] == HEAD
        else:
            assert done.returncode == 0, done.stderr
            assert "ann may not write to ann/sorts" in done.stderr
            assert (server.requested, forge.statuses) == ([], [])


def test_a_fork_is_measured_without_a_token_and_another_workflow_comments(
    dependencies: Path, tmp_path: Path
) -> None:
    """Both halves, as GitHub runs them: the first has no secret and leaves a file, the second reads nothing else."""
    source = tmp_path / "paceline"
    source.symlink_to(ROOT)
    head = suite_repository(tmp_path / "head")
    temporary = tmp_path / "temp"
    temporary.mkdir()
    summary = tmp_path / "summary.md"
    step = run_step("github/measure.yml", "measure", "Measure")
    base = git(tmp_path / "head", "rev-parse", "HEAD~1")
    env = step["env"] | {
        "BASE": base,
        "PACELINE_ARGUMENTS": "--launches 2 --rounds 3 --min-time-ns 100000 --params n=100",
        "RUNNER_TEMP": str(temporary),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    measured = run_script(BASH, step["run"], tmp_path, dependencies, env)
    assert measured.returncode in {0, 2, 3}, measured.stderr
    assert ": mine at " in summary.read_text()
    uploaded = read_yaml("github/measure.yml")["jobs"]["measure"]["steps"][-1]["with"]
    document = Path(expand(uploaded["path"], {"runner.temp": str(temporary)}))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(document, document.name)

    step = run_step("github/report.yml", "comment", "Comment")
    with FakeForge("github") as forge:
        forge.artifacts = [Artifact(99, uploaded["name"], archive.getvalue())]
        pull = own_pull_request(7, "bob/sorts")
        pull["head"]["sha"] = head
        forge.pulls[7] = pull
        event = {
            "workflow_run": {
                "id": 99,
                "event": "pull_request",
                "head_sha": head,
                "head_branch": "faster",
                "head_repository": {"full_name": "bob/sorts"},
                "html_url": "https://github.com/ann/sorts/actions/runs/99",
            }
        }
        env = {
            name: expand(value, {"github.token": TOKEN})
            for name, value in step["env"].items()
        }
        env |= actions_variables(forge, tmp_path)
        Path(env["GITHUB_EVENT_PATH"]).write_text(json.dumps(event))
        env |= {"PACELINE_SUITE": "mine", "RUNNER_TEMP": str(temporary)}
        done = run_script(BASH, step["run"], tmp_path, dependencies, env)
        assert done.returncode == 0, done.stderr
        (comment,) = forge.texts("ann/sorts", 7)
    assert f": mine at {head[:12]} against {base[:12]}" in comment
    assert forge.statuses == []


def test_the_workflow_with_a_stranger_s_code_has_no_secret_and_the_one_with_a_token_no_such_code() -> (
    None
):
    measure, report = (
        read_yaml("github/measure.yml"),
        read_yaml("github/report.yml"),
    )
    assert measure["permissions"] == {"contents": "read"}
    assert "secrets." not in (ROOT / "ci/github/measure.yml").read_text("utf-8")
    for workflow in (measure, report):
        (job,) = workflow["jobs"].values()
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
    checkouts = [
        step["with"]["repository"]
        for step in report["jobs"]["comment"]["steps"]
        if "uses" in step
    ]
    assert checkouts == ["PACELINE_REPOSITORY"]
    # `on` is true in YAML 1.1.
    assert report[True]["workflow_run"]["workflows"] == [measure["name"]]


def test_the_forgejo_workflow_runs(
    server: FakeServer, dependencies: Path, wheels: str, tmp_path: Path
) -> None:
    workflow = read_yaml("forgejo/paceline.yml")
    (step,) = workflow["jobs"]["benchmarks"]["steps"]
    known = {
        "vars.PACELINE_SERVER": server.url,
        "vars.PACELINE_PACKAGES": wheels,
        "secrets.PACELINE_TOKEN": server.credential,
        # An administrator's token answers comments; a push and a pull request never get it.
        "github.event_name == 'issue_comment' && secrets.PACELINE_FORGE_TOKEN || github.token": TOKEN,
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


@pytest.mark.parametrize(
    "path",
    [
        "gitlab/paceline.gitlab-ci.yml",
        "forgejo/paceline.yml",
        "github/measure.yml",
        "github/report.yml",
    ],
)
def test_no_ci_file_installs_from_an_index_where_anybody_could_own_the_name(
    path: str,
) -> None:
    text = (ROOT / "ci" / path).read_text(encoding="utf-8")
    (packages,) = re.findall(r"pip install --quiet (.*)", text)
    checkout = "./paceline/contract ./paceline/runners ./paceline/backend"
    assert packages in {"$PACELINE_PACKAGES", checkout}
