"""Tests of printing to a terminal."""

from __future__ import annotations

import io
import re
from pathlib import Path

import paceline
import pytest
from paceline.display import PlainDisplay, print_table, terminal
from rich.table import Table

KEY = "9B:AB:CD:2D"


def test_a_keys_fingerprint_is_printed_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = Table("key")
    table.add_row(KEY)
    for shown in (f"accept {KEY}", table):
        terminal().print(shown, markup=False)
        assert KEY in capsys.readouterr().out


def test_a_build_that_is_silent_for_long_shows_its_newest_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = iter(range(0, 1000, 10))
    display = PlainDisplay(terminal(), verbose=False, clock=lambda: next(seconds))
    display.phase("building 0123456789ab")
    for number in range(1, 7):
        display.log([f"Compiling \x1b[32mcrate-{number}\x1b[0m"])
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "building 0123456789ab"
    assert re.fullmatch(r"  after \d+ s: Compiling crate-\d", shown[1])
    assert 2 <= len(shown) < 6, "not every line"


def test_a_log_holds_a_few_of_many_launches(
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = 0.0
    display = PlainDisplay(terminal(), verbose=False, clock=lambda: seconds)
    for number in range(30):
        seconds += 40 if number == 14 else 1
        for side in ("base", "head"):
            display.launch(number, 30, side)
    shown = capsys.readouterr().out.splitlines()
    numbers = [line.split()[1] for line in shown if line.endswith("head")]
    assert numbers == ["1", "10", "20", "30"]
    assert "launch 15 of 30: base" in shown, "after a long silence"
    for number in range(5):
        display.launch(number, 5, "sorts")
    assert len(capsys.readouterr().out.splitlines()) == 5


IDS = ["run_01jdabcdefghjkmnpqrstvwxyz", "run_01jdabcdefghjkmnpqrstvwxya"]
ROWS = [[name, "a long sentence [/odd] that says a lot " * 4] for name in IDS]


def test_a_pipe_gets_whole_lines_without_escape_codes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    print_table(["id", "words"], ROWS)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    for name, words in ROWS:
        (line,) = (line for line in out.splitlines() if name in line)
        assert words in line


def test_a_narrow_terminal_breaks_sentences_and_no_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Screen()
    monkeypatch.setattr("sys.stdout", screen)
    monkeypatch.setenv("COLUMNS", "40")
    print_table(["id", "words"], ROWS)
    lines = screen.getvalue().splitlines()
    assert [sum(name in line for line in lines) for name in IDS] == [1, 1]
    assert len(lines) > len(ROWS) + 4, "the sentences are broken"


def test_every_terminal_is_made_in_one_place() -> None:
    source = Path(paceline.__file__).parent
    makers = {
        path.name
        for path in source.rglob("*.py")
        if re.search(r"\bConsole\(", path.read_text())
    }
    assert makers == {"display.py"}
