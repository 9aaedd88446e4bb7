"""Parses `top`: which processes keep a device busy.

Columns are identified by their headings, because toybox, toolbox and busybox order them differently. A row that
does not fit the headings is ignored. Shares are percent of one core.
"""

from __future__ import annotations

import re

import msgspec

from paceline.devices.parsers.text_values import integer, lines_of, number

_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]")


class Process(msgspec.Struct, frozen=True):
    pid: int
    name: str
    cpu_percent: float


def busiest(text: str, count: int = 5) -> list[Process]:
    """Return the `count` processes that use most CPU, the busiest first, from the last screen."""
    names: list[str] | None = None
    processes: list[Process] = []
    for raw in lines_of(text):
        words = _ESCAPE.sub("", raw).replace("[%CPU]", " %CPU ", 1).split()
        if "PID" in words and any(word in ("%CPU", "CPU%", "CPU") for word in words):
            names, processes = words, []
        elif names is not None and (process := _process(names, words)) is not None:
            processes.append(process)
    return sorted(processes, key=lambda process: (-process.cpu_percent, process.pid))[
        :count
    ]


def _process(names: list[str], words: list[str]) -> Process | None:
    if "STAT" in names and words[(state := names.index("STAT")) + 1 : state + 2] in (
        ["<"],
        ["N"],
    ):
        # busybox prints the niceness as a word of its own: `S <`, `S N`.
        words = [*words[: state + 1], *words[state + 2 :]]
    # toolbox leaves the column blank when there is no policy.
    if len(words) == len(names) - 1 and "PCY" in names:
        names = [name for name in names if name != "PCY"]
    if len(words) < len(names):
        return None
    column = dict(zip(names, words, strict=False))
    share = number(
        (column.get("%CPU") or column.get("CPU%") or column.get("CPU", "")).rstrip("%")
    )
    pid = integer(column["PID"])
    if pid is None or share is None or share < 0:
        return None
    return Process(pid, " ".join(words[len(names) - 1 :])[:120], share)
