"""Tests which sources `up` gives its agent: this clone, own repositories, and the notes about what is not measured."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
from paceline_server.kernel.settings import SettingsError
from paceline_server.runtime.agent_config import (
    GENERATED_MARK,
    OwnRepository,
    describe_unmeasured,
    find_repository,
    write_config,
)


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


def repository(root: Path, *committed: str) -> Path:
    """A repository with a commit that has the files `committed`."""
    root.mkdir(parents=True)
    git(root, "init", "--quiet")
    for name in committed:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
        git(root, "add", name)
    if committed:
        git(root, "commit", "--quiet", "-m", "Start")
    return root


def test_a_repository_is_found_with_its_committed_manifests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(
        tmp_path / "my suites: ünïcode", "suite.toml", "deep/er/suite.toml", "b.toml"
    )
    (root / "new").mkdir()
    (root / "new" / "suite.toml").touch()
    everything = OwnRepository(str(root), ["deep/er/suite.toml", "suite.toml"])
    assert find_repository(str(root)) == everything
    assert find_repository(str(root / "deep")) == everything
    monkeypatch.chdir(root)
    assert find_repository(".") == everything
    assert find_repository(".:./b.toml") == OwnRepository(str(root), ["b.toml"])
    assert find_repository(f"{root}:b.toml") == OwnRepository(str(root), ["b.toml"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nowhere", "there is no directory"),
        ("nowhere:suite.toml", "there is no directory"),
        ("plain", "git does not read"),
        ("empty", "has no commit yet"),
        ("without", "has no committed suite.toml"),
        ("own:other.toml", "has no committed other.toml"),
        ("own:../own/suite.toml", "has no committed ../own/suite.toml"),
        ("own/.git", "name the directory with the files"),
    ],
)
def test_a_repository_that_cannot_be_measured_is_refused_with_the_reason(
    tmp_path: Path, text: str, reason: str
) -> None:
    (tmp_path / "plain").mkdir()
    repository(tmp_path / "empty")
    repository(tmp_path / "without", "README.md")
    repository(tmp_path / "own", "suite.toml")
    with pytest.raises(SettingsError) as refused:
        find_repository(str(tmp_path / text))
    assert reason in str(refused.value)


def test_own_repositories_stay_for_later_starts_until_their_lines_go(
    tmp_path: Path,
) -> None:
    config = tmp_path / "agent.toml"

    def write(*added: OwnRepository) -> dict[str, list[str]]:
        """What the agent finds in the file."""
        assert write_config(config, None, ["127.0.0.1:4711"], added) is not None
        listed = tomllib.loads(config.read_text("utf-8"))["repositories"]
        return {
            f"{name}={own['path']}": own["manifests"] for name, own in listed.items()
        }

    first = write(
        OwnRepository("/a/mine", ["x.toml"]), OwnRepository("/a/mine", ["a.toml"])
    )
    assert first == {"mine=/a/mine": ["a.toml", "x.toml"]}
    names = write(
        OwnRepository("/b/mine", ["s.toml"]),
        OwnRepository("/c/paceline", ["s.toml"]),
        OwnRepository('/d/"ü\\ ', ["s.toml"]),
    )
    assert set(names) == {
        "mine=/a/mine",
        "mine-2=/b/mine",
        "paceline-2=/c/paceline",
        'own=/d/"ü\\ ',
    }
    assert write() == names
    assert write(OwnRepository("/a/mine", ["z.toml"]))["mine=/a/mine"] == ["z.toml"]
    config.write_text(GENERATED_MARK + "[repositories\n", "utf-8")
    assert write_config(config, None) == {}
    config.write_text("# mine\n", "utf-8")
    assert write_config(config, None, (), [OwnRepository("/a", ["s"])]) is None
