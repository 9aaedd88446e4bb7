"""Fixtures: somebody else's repository with a two-arm Python suite, and a server on a loopback socket."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from paceline.testing.fake_server import FakeServer
from paceline.testing.suites import MANIFEST, WORKLOAD


def git(directory: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, "-C", str(directory), *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def suite_repository(tmp_path: Path) -> Path:
    """A git repository with the suite in `bench/`, one commit on branch `main`."""
    root = tmp_path / "theirs"
    (root / "bench").mkdir(parents=True)
    (root / "bench" / "suite.toml").write_text(MANIFEST)
    (root / "bench" / "sorts.py").write_text(WORKLOAD)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Measure sorting")
    return root


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running
