"""Collects the lines of a device's log that a suite declares, while a job runs.

    log ─line─▶ LogReporter.take ─▶ LineMatcher (of `paceline import`) ─▶ ReportedLine with its launch ─▶ items

Lines are parsed by the same code as in an import; they are averages of an app, not samples. A line belongs to
the launch in whose time it was logged, by the device's own clock, so that a line read late still finds its
launch; a line that fits two launches is given none. Number and length of lines are bounded, and what is cut
says so.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import msgspec

from paceline.adb.logcat import LogLine
from paceline.formats.declared import Line, LineProblem
from paceline.formats.logcat import LineMatcher
from paceline.formats.templates import Value

MAX_REPORTED = 2_000
"""Lines of one job; an app that prints one per second fills it in half an hour."""
TEXT_LIMIT = 1_000
"""Characters of a line that are kept, and of a note."""
CLOCK = ("date", "+%m-%d %H:%M:%S.%N")
"""As the log dates its lines; a date that has no %N is right to the second."""

_MOMENT = re.compile(r"(\d\d-\d\d \d\d:\d\d:\d\d)\.(\d{3})?", re.ASCII)


class ReportedLine(msgspec.Struct, frozen=True):
    """One line. `at` is the device's own time, without a year; `note`: why it has no fields or no end, or,
    with no `pattern`, what is missing."""

    pattern: str | None
    launch: int | None
    side: str | None
    at: str | None
    fields: dict[str, Value]
    text: str
    note: str | None = None


class LogListener(msgspec.Struct, frozen=True):
    """What a job wants to hear of its device's log: lines of these shapes, as they come, on any thread."""

    lines: list[Line]
    take: Callable[[ReportedLine], None]


class _LaunchWindow(msgspec.Struct):
    """The time of one launch, by the device's clock."""

    launch: int
    side: str | None
    begin: str | None
    end: str | None = None

    def holds(self, at: str) -> bool:
        return (
            self.begin is not None
            and self.begin <= at
            and (self.end is None or at <= self.end)
        )


class LogReporter:
    """One job's. `take` may be called on the follower's thread, the rest on the job's."""

    def __init__(self, listening: LogListener) -> None:
        self._shapes, self._hand_on = LineMatcher(listening.lines), listening.take
        self._windows: list[_LaunchWindow] = []
        self._lock = threading.Lock()
        self._count = 0

    def launch_begins(self, launch: int, side: str | None, clock: str) -> None:
        """`clock` is what `CLOCK` printed right before it."""
        with self._lock:
            self._windows.append(_LaunchWindow(launch, side, _moment(clock, "000")))

    def launch_ended(self, clock: str) -> None:
        with self._lock:
            last = self._windows[-1]
            last.end = _moment(clock, "999") or last.begin

    def take(self, line: LogLine) -> None:
        """One line of the log, whatever it is."""
        reading = self._shapes.read(line.raw)
        if reading is None:
            return
        self._count += 1
        if self._count > MAX_REPORTED:
            if self._count == MAX_REPORTED + 1:
                self.note(
                    f"More than {MAX_REPORTED:,} lines were reported: from here on none is kept."
                )
            return
        found, at = reading.found, line.origin.logged_at
        window = self._window(at)
        launch, side = (None, None) if window is None else (window.launch, window.side)
        if isinstance(found, LineProblem):
            text, fields, note = found.text, {}, found.expected[:TEXT_LIMIT]
        else:
            text, fields, note = found.text, found.fields, None
            if len(text) > TEXT_LIMIT:
                note = f"The line is kept to {TEXT_LIMIT:,} of its {len(text):,} characters."
        self._hand_on(
            ReportedLine(
                reading.name, launch, side, at, fields, text[:TEXT_LIMIT], note
            )
        )

    def note(self, text: str) -> None:
        """Something about the job's lines as a whole."""
        self._hand_on(ReportedLine(None, None, None, None, {}, "", text[:TEXT_LIMIT]))

    def _window(self, at: str | None) -> _LaunchWindow | None:
        """The only launch whose time holds it."""
        if at is None:
            return None
        with self._lock:
            found = [window for window in self._windows if window.holds(at)]
        return found[0] if len(found) == 1 else None


def _moment(clock: str, rest: str) -> str | None:
    """To the millisecond, as the log has it; `rest` where the device tells whole seconds only."""
    found = _MOMENT.match(clock.strip())
    return None if found is None else f"{found[1]}.{found[2] or rest}"
