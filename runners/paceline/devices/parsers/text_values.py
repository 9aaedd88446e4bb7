"""Parses numbers, CPU lists, and several files in one text, for the other parsers.

A number is read whole or not at all: `12abc`, `NaN` and an empty field are None.
"""

from __future__ import annotations

import math
import re

_FILE = re.compile(r"^(/[^\s:]+):(.*)$")
_INTEGER = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_DECIMAL = re.compile(
    r"[+-]?(?:\d{1,19}(?:\.\d{0,19})?|\.\d{1,19})(?:[eE][+-]?\d{1,3})?", re.ASCII
)


def lines_of(text: str) -> list[str]:
    """The lines without line ends. Devices without shell v2 send CR LF, some CR CR LF."""
    return [line.rstrip("\r") for line in text.split("\n")]


def integer(text: str | None) -> int | None:
    """A whole number, or None."""
    return (
        None if text is None or _INTEGER.fullmatch(text.strip()) is None else int(text)
    )


def number(text: str | None) -> float | None:
    """A finite number, or None. Sensors report NaN or infinity for unknown values."""
    if text is None or _DECIMAL.fullmatch(text.strip()) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def files_of(text: str) -> dict[str, str]:
    """Contents by path from `grep -H '' FILES`, by which one process reads many small files.

    A file that could not be read is absent: grep's error messages do not begin with a path.
    """
    files: dict[str, list[str]] = {}
    for line in lines_of(text):
        if (split := _FILE.match(line)) is not None:
            files.setdefault(split.group(1), []).append(split.group(2))
    return {path: "\n".join(lines) for path, lines in files.items()}


def cpu_list(text: str | None) -> tuple[int, ...] | None:
    """The CPU numbers in `0-3,8`, `0 1 2 3` or a mix; None for any other text."""
    numbers: set[int] = set()
    for part in re.split(r"[,\s]+", (text or "").strip()):
        split = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part, re.ASCII)
        if split is None:
            return None
        first, last = int(split.group(1)), int(split.group(2) or split.group(1))
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers)) or None
