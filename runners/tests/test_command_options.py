"""Options that several commands share."""

from pathlib import Path

import pytest
from paceline.cli import main
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


@pytest.mark.parametrize(
    ("arguments", "missing", "advice"),
    [
        (["submit", "mine"], "--server or PACELINE_SERVER", "the dashboard has"),
        (["targets", "list", "--server", "http://h"], "--token", "page Tokens"),
    ],
)
def test_who_has_no_address_or_token_learns_where_to_get_one(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    missing: str,
    advice: str,
) -> None:
    for name in ("PACELINE_SERVER", "PACELINE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.argv", ["paceline", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert missing in said
    assert advice in said
