"""Matches names with patterns in which `*` stands for any characters.

Everything else is literal and case-sensitive. Matching takes linear time for any pattern.
"""

from __future__ import annotations

ANY = "*"


def matches(pattern: str, name: str) -> bool:
    """Return whether the whole `name` matches `pattern`."""
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
    for part in middle:
        # The leftmost place of a part leaves the most room for the next one.
        start = name.find(part, at, end)
        if start < 0:
            return False
        at = start + len(part)
    return True
