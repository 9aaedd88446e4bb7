"""`agent.toml`: an error names file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline import config
from paceline.errors import UserError

GOOD = """\
[agent]
name = "bench-1"

[repositories.mine]
path = "src"
manifests = ["a/suite.toml"]

[repositories.theirs]
url = "https://example.org/x.git"
manifests = ["suite.toml"]
"""


def test_relative_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text(GOOD)
    loaded = config.load(tmp_path / "agent.toml")
    assert loaded.repositories["mine"].location == str(tmp_path / "src")
    assert loaded.repositories["theirs"].location == "https://example.org/x.git"


def test_without_a_file_nothing_is_allowed() -> None:
    assert config.load(None).repositories == {}


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('name = "bench-1"', "name = 3", 2),
        ('name = "bench-1"', 'nmae = "x"', 2),
        ('path = "src"', 'path = "src"\nurl = "https://x"', 4),
        ('path = "src"', "", 4),
        ('manifests = ["a/suite.toml"]', "manifests = []", 4),
        ("[repositories.mine]", '[repositories."../up"]', 4),
    ],
)
def test_a_mistake_names_file_and_line(tmp_path: Path, old: str, new: str, line: int) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        config.load(path)
    assert f"agent.toml:{line}:" in caught.value.text


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"agent\.toml"):
        config.load(tmp_path / "agent.toml")
