"""Git as CI systems set it up: partial clones, trees of another user, other object formats, a suite that is new."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from paceline.errors import UserError
from paceline.git import Repository, SourceError, working_revision
from paceline.testing import commands

from .conftest import git

QUICK = [
    "--launches",
    "1",
    "--rounds",
    "3",
    "--min-time-ns",
    "100000",
    "--params",
    "n=100",
]


def compare(
    checkout: Path, tmp_path: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    """`paceline ab` of the last two commits of a checkout."""
    options = ["--data", str(tmp_path / "data"), "--out", str(tmp_path / "out")]
    return commands.run(
        *["ab", "--base", "HEAD~1", "--head", "HEAD", *QUICK, *options],
        cwd=checkout,
        env={**os.environ, **env},
    )


@pytest.fixture
def two_commits(suite_repository: Path) -> Path:
    """The suite's repository with a second commit, which clones may filter."""
    with (suite_repository / "bench/sorts.py").open("a") as file:
        file.write("# a second revision\n")
    git(suite_repository, "commit", "--quiet", "--all", "-m", "Change the workload")
    git(suite_repository, "config", "uploadpack.allowFilter", "true")
    return suite_repository


def clone_partially(origin: Path, directory: Path, left_out: str) -> Path:
    clone = directory / "partial"
    filtering = f"--filter={left_out}"
    git(directory, "clone", "--quiet", filtering, origin.as_uri(), str(clone))
    return clone


@pytest.mark.parametrize("left_out", ["blob:none", "tree:0", "blob:limit=1"])
def test_two_commits_of_a_partial_clone_are_compared(
    two_commits: Path, tmp_path: Path, left_out: str
) -> None:
    clone = clone_partially(two_commits, tmp_path, left_out)
    done = compare(clone, tmp_path)
    assert "verdict: INCONCLUSIVE" in done.stdout + done.stderr
    assert (tmp_path / "out/run.json").is_file()


def test_a_partial_clone_whose_origin_is_gone_says_what_it_lacks(
    two_commits: Path, tmp_path: Path
) -> None:
    clone = clone_partially(two_commits, tmp_path, "tree:0")
    shutil.rmtree(two_commits)
    with pytest.raises(SourceError, match="partial clone") as refused:
        Repository("mine", str(clone), tmp_path / "data").show(
            git(clone, "rev-parse", "HEAD~1"), "bench/suite.toml"
        )
    assert "without --filter" in refused.value.advice


def test_a_repository_of_another_object_format_is_measured(
    suite_repository: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", "--object-format=sha256", str(other))
    shutil.copytree(suite_repository / "bench", other / "bench")
    git(other, "add", ".")
    git(other, "commit", "--quiet", "-m", "Measure sorting")
    commit = git(other, "rev-parse", "HEAD")
    assert len(commit) == 64
    repository = Repository("mine", str(other), tmp_path / "data")
    assert repository.head().commit == commit
    assert b"[suite]" in repository.show(commit, "bench/suite.toml")


@pytest.mark.parametrize("place", [".", "bench", "renamed"])
def test_a_suite_that_base_does_not_have_yet_is_called_new_in_head(
    suite_repository: Path, tmp_path: Path, place: str
) -> None:
    root = tmp_path / "grown"
    git(tmp_path, "init", "--quiet", str(root))
    (root / "README").write_text("without a suite\n")
    if place == "renamed":
        shutil.copytree(suite_repository / "bench", root / "bench")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Begin")
    if place == "renamed":
        (root / "bench").rename(root / "renamed")
    else:
        shutil.copytree(suite_repository / "bench", root / place, dirs_exist_ok=True)
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "Measure sorting")
    done = compare(root, tmp_path)
    path = Path(place, "suite.toml").as_posix()
    assert done.returncode == 1
    assert f"{path} is new in head: base (" in done.stderr
    assert "agent.toml" not in done.stderr


def test_a_tree_of_another_user_is_refused_with_the_remedy_of_git(
    suite_repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git's own switch for its tests stands for another user, whom only root could make."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    remedy = f"git config --global --add safe.directory {suite_repository}"
    with pytest.raises(UserError, match="belongs to another user") as refused:
        working_revision(suite_repository)
    assert remedy in refused.value.advice
    with pytest.raises(SourceError, match="belongs to another user") as unread:
        Repository("mine", str(suite_repository), tmp_path / "data").head()
    assert remedy in unread.value.advice
    compared = compare(suite_repository, tmp_path)
    measured = commands.run(
        "run",
        str(suite_repository / "bench/suite.toml"),
        *QUICK,
        "--out",
        str(tmp_path / "run"),
        env={**os.environ},
    )
    for done in (compared, measured):
        assert done.returncode == 1
        assert remedy in done.stderr
    assert not (tmp_path / "run/run.json").exists()
