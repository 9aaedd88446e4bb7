"""Tests that the forked `paceline` of tests behaves like the real command."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from paceline.testing import commands
from paceline.testing.suites import MANIFEST


@pytest.mark.parametrize(
    ("arguments", "env", "given", "status"),
    [
        (["validate", "good.toml"], {"COLUMNS": "47"}, b"", 0),
        (["validate", "suite.toml"], {"COLUMNS": "200"}, b"", 1),
        (
            ["import", "--format", "logcat", "-", "--dry-run"],
            {"COLUMNS": "90"},
            b"no line of ours\n",
            1,
        ),
        (["nonsense"], {"PACELINE_SERVER": "http://127.0.0.1:1"}, b"", 1),
    ],
    ids=["its terminal", "its directory", "its input", "its usage"],
)
def test_a_forked_command_says_what_a_process_of_its_own_says(
    arguments: list[str], env: dict[str, str], given: bytes, status: int, tmp_path: Path
) -> None:
    (tmp_path / "suite.toml").write_text("nothing = 1\n")
    (tmp_path / "good.toml").write_text(MANIFEST)
    said = commands.check_against(
        [sys.executable, "-m", "paceline"],
        *arguments,
        cwd=tmp_path,
        env={**os.environ, **env},
        given=given,
    )
    assert said.returncode == status
    assert said.stdout + said.stderr


def test_commands_that_run_at_once_keep_their_outputs_apart() -> None:
    with ThreadPoolExecutor(4) as pool:
        names = ["submit", "validate", "agent", "devices"]
        output = list(pool.map(lambda name: commands.run(name, "--help").stdout, names))
    assert [
        name
        for name, text in zip(names, output, strict=True)
        if f"paceline {name} " in text
    ] == names
