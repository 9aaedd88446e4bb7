"""Tests which sources `up` gives its agent, and the notes about what is not measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

from paceline_server.runtime.agent_child import describe_unmeasured


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        [
            "git",
            "-C",
            root,
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            *arguments,
        ],
        check=True,
    )


def test_a_copy_without_git_and_uncommitted_changes_are_said_to_be_left_out(
    tmp_path: Path,
) -> None:
    source = tmp_path / "suite.toml"
    source.write_text("one")
    without = describe_unmeasured(tmp_path)
    assert without is not None
    assert f"{tmp_path} is no git repository" in without
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "Start")
    assert describe_unmeasured(tmp_path) is None
    (tmp_path / "notes").touch()
    assert describe_unmeasured(tmp_path) is None, (
        "what git does not track is in no measurement, and not missed"
    )
    source.write_text("two")
    changed = describe_unmeasured(tmp_path)
    assert changed is not None
    assert "uncommitted changes" in changed
