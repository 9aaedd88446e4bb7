"""Which change found now is one that was found before.

Place: under `service`, after `evaluation`. Pure. Invariant: a change is matched to at most one kept row and a
row to at most one change, the nearest pairs first, so that the order in which they are given does not matter.
Two changes are the same when their places differ by at most two points, or when the row's place lies inside
the interval in which detection locates the change (STATISTICS §4.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paceline_server.stats.changepoint import STAND_WITHIN
from paceline_server.stats.history import ChangePoint


def match(
    found: Sequence[ChangePoint], kept: Mapping[str, int], within: int = STAND_WITHIN
) -> dict[int, str]:
    """Position in `found` → key of `kept` (whose values are indexes into the same window)."""
    pairs = sorted(
        (abs(change.index - index), position, key)
        for position, change in enumerate(found)
        for key, index in kept.items()
        if abs(change.index - index) <= within
        or change.location[0] <= index <= change.location[1]
    )
    matched: dict[int, str] = {}
    for _, position, key in pairs:
        if position not in matched and key not in matched.values():
            matched[position] = key
    return matched
