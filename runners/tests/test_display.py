"""Tests of printing to a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import paceline
import pytest
from paceline.display import terminal
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


def test_every_terminal_is_made_in_one_place() -> None:
    source = Path(paceline.__file__).parent
    makers = {
        path.name
        for path in source.rglob("*.py")
        if re.search(r"\bConsole\(", path.read_text())
    }
    assert makers == {"display.py"}
