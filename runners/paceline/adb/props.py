"""Parses `getprop`: a device's properties by name.

An entry begins at `[` in the first column and ends with `]`. Everything in between belongs to the value, also
newlines, because vendors store lists in them. A truncated last entry is absent.
"""

from __future__ import annotations

import re

_BEGIN = re.compile(r"^\[([^\]\[\n]+)\]: \[", re.MULTILINE)


def properties(text: str) -> dict[str, str]:
    """Values by name. When a name is printed twice the last value counts, as in Android's init."""
    text = text.replace("\r\n", "\n").replace("\r", "")
    begins = list(_BEGIN.finditer(text))
    ends = [*(begin.start() for begin in begins[1:]), len(text)]
    values: dict[str, str] = {}
    for begin, end in zip(begins, ends, strict=False):
        value = text[begin.end() : end].rstrip("\n")
        if end == len(text):
            value = value.rstrip()
        if value.endswith("]"):
            values[begin.group(1)] = value[:-1]
    return values
