"""Groups changes that have one cause: same direction, overlapping range. Pure.

The order of the input does not matter. The best located change leads its group and
every member overlaps the leader's range, so that neighbours cannot chain two causes
into one. A range is half open: the old level was measured at `after`, the new one at
`upto`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """What happened after `after` and by `upto`: instants at which one target measured."""

    after: datetime
    upto: datetime

    def overlaps(self, other: TimeRange) -> bool:
        """Whether one event may lie in both."""
        return self.after < other.upto and other.after < self.upto


@dataclass(frozen=True, slots=True)
class GroupableChange(Generic[Key]):
    """One change: `strength` orders (smaller is surer: its p-value), `kind` must be equal within a group
    (direction and suite, or nothing but the incident)."""

    key: Key
    kind: tuple[str, ...]
    range: TimeRange
    strength: tuple[float, str]


def group_by_cause(
    moves: Sequence[GroupableChange[Key]],
) -> list[list[GroupableChange[Key]]]:
    """The changes of each cause, its leader first, the surest cause first."""
    found: list[list[GroupableChange[Key]]] = []
    for move in sorted(moves, key=lambda move: move.strength):
        home = next(
            (
                group
                for group in found
                if group[0].kind == move.kind and group[0].range.overlaps(move.range)
            ),
            None,
        )
        if home is None:
            found.append([move])
        else:
            home.append(move)
    return found
