"""Prints the command line's results, notes and progress.

Standard output is kept for results; notes and progress go to standard error, as bars on a terminal and as
plain lines in a pipe.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from paceline_contract.outputs import json_text
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

FILE_COLUMNS = 200
"""Width of a table in a file: wide enough that no sentence of an ordinary suite is broken."""


def terminal(*, stderr: bool = False) -> Console:
    """A console that prints names as they are: a key's `:AB:` or `:cd:` is no emoji."""
    return Console(stderr=stderr, emoji=False)


def print_line(text: RenderableType, *, stderr: bool = False) -> None:
    """Prints a line as it is, without markup, colours or wrapping."""
    terminal(stderr=stderr).print(text, markup=False, highlight=False, soft_wrap=True)


def print_note(text: RenderableType) -> None:
    """Prints a line on standard error."""
    print_line(text, stderr=True)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints rows; None is an empty cell."""
    table = Table(*columns)
    for row in rows:
        table.add_row(*("" if value is None else str(value) for value in row))
    terminal().print(table, soft_wrap=True)


def render_table(table: Table) -> str:
    """A table as plain text for a file; empty without rows."""
    if not table.row_count:
        return ""
    text = io.StringIO()
    Console(file=text, emoji=False, width=FILE_COLUMNS).print(table)
    return text.getvalue()


def print_json(value: object) -> None:
    """Prints a JSON value on standard output."""
    sys.stdout.write(json_text(value) + "\n")


class PlainDisplay:
    """One line per event that a log should hold."""

    def __init__(self, console: Console, verbose: bool) -> None:
        self._console, self._verbose = console, verbose

    def phase(self, text: str) -> None:
        self._line(text)

    def log(self, lines: list[str]) -> None:
        for line in lines:
            if self._verbose or line.startswith(("warning:", "$ ")):
                self._line(line)

    def launch(self, number: int, total: int, workload: str) -> None:
        self._line(f"launch {number + 1} of {total}: {workload}")

    def progress(self, done: int, total: int) -> None:
        """Progress is not printed: one line per step would hide the rest."""

    def close(self) -> None:
        """Nothing to release."""

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class BarDisplay(PlainDisplay):
    """A bar over launches, moved on by the workload's own progress."""

    def __init__(self, console: Console, verbose: bool) -> None:
        super().__init__(console, verbose)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
        )
        self._bars = Progress(
            *columns, TimeElapsedColumn(), console=console, transient=True
        )
        self._task: TaskID | None = None
        self._base = 0.0

    def phase(self, text: str) -> None:
        if self._task is None:
            self._bars.start()
            self._task = self._bars.add_task(text, total=None)
        self._bars.update(self._task, description=text)

    def launch(self, number: int, total: int, workload: str) -> None:
        if self._task is None:
            self.phase("measuring")
        if self._task is not None:
            self._base = number
            text = f"launch {number + 1} of {total}: {workload}"
            self._bars.update(
                self._task,
                description=text,
                total=float(total),
                completed=float(number),
            )

    def progress(self, done: int, total: int) -> None:
        if self._task is not None and total > 0:
            self._bars.update(self._task, completed=self._base + min(done / total, 1.0))

    def close(self) -> None:
        self._bars.stop()


def display_for(console: Console, verbose: bool) -> PlainDisplay:
    """Bars where a person watches, plain lines where a file does."""
    return (
        BarDisplay(console, verbose)
        if console.is_terminal
        else PlainDisplay(console, verbose)
    )
