"""Collects the lines of a device's log that a suite declares, while a job runs.

    log ─line─▶ LogReporter.take ─▶ LineMatcher (of `paceline import`) ─▶ ReportedItem with its launch ─▶ spool

The lines are averages, not samples. A line belongs to the launch that was running when it was logged, by the
device's clock, so that a line read late still gets its launch; a line that fits two launches gets none. Number
and length of lines are bounded.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec
from paceline_contract.items import MAX_REPORTED, UNNUMBERED, ReportedItem, SideName

from paceline.adb.logcat import LogLine, moment_of
from paceline.formats.declared import Line, LineProblem
from paceline.formats.logcat import LineMatcher

MAX_LINES = 2_000
"""Most lines of one job; an app that prints one per second reaches it in half an hour."""


class LogListener(msgspec.Struct, frozen=True):
    """The lines of a device's log that a job collects; `take` is called for each, on any thread."""

    lines: list[Line]
    take: Callable[[ReportedItem], None]


class _LaunchWindow(msgspec.Struct):
    """The time of one launch, by the device's clock."""

    launch: int
    side: SideName | None
    begin: str | None
    end: str | None = None

    def contains(self, at: str) -> bool:
        return (
            self.begin is not None
            and self.begin <= at
            and (self.end is None or at <= self.end)
        )


class LogReporter:
    """Reports the lines of one job. The log follower's thread calls `take`, the job's thread the rest."""

    def __init__(self, listening: LogListener) -> None:
        self._shapes, self._hand_on = LineMatcher(listening.lines), listening.take
        self._windows: list[_LaunchWindow] = []
        self._lock = threading.Lock()
        self._count = 0

    def note_launch_begin(self, launch: int, side: SideName | None, clock: str) -> None:
        """Note a launch. `clock` is the output of `DEVICE_TIME` right before it."""
        with self._lock:
            self._windows.append(_LaunchWindow(launch, side, moment_of(clock)))

    def note_launch_end(self, clock: str) -> None:
        with self._lock:
            last = self._windows[-1]
            last.end = moment_of(clock, "999") or last.begin

    def take(self, line: LogLine) -> None:
        """Take one line of the log, declared or not."""
        reading = self._shapes.read(line.raw)
        if reading is None:
            return
        self._count += 1
        if self._count > MAX_LINES:
            if self._count == MAX_LINES + 1:
                self.note(
                    f"More than {MAX_LINES:,} lines were reported; further lines are not kept."
                )
            return
        result, at = reading.result, line.origin.logged_at
        window = self._window(at)
        launch, side = (None, None) if window is None else (window.launch, window.side)
        if isinstance(result, LineProblem):
            text, fields, note = result.text, {}, result.expected[:MAX_REPORTED]
        else:
            text, fields, note = result.text, result.fields, None
            if len(text) > MAX_REPORTED:
                note = f"Only {MAX_REPORTED:,} of the line's {len(text):,} characters are kept."
        self._hand_on(
            ReportedItem(
                seq=UNNUMBERED,
                pattern=reading.name,
                launch=launch,
                side=side,
                at=at,
                fields=fields,
                text=text[:MAX_REPORTED],
                note=note,
            )
        )

    def note(self, text: str) -> None:
        """Add a note about the job's lines as a whole."""
        self._hand_on(
            ReportedItem(
                seq=UNNUMBERED,
                pattern=None,
                launch=None,
                side=None,
                at=None,
                fields={},
                text="",
                note=text[:MAX_REPORTED],
            )
        )

    def _window(self, at: str | None) -> _LaunchWindow | None:
        """Return the only launch that was running at `at`."""
        if at is None:
            return None
        with self._lock:
            windows = [window for window in self._windows if window.contains(at)]
        return windows[0] if len(windows) == 1 else None
