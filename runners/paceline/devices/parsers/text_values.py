"""Parses numbers, CPU lists, and several files in one text, for the other parsers.

A number is read whole or not at all: `12abc`, `NaN` and an empty field are None. What vendors print with a unit or a
decimal comma is a quantity.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

_FILE = re.compile(r"^(/[^\s:]+):(.*)$")
_INTEGER = re.compile(r"[+-]?\d{1,19}", re.ASCII)
_DECIMAL = re.compile(
    r"[+-]?(?:\d{1,19}(?:\.\d{0,19})?|\.\d{1,19})(?:[eE][+-]?\d{1,3})?", re.ASCII
)

_QUANTITY = re.compile(rf"({_DECIMAL.pattern})\s*([^\W\d_]{{0,12}}|[°º]\s?[CF]|℃|%)")
_COMPLAINT = re.compile(r"(?:error|warning|exception|failed)\b", re.IGNORECASE)
UNREAD_SHOWN = 3
"""Most texts that a message quotes; it counts the others."""
_DEGREES = str.maketrans({"°": None, "º": None, " ": None, "℃": "c"})
_TRUTHS = {
    "true": True,
    "yes": True,
    "1": True,
    "false": False,
    "no": False,
    "0": False,
}


def lines_of(text: str) -> list[str]:
    """Return the lines without line ends. Devices without shell v2 send CR LF, some CR CR LF."""
    return [line.rstrip("\r") for line in text.split("\n")]


def integer(text: str | None) -> int | None:
    """Return a whole number, or None."""
    return (
        None if text is None or _INTEGER.fullmatch(text.strip()) is None else int(text)
    )


def number(text: str | None) -> float | None:
    """Return a finite number, or None. Sensors report NaN or infinity for unknown values."""
    if text is None or _DECIMAL.fullmatch(text.strip()) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def quantity(text: str | None) -> tuple[float, str] | None:
    """Return a finite number, with a point or a comma, and the unit behind it in lower case, "" without one; or None."""
    match = _QUANTITY.fullmatch((text or "").strip().replace(",", ".", 1))
    value = None if match is None else number(match[1])
    if match is None or value is None:
        return None
    return value, match[2].lower().translate(_DEGREES)


def truth(text: str | None) -> bool | None:
    """Return whether a text says yes or no; None for any other."""
    return _TRUTHS.get((text or "").strip().lower())


def is_complaint(line: str) -> bool:
    """Return whether a line among others tells of an error, as services and linkers print in the middle of a dump."""
    return _COMPLAINT.match(line.strip()) is not None


def first_line(text: str) -> str:
    """Return the first line that holds anything; "" without one."""
    return next((line.strip() for line in lines_of(text) if line.strip()), "")


def unread_text(unread: Mapping[str, Sequence[str]]) -> str:
    """Return a sentence that quotes the texts, by source, that are not understood; "" when there are none."""
    quoted = [
        f"{source} says {text[:80]!r}"
        for source, texts in unread.items()
        for text in texts
    ]
    if not quoted:
        return ""
    more = len(quoted) - UNREAD_SHOWN
    examples = "; ".join(quoted[:UNREAD_SHOWN]) + (
        f"; and {more} more" if more > 0 else ""
    )
    counted = (
        "1 text is not understood and counts"
        if len(quoted) == 1
        else f"{len(quoted)} texts are not understood and count"
    )
    return f"{counted} as unknown: {examples}."


def files_of(text: str) -> dict[str, str]:
    """Return contents by path from `grep -H '' FILES`, by which one process reads many small files.

    A file that could not be read is absent: grep's error messages do not begin with a path.
    """
    files: dict[str, list[str]] = {}
    for line in lines_of(text):
        if (split := _FILE.match(line)) is not None:
            files.setdefault(split.group(1), []).append(split.group(2))
    return {path: "\n".join(lines) for path, lines in files.items()}


def cpu_list(text: str | None) -> tuple[int, ...] | None:
    """Return the CPU numbers in `0-3,8`, `0 1 2 3` or a mix; None for any other text."""
    numbers: set[int] = set()
    for part in re.split(r"[,\s]+", (text or "").strip()):
        split = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part, re.ASCII)
        if split is None:
            return None
        first, last = int(split.group(1)), int(split.group(2) or split.group(1))
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers)) or None
