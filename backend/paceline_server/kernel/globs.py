"""Matches names with patterns in which `*` stands for any characters.

Everything else is literal and case-sensitive; matching takes linear time, whoever wrote the pattern.
"""

from __future__ import annotations

ANY = "*"


def matches(pattern: str, name: str) -> bool:
    """Return whether `name` fits `pattern` as a whole."""
    if ANY not in pattern:
        return pattern == name
    head, *middle, tail = pattern.split(ANY)
    if (
        len(head) + len(tail) > len(name)
        or not name.startswith(head)
        or not name.endswith(tail)
    ):
        return False
    at, end = len(head), len(name) - len(tail)
    for part in middle:  # the leftmost place of each part leaves most room for the next
        start = name.find(part, at, end)
        if start < 0:
            return False
        at = start + len(part)
    return True
