"""Prints the command line's results, notes and progress.

Standard output is kept for results; notes and progress go to standard error, as bars on a terminal and as
plain lines in a pipe.
"""

from __future__ import annotations

import io
import re
import sys
import time
from collections.abc import Callable, Sequence

from paceline_contract.outputs import json_text
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from paceline.terminal_text import readable_line

QUIET_S = 30.0
"""After this time without another line, a log gets the newest line of the build."""
FEW_LAUNCHES = 10
"""Up to this many launches have a line each."""
STEPS_SHOWN = 10
"""Of many steps a log has so many lines."""
UNLIMITED = 100_000
"""Columns of a file or pipe, so that its lines are never broken."""
_ID = re.compile(r"[a-z]{3}_[0-9A-Za-z]+")


def terminal(*, stderr: bool = False) -> Console:
    """Return a console that prints names as they are: a key's `:AB:` or `:cd:` is no emoji. A pipe or file gets lines
    of full width without escape codes, whatever variables such as FORCE_COLOR say."""
    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return Console(stderr=stderr, emoji=False)
    return Console(stderr=stderr, emoji=False, force_terminal=False, width=UNLIMITED)


def print_line(text: RenderableType, *, stderr: bool = False) -> None:
    """Print a line as it is, without markup, colours or wrapping."""
    terminal(stderr=stderr).print(text, markup=False, highlight=False, soft_wrap=True)


def print_note(text: RenderableType) -> None:
    """Print a line on standard error."""
    print_line(text, stderr=True)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows; None is an empty cell. Ids are never cut: they are what the next command needs."""
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    table = Table()
    for header, *values in zip(columns, *cells, strict=True):
        if values and all(_ID.fullmatch(value) for value in values):
            longest = max(map(len, values))
            table.add_column(header, no_wrap=True, min_width=longest)
        else:
            table.add_column(header, overflow="fold")
    for row in cells:
        # A cell may hold what would be markup.
        table.add_row(*map(Text, row))
    terminal().print(table, soft_wrap=True)


def render_table(table: Table) -> str:
    """Render a table as plain text for a file; empty without rows."""
    if not table.row_count:
        return ""
    text = io.StringIO()
    Console(file=text, emoji=False, force_terminal=False, width=UNLIMITED).print(table)
    return text.getvalue()


def print_json(value: object) -> None:
    """Print a JSON value on standard output."""
    sys.stdout.write(json_text(value) + "\n")


class PlainDisplay:
    """Prints one line per event, and during a long build its newest line."""

    def __init__(
        self,
        console: Console,
        verbose: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._console, self._verbose, self._clock = console, verbose, clock
        self._phase_since = self._printed_at = clock()

    def phase(self, text: str) -> None:
        self._phase_since = self._clock()
        self._line(text)

    def log(self, lines: list[str]) -> None:
        for line in lines:
            if self._verbose or line.startswith(("warning:", "$ ")):
                self._line(line)
        if lines:
            self._show_newest(readable_line(lines[-1]))

    def _show_newest(self, line: str) -> None:
        """Show the newest line of a build that printed nothing else for a while."""
        now = self._clock()
        if now - self._printed_at >= QUIET_S:
            self._line(f"  after {now - self._phase_since:.0f} s: {line}")

    def launch(self, number: int, total: int, workload: str) -> None:
        """Print the first, the last and every tenth of many launches, and one after a while of silence."""
        is_shown = (
            self._verbose
            or total <= FEW_LAUNCHES
            or number == 0
            or (number + 1) % FEW_LAUNCHES == 0
            or number + 1 == total
        )
        if is_shown or self._clock() - self._printed_at >= QUIET_S:
            self._line(f"launch {number + 1} of {total}: {workload}")

    def progress(self, done: int, total: int) -> None:
        """Print nothing: one line per step would hide the rest."""

    def step(self, done: int, total: int, what: str) -> None:
        """Print every tenth part of what is done, and one line after a while of silence."""
        is_tenth = done * STEPS_SHOWN // total > (done - 1) * STEPS_SHOWN // total
        if is_tenth or self._clock() - self._printed_at >= QUIET_S:
            self._line(f"{done:,} of {total:,} {what}")

    def close(self) -> None:
        """Release nothing: plain lines hold nothing."""

    def _line(self, text: str) -> None:
        self._printed_at = self._clock()
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class BarDisplay(PlainDisplay):
    """Shows a bar over launches, which the workload's progress moves on."""

    def __init__(self, console: Console, verbose: bool) -> None:
        super().__init__(console, verbose)
        columns = (
            # A build may print what would be markup.
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
        )
        self._bars = Progress(
            *columns, TimeElapsedColumn(), console=console, transient=True
        )
        self._task: TaskID | None = None
        self._base = 0.0
        self._phase = ""

    def phase(self, text: str) -> None:
        self._phase = text
        if self._task is None:
            self._bars.start()
            self._task = self._bars.add_task(text, total=None)
        self._bars.update(self._task, description=text)

    def _show_newest(self, line: str) -> None:
        if self._task is not None:
            text = f"{self._phase}: {line}"[: self._console.width // 2]
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

    def step(self, done: int, total: int, what: str) -> None:
        self.phase(f"{done:,} of {total:,} {what}")
        if self._task is not None:
            self._bars.update(self._task, completed=float(done), total=float(total))

    def close(self) -> None:
        self._bars.stop()


def display_for(console: Console, verbose: bool) -> PlainDisplay:
    """Return bars where a person watches, plain lines where a file does."""
    return (
        BarDisplay(console, verbose)
        if console.is_terminal
        else PlainDisplay(console, verbose)
    )
