"""Tests of `paceline ab`: two commits of a user's checkout, measured side by side and judged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import git
from .test_cli import paceline

QUICK = [
    "--launches",
    "2",
    "--rounds",
    "3",
    "--min-time-ns",
    "100000",
    "--seed",
    "5",
    "--params",
    "n=100",
]


def ab(
    repository: Path, tmp_path: Path, *arguments: str, **env: str
) -> subprocess.CompletedProcess[str]:
    options = ["--out", str(tmp_path / "out"), "--data", str(tmp_path / "state")]
    return paceline("ab", *arguments, *options, cwd=repository, **env)


def slow_down(repository: Path, percent: int) -> None:
    """The builtin arm truly does more in the next commit."""
    path = repository / "bench" / "sorts.py"
    whole, part = divmod(percent, 100)
    extra = (
        f"    for _ in range({1 + whole}):\n        sorted(values)\n" if whole else ""
    )
    extra += f"    sorted(values[: len(values) * {part} // 100])\n" if part else ""
    text = path.read_text().replace(
        "def builtin(values):\n", f"def builtin(values):\n{extra}"
    )
    path.write_text(text)
    git(repository, "commit", "--quiet", "-a", "-m", "Sort twice")


def test_two_commits_are_measured_in_pairs_and_recorded_with_their_sides(
    suite_repository: Path, tmp_path: Path
) -> None:
    old = git(suite_repository, "rev-parse", "HEAD")
    slow_down(suite_repository, 100)
    done = ab(suite_repository, tmp_path, "--base", "HEAD~1", "--head", "main", *QUICK)
    assert done.returncode in (0, 2, 3), done.stderr
    out = tmp_path / "out"
    assert sorted(path.name for path in out.glob("*.jsonl")) == [
        "launch-000.base.sorts.jsonl",
        "launch-000.head.sorts.jsonl",
        "launch-001.base.sorts.jsonl",
        "launch-001.head.sorts.jsonl",
    ]
    record = json.loads((out / "run.json").read_text())
    assert record["revision"] == git(suite_repository, "rev-parse", "HEAD")
    assert record["base"]["revision"] == old
    assert record["base"]["artifact_hash"] != record["artifact_hash"]
    assert [commit["subject"] for commit in record["commits"]] == ["Sort twice"]
    assert "launch 2 of 2: sorts (base)" in done.stderr
    assert str(out) in done.stdout


def test_the_checkout_is_only_read(suite_repository: Path, tmp_path: Path) -> None:
    slow_down(suite_repository, 100)
    (suite_repository / "bench" / "sorts.py").write_text("not even Python")
    before = (
        git(suite_repository, "status", "--porcelain", "--branch"),
        sorted(suite_repository.rglob("*")),
    )
    done = ab(suite_repository, tmp_path, "--base", "HEAD~1", *QUICK)
    assert done.returncode in (0, 2, 3), done.stderr
    assert "changes that are not committed; they are not measured" in done.stderr
    own = [
        path
        for path in sorted(suite_repository.rglob("*"))
        if path.name != "index.lock"
    ]
    assert (git(suite_repository, "status", "--porcelain", "--branch"), own) == before


def test_the_same_revision_is_an_a_a_comparison_of_one_artifact(
    suite_repository: Path, tmp_path: Path
) -> None:
    done = ab(suite_repository, tmp_path, "--base", "main", *QUICK)
    assert "an A/A comparison" in done.stderr
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["base"]["artifact_hash"] == record["artifact_hash"]


def test_of_two_commits_with_one_artifact_nothing_is_measured(
    suite_repository: Path, tmp_path: Path
) -> None:
    (suite_repository / "README").write_text("More words.")
    git(suite_repository, "add", ".")
    git(suite_repository, "commit", "--quiet", "-m", "Explain")
    junit = tmp_path / "verdict.xml"
    done = ab(
        suite_repository,
        tmp_path,
        *("--base", "HEAD~1", "--format", "junit", "--output", str(junit), *QUICK),
    )
    assert done.returncode == 0, done.stderr
    assert "Not measured again, because its built files, " in done.stdout
    ending = "nothing slower: 1 benchmark is not affected and not measured again"
    assert f"verdict: PASS - {ending}" in done.stdout
    assert not list((tmp_path / "out").glob("launch-*"))
    assert 'failures="0"' in junit.read_text()
    assert 'name="sort"' in junit.read_text()
    shutil.rmtree(tmp_path / "out")
    done = ab(
        suite_repository, tmp_path, "--base", "HEAD~1", "--measure-identical", *QUICK
    )
    assert (done.returncode, len(list((tmp_path / "out").glob("launch-*")))) == (3, 4)


def test_the_same_artifact_of_another_manifest_is_measured(
    suite_repository: Path, tmp_path: Path
) -> None:
    path = suite_repository / "bench" / "suite.toml"
    path.write_text(path.read_text().replace("values = [100, 200]", "values = [100]"))
    text = path.read_text()
    path.write_text(text[: text.index("[[derived]]")] + text[text.index("[[gates]]") :])
    git(suite_repository, "commit", "--quiet", "-a", "-m", "Measure less")
    done = ab(suite_repository, tmp_path, "--base", "HEAD~1", *QUICK)
    assert len(list((tmp_path / "out").glob("launch-*"))) == 4, done.stderr


def test_json_is_all_that_is_printed(suite_repository: Path, tmp_path: Path) -> None:
    slow_down(suite_repository, 100)
    done = ab(suite_repository, tmp_path, "--base", "HEAD~1", "--json", *QUICK)
    assert json.loads(done.stdout)["suite"] == "mine"
    assert str(tmp_path / "out") in done.stderr


@pytest.mark.parametrize("option", ["--base", "--head"])
def test_an_unknown_revision_is_named_with_advice(
    suite_repository: Path, tmp_path: Path, option: str
) -> None:
    revisions = {"--base": "main", "--head": "main", option: "no-such"}
    done = ab(
        suite_repository,
        tmp_path,
        *[part for pair in revisions.items() for part in pair],
    )
    assert done.returncode == 1
    assert f"{option} 'no-such' is no commit of {suite_repository}" in done.stderr
    assert "Give a commit, branch or tag" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_revision_cannot_pass_for_an_option(
    suite_repository: Path, tmp_path: Path
) -> None:
    done = ab(suite_repository, tmp_path, "--base=--version")
    assert (done.returncode, "is no commit of" in done.stderr) == (1, True)


def test_outside_a_checkout_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = ab(
        tmp_path / "empty",
        tmp_path,
        "--base",
        "main",
        GIT_CEILING_DIRECTORIES=str(tmp_path),
    )
    assert (done.returncode, "is in no git working tree" in done.stderr) == (1, True)


def test_which_suite_is_asked_only_where_there_are_several(
    suite_repository: Path, tmp_path: Path
) -> None:
    (suite_repository / "more").mkdir()
    shutil.copy(
        suite_repository / "bench" / "suite.toml",
        suite_repository / "more" / "suite.toml",
    )
    git(suite_repository, "add", ".")
    git(suite_repository, "commit", "--quiet", "-m", "Another")
    done = ab(suite_repository, tmp_path, "--base", "main")
    assert (done.returncode, "bench/suite.toml, more/suite.toml" in done.stderr) == (
        1,
        True,
    )
    done = ab(
        suite_repository,
        tmp_path,
        "--base",
        "main",
        "--suite",
        "bench/suite.toml",
        *QUICK,
    )
    assert done.returncode in (0, 2, 3), done.stderr


def test_a_side_that_does_not_build_is_named(
    suite_repository: Path, tmp_path: Path
) -> None:
    path = suite_repository / "bench" / "suite.toml"
    path.write_text(path.read_text().replace("build = []", 'build = [["false"]]'))
    git(suite_repository, "commit", "--quiet", "-a", "-m", "Break")
    done = ab(suite_repository, tmp_path, "--base", "HEAD~1", *QUICK)
    assert done.returncode == 1
    assert "head (" in done.stderr
    assert "Build step `false`" in done.stderr
    assert "--verbose shows the build's whole output" in done.stderr
    assert (
        json.loads((tmp_path / "out" / "run.json").read_text())["failure"]["cause"]
        == "build_failed"
    )


def test_a_suite_that_is_not_committed_is_named_by_the_option(
    suite_repository: Path, tmp_path: Path
) -> None:
    done = ab(suite_repository, tmp_path, "--base", "main", "--suite", "nosuch.toml")
    assert done.returncode == 1
    assert f"of {suite_repository}." in done.stderr
    assert "Commit it, or correct --suite." in done.stderr


def without_server(
    repository: Path, tmp_path: Path, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run `paceline` in a Python environment without paceline-server."""
    lonely = tmp_path / "bin"
    lonely.mkdir()
    python = lonely / "python"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    code = "import sys; sys.executable = sys.argv.pop(1); from paceline.cli import main; main()"
    where = os.pathsep.join(
        str(Path(tool).parent)
        for tool in (shutil.which("git"), shutil.which("python3"))
        if tool and not (Path(tool).parent / "paceline-server").exists()
    )
    return subprocess.run(
        [sys.executable, "-c", code, str(python), *arguments],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PATH": where,
            "COLUMNS": "200",
            "PACELINE_AGENT_DATA": str(tmp_path / "state"),
        },
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["ab", "--base", "main"],
        ["ab", "--base", "main", "--fail-on", "fail"],
        ["ab", "--base", "main", "--fail-on", "never", "--json"],
        ["ab", "--base", "main", "--", "true"],
        ["run", "--arm", "one=t.*", "--arm", "two=u.*", "--", "true"],
        ["run", "--format", "junit", "--", "true"],
        ["run", "bench/suite.toml", "--fail-on", "fail"],
    ],
)
def test_without_the_server_a_verdict_is_refused_before_anything_is_measured(
    suite_repository: Path, tmp_path: Path, arguments: list[str]
) -> None:
    """A pipeline that installed too little must not be green, nor learn it after the measurement."""
    out = tmp_path / "out"
    command, *others = arguments
    done = without_server(
        suite_repository, tmp_path, command, "--out", str(out), *others
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "Nothing was measured: paceline-server, which judges" in done.stderr
    assert "pip install ./contract ./backend" in done.stderr
    assert "paceline-server judge DIRECTORY" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["ab", "--base", "main", *QUICK, "--fail-on", "never"],
        ["run", "--launches", "2", "--", "true"],
        [
            "run",
            *("--launches", "2", "--arm", "one=t.*", "--arm", "two=u.*"),
            *("--fail-on", "never", "--", "true"),
        ],
    ],
)
def test_without_the_server_it_only_records_where_no_verdict_is_wanted(
    suite_repository: Path, tmp_path: Path, arguments: list[str]
) -> None:
    out = tmp_path / "out"
    command, *others = arguments
    done = without_server(
        suite_repository, tmp_path, command, "--out", str(out), *others
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((out / "run.json").read_text())["failure"] is None
    assert "Not judged" in done.stderr
    assert f"paceline-server judge {out}" in done.stderr
