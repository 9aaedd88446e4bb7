"""Parses `getprop`: a device's properties by name.

An entry begins at `[` in the first column and ends with `]`. Everything in between belongs to the value, also
newlines, because vendors store lists in them. A truncated last entry is absent. Lines that belong to no entry, such as
a linker's warnings, are listed apart.
"""

from __future__ import annotations

import re

_BEGIN = re.compile(r"^\[([^\]\[\n]+)\]: \[", re.MULTILINE)


def properties(text: str) -> dict[str, str]:
    """Return values by name. When a name is printed twice the last value counts, as in Android's init."""
    return read_properties(text)[0]


def read_properties(text: str) -> tuple[dict[str, str], list[str]]:
    """Return values by name, and the lines that belong to none."""
    text = text.replace("\r\n", "\n").replace("\r", "")
    begins = list(_BEGIN.finditer(text))
    ends = [*(begin.start() for begin in begins[1:]), len(text)]
    values: dict[str, str] = {}
    others = text[: begins[0].start() if begins else None].splitlines()
    for begin, end in zip(begins, ends, strict=False):
        lines = text[begin.end() : end].split("\n")
        last = max(
            (at for at, line in enumerate(lines) if line.rstrip().endswith("]")),
            default=None,
        )
        others += [f"[{begin[1]}]: [{lines[0]}"] if last is None else []
        others += lines[1 if last is None else last + 1 :]
        if last is not None:
            value = "\n".join(lines[: last + 1])
            values[begin[1]] = value.rstrip()[:-1]
    return values, [line for line in others if line.strip()]
