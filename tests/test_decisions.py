"""The index of decisions is current, and every decision's file is complete.

`scripts/decisions.py` reads the files; it runs here as a process, as `scripts/generate` runs it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DECISIONS = ROOT / "docs" / "decisions"
COMPLETE = """\
# Numbers are counted

- Room: Server
- Status: accepted

## Context

Why.

## Decision

What.

## Consequences

At which price.
"""


def run_script(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, root / "scripts" / "decisions.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the script and two decisions."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "decisions.py", tmp_path / "scripts")
    folder = tmp_path / "docs" / "decisions"
    folder.mkdir(parents=True)
    (folder / "0001-first.md").write_text(COMPLETE)
    (folder / "0002-second.md").write_text(
        COMPLETE.replace("accepted", "superseded by 0001")
    )
    return tmp_path


def test_index_is_current_and_every_decision_complete() -> None:
    checked = run_script(ROOT, "--check")
    assert checked.returncode == 0, checked.stderr


def test_references_to_decisions_lead_to_a_file() -> None:
    listed = subprocess.run(
        ["git", "grep", "-hoE", r"decisions/[0-9]{4}[a-z0-9-]*(\.md)?"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    names = {path.name for path in DECISIONS.glob("*.md")}
    assert [
        reference
        for reference in listed
        if "NNNN" not in reference and reference.removeprefix("decisions/") not in names
    ] == []


def test_index_lists_decisions_by_room(repository: Path) -> None:
    assert run_script(repository).returncode == 0
    index = (repository / "docs" / "decisions" / "README.md").read_text()
    assert re.findall(r"^## (.*)$", index, re.MULTILINE) == ["Server"]
    assert "| 1 | [Numbers are counted](0001-first.md) | accepted |" in index
    assert "| superseded by 0001 |" in index


def test_stale_index_is_refused(repository: Path) -> None:
    run_script(repository)
    second = repository / "docs" / "decisions" / "0002-second.md"
    second.write_text(COMPLETE.replace("Numbers", "Letters"))
    checked = run_script(repository, "--check")
    assert checked.returncode == 1
    assert "stale" in checked.stderr


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda text: text.replace("## Consequences", "## Costs"), "Consequences"),
        (lambda text: text.replace("Why.\n\n", ""), "none empty"),
        (lambda text: text.replace("Server", "Cellar"), "unknown room 'Cellar'"),
        (lambda text: text.replace("accepted", "perhaps"), "superseded by NNNN"),
        (lambda text: text.replace("- Room: Server\n", ""), "begin with a title"),
    ],
)
def test_incomplete_decision_is_refused(
    repository: Path, change: Callable[[str], str], expected: str
) -> None:
    second = repository / "docs" / "decisions" / "0002-second.md"
    second.write_text(change(COMPLETE))
    refused = run_script(repository)
    assert refused.returncode == 1
    assert "0002-second.md" in refused.stderr
    assert expected in refused.stderr


def test_gap_in_the_numbers_is_refused(repository: Path) -> None:
    folder = repository / "docs" / "decisions"
    (folder / "0002-second.md").rename(folder / "0003-third.md")
    assert "0002 was expected" in run_script(repository).stderr
