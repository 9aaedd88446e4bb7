"""Which formats go to which files, and what commands that judge exit with."""

from __future__ import annotations

from pathlib import Path

import pytest
from paceline_contract.outputs import (
    FailOn,
    Output,
    OutputError,
    exit_status,
    pair_outputs,
    write_whole,
)

XML, MD = Path("a.xml"), Path("b.md")


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("pass", 0),
        ("fail", 2),
        ("inconclusive", 3),
        ("failed", 1),
        ("lost", 1),
        ("expired", 1),
        ("cancelled", 1),
        (None, 1),
    ],
)
def test_only_a_verdict_has_a_status_of_its_own(
    outcome: str | None, status: int
) -> None:
    assert exit_status(outcome) == status


@pytest.mark.parametrize(
    ("fail_on", "statuses"),
    [("inconclusive", (0, 2, 3)), ("fail", (0, 2, 0)), ("never", (0, 0, 0))],
)
def test_fail_on_forgives_verdicts_but_never_a_run_without_one(
    fail_on: FailOn, statuses: tuple[int, ...]
) -> None:
    verdicts = ("pass", "fail", "inconclusive")
    assert tuple(exit_status(verdict, fail_on) for verdict in verdicts) == statuses
    assert exit_status("failed", fail_on) == 1


@pytest.mark.parametrize(
    ("formats", "paths", "expected"),
    [
        ([], [], [Output("table", None)]),
        (["json"], [], [Output("json", None)]),
        (["junit"], [XML], [Output("junit", XML), Output("table", None)]),
        (
            ["junit", "markdown"],
            [XML, MD],
            [Output("junit", XML), Output("markdown", MD), Output("table", None)],
        ),
        (["junit", "json"], [XML], [Output("junit", XML), Output("json", None)]),
    ],
)
def test_formats_go_to_the_files_in_the_same_places_and_the_rest_is_printed(
    formats: list[str], paths: list[Path], expected: list[Output]
) -> None:
    assert pair_outputs(formats, paths) == expected


@pytest.mark.parametrize(
    ("formats", "paths", "words"),
    [
        (["yaml"], [], "'yaml' is unknown"),
        ([], [XML], "a.xml has no --format"),
        (["json", "junit"], [], "Only one format can be printed"),
        (["json", "junit"], [XML, XML], "given twice"),
    ],
)
def test_options_that_contradict_each_other_say_what_to_do(
    formats: list[str], paths: list[Path], words: str
) -> None:
    with pytest.raises(OutputError, match=words):
        pair_outputs(formats, paths)


def test_a_file_that_cannot_be_replaced_keeps_what_it_held(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
