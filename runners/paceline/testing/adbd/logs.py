"""The simulated device's log: what `logcat` prints and `log` appends to.

Every follower sees every line after the one it started at, in order. Lines are kept in `threadtime` format.
"""

from __future__ import annotations

import asyncio
import fnmatch
import time
from dataclasses import dataclass

LEVELS = "VDIWEFS"
BEGINNING = "--------- beginning of main\n"


@dataclass(frozen=True)
class Line:
    """One line of the log."""

    stamp: str
    pid: int
    level: str
    tag: str
    text: str

    def __str__(self) -> str:
        return f"{self.stamp} {self.pid:5d} {self.pid:5d} {self.level} {self.tag:<8}: {self.text}\n"


@dataclass(frozen=True)
class LogQuery:
    """The parsed arguments of a `logcat` command."""

    ends: bool
    """-d or -t: print what there is and end."""
    last: int | None
    """-t N or -T N: at most so many of the present lines."""
    since: str | None
    """-t TIME or -T TIME."""
    levels: dict[str, str]
    """Filter specifications: tag (may hold *) → lowest level shown."""

    def shows(self, line: Line) -> bool:
        if self.since is not None and line.stamp < self.since:
            return False
        if not self.levels:
            return True
        levels = [
            level
            for tag, level in self.levels.items()
            if fnmatch.fnmatchcase(line.tag, tag)
        ]
        return LEVELS.index(line.level) >= LEVELS.index(levels[0] if levels else "V")


def read_arguments(arguments: list[str]) -> LogQuery:
    """Read `logcat`'s arguments; those that only choose a format or a buffer change nothing here."""
    ends, last, since, levels = "-d" in arguments, None, None, dict[str, str]()
    silent = "-s" in arguments
    rest = iter(arguments)
    for argument in rest:
        if argument in ("-t", "-T"):
            ends = ends or argument == "-t"
            value = next(rest, "")
            last, since = (int(value), since) if value.isdigit() else (last, value)
        elif argument in ("-b", "-v", "-e", "--pid"):
            next(rest, "")
        elif not argument.startswith("-"):
            tag, _, level = argument.partition(":")
            levels[tag] = level or "V"
    rest_level = {"*": "S"} if silent else {}
    catch_all = {tag: level for tag, level in levels.items() if tag == "*"}
    named = {tag: level for tag, level in levels.items() if tag != "*"}
    return LogQuery(ends, last, since, {**named, **(catch_all or rest_level)})


class Log:
    """The device's log, used in the event loop of its peer."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._dropped = 0
        self._news = asyncio.Event()

    def add(self, tag: str, text: str, level: str, pid: int) -> None:
        now = time.time()
        stamp = (
            time.strftime("%m-%d %H:%M:%S", time.gmtime(now))
            + f".{int(now % 1 * 1000):03d}"
        )
        self._lines += [Line(stamp, pid, level, tag, part) for part in text.split("\n")]
        self._news.set()
        self._news = asyncio.Event()

    def clear(self) -> None:
        self._dropped += len(self._lines)
        self._lines.clear()

    def first(self, last: int | None) -> int:
        """Return the number of the first of the `last` lines, or of all lines."""
        return self._dropped + max(
            0, len(self._lines) - last if last is not None else 0
        )

    def since(self, number: int) -> tuple[list[Line], int]:
        """Return (lines from that number on, the number to go on from)."""
        return self._lines[max(0, number - self._dropped) :], self._dropped + len(
            self._lines
        )

    async def wait_for_line(self) -> None:
        """Wait until a line is added."""
        await self._news.wait()
