"""Groups changes that have one cause: same direction, overlapping range.

The surest change leads its group and every member overlaps the leader's range, so that
neighbours cannot chain two causes into one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The time in which a change happened: the old level was measured at `after`, the new one at `upto`."""

    after: datetime
    upto: datetime

    def overlaps(self, other: TimeRange) -> bool:
        """Whether the same event may lie in both ranges."""
        return self.after < other.upto and other.after < self.upto


@dataclass(frozen=True, slots=True)
class GroupableChange(Generic[Key]):
    """A change to group. Changes of a group have the same `kind`; a smaller `strength` is surer and leads."""

    key: Key
    kind: tuple[str, ...]
    range: TimeRange
    strength: tuple[float, str]


def group_by_cause(
    moves: Sequence[GroupableChange[Key]],
) -> list[list[GroupableChange[Key]]]:
    """The changes of each cause, its leader first, the surest cause first."""
    groups: list[list[GroupableChange[Key]]] = []
    for move in sorted(moves, key=lambda move: move.strength):
        home = next(
            (
                group
                for group in groups
                if group[0].kind == move.kind and group[0].range.overlaps(move.range)
            ),
            None,
        )
        if home is None:
            groups.append([move])
        else:
            home.append(move)
    return groups
