"""Tests that the forked `paceline` of tests behaves like the real command."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from paceline.testing import commands
from paceline.testing.suites import MANIFEST


@pytest.mark.parametrize(
    ("arguments", "env", "given", "status"),
    [
        (["validate", "good.toml"], {"COLUMNS": "47"}, "", 0),
        (["validate", "suite.toml"], {"COLUMNS": "200"}, "", 1),
        (
            ["import", "--format", "logcat", "-", "--dry-run"],
            {"COLUMNS": "90"},
            "no line of ours\n",
            1,
        ),
        (["nonsense"], {"PACELINE_SERVER": "http://127.0.0.1:1"}, "", 1),
    ],
    ids=["its terminal", "its directory", "its input", "its usage"],
)
def test_a_forked_command_says_what_a_process_of_its_own_says(
    arguments: list[str], env: dict[str, str], given: str, status: int, tmp_path: Path
) -> None:
    (tmp_path / "suite.toml").write_text("nothing = 1\n")
    (tmp_path / "good.toml").write_text(MANIFEST)
    environment = {**os.environ, **env}
    forked = commands.run(*arguments, cwd=tmp_path, env=environment, given=given)
    real = subprocess.run(
        [sys.executable, "-m", "paceline", *arguments],
        cwd=tmp_path,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (forked.returncode, forked.stdout, forked.stderr) == (
        real.returncode,
        real.stdout,
        real.stderr,
    )
    assert forked.returncode == status


def test_commands_that_run_at_once_keep_their_outputs_apart() -> None:
    with ThreadPoolExecutor(4) as pool:
        names = ["submit", "validate", "agent", "devices"]
        output = list(pool.map(lambda name: commands.run(name, "--help").stdout, names))
    assert [
        name
        for name, text in zip(names, output, strict=True)
        if f"paceline {name} " in text
    ] == names
