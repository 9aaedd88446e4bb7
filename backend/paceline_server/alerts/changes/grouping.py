"""Which changes have one cause: same direction, overlapping range. Pure.

Place: `service` asks, for the changes of one target. Invariants: the order of the list does not matter; the
best located change leads its group and every member overlaps the leader's range, so that two causes in a row
never melt into one through a chain of neighbours. A range is half open: the old level was measured at
`after`, the new one at `upto`. Deliberately knows no rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Range:
    """What happened after `after` and by `upto`: instants at which one target measured."""

    after: datetime
    upto: datetime

    def overlaps(self, other: Range) -> bool:
        """Whether one event may lie in both."""
        return self.after < other.upto and other.after < self.upto


@dataclass(frozen=True, slots=True)
class Moved(Generic[Key]):
    """One change: `strength` orders (smaller is surer: its p-value), `kind` must be equal within a group
    (direction and suite, or nothing but the incident)."""

    key: Key
    kind: tuple[str, ...]
    range: Range
    strength: tuple[float, str]


def groups(moves: Sequence[Moved[Key]]) -> list[list[Moved[Key]]]:
    """The changes of each cause, its leader first, the surest cause first."""
    found: list[list[Moved[Key]]] = []
    for move in sorted(moves, key=lambda one: one.strength):
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
