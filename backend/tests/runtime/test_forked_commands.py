"""Tests that the forked `paceline-server` of tests behaves like the installed command."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from paceline_server.kernel.settings import Settings
from paceline_server.store.session import Database
from paceline_server.testing import commands

COMMAND = Path(sys.executable).with_name("paceline-server")


@pytest.mark.shapes("embedded")
@pytest.mark.parametrize(
    ("arguments", "env", "given", "status"),
    [
        (["project", "list"], {}, b"", 0),
        (["account", "create", "--help"], {"COLUMNS": "47"}, b"", 0),
        (["export", "taken"], {}, b"", 1),
        (["render", "--suite", "s", "--commit", "c"], {}, b"\xff", 1),
        (["agent", "revoke"], {"COLUMNS": "200"}, b"", 1),
    ],
    ids=["its database", "its terminal", "its directory", "its input", "its usage"],
)
def test_a_forked_command_says_what_the_installed_one_says(
    database: Database,
    settings: Settings,
    tmp_path: Path,
    *,
    arguments: list[str],
    env: dict[str, str],
    given: bytes,
    status: int,
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    environment = {
        **os.environ,
        "PACELINE_DATABASE_URL": settings.database_url or "",
        "PACELINE_DATA_DIR": str(settings.data_dir),
        **env,
    }
    said = commands.check_against(
        [str(COMMAND)], *arguments, cwd=tmp_path, env=environment, given=given
    )
    assert said.returncode == status
    assert said.stdout + said.stderr
