"""Tests that every direct dependency is pinned to the version in the lock, so that users install what was tested."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OURS = {"paceline", "paceline-contract", "paceline-server"}


def direct(project: Path) -> Iterator[str]:
    """The requirements a pyproject.toml names, without our own packages."""
    project_file = tomllib.loads(project.read_text())
    groups = [
        project_file["project"]["dependencies"],
        *project_file.get("dependency-groups", {}).values(),
    ]
    for entry in (entry for group in groups for entry in group):
        if isinstance(entry, str) and entry not in OURS:
            yield entry


@pytest.mark.parametrize(
    "project",
    [
        "pyproject.toml",
        "contract/pyproject.toml",
        "backend/pyproject.toml",
        "runners/pyproject.toml",
    ],
)
def test_every_direct_dependency_is_pinned_to_what_the_lock_has(project: str) -> None:
    locked = set(
        re.findall(
            r"^([a-z0-9-]+==[^ ;\\]+)",
            (ROOT / "requirements.lock").read_text(),
            re.MULTILINE,
        )
    )
    named = list(direct(ROOT / project))
    assert named
    pins = {
        entry: re.sub(r"\[.*?\]", "", entry.partition(";")[0]).strip()
        for entry in named
    }
    assert [entry for entry, pin in pins.items() if pin not in locked] == []
