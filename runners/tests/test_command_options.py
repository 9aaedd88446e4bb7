"""Options that several commands share."""

from pathlib import Path

import pytest
from paceline.commands.options import output_directory


def test_runs_that_begin_in_the_same_second_get_directories_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # Twenty take far less than the second that names them, so most of them meet a name that is taken.
    directories = {output_directory(None, "mine") for _ in range(20)}
    assert len(directories) == 20
    assert all(directory.is_dir() for directory in directories)
    assert {directory.name[:5] for directory in directories} == {"mine-"}
