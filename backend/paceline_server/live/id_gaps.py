"""Decides how far a reader of live events may go, so that no event is ever skipped.

PostgreSQL assigns an id when a row is inserted, not when it commits. A reader may see 7 before 6, remember 7 as its
position, and never read 6. So a reader waits at a gap until every transaction that was open when it found the gap has
ended; an id that is still missing then was rolled back.

    6 missing, 7 there --SETTLE_S--> fence = next transaction id --oldest open ≥ fence--> 6 never comes: show 7
         |
         +-- 6 appears --> show 6, 7

SQLite has one writer, so its ids appear in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SETTLE_S = 0.1
"""Delay before the fence is set, because an id is assigned a moment before its transaction is listed as open."""
GIVE_UP_S = 30.0
"""A transaction that is open longer than this no longer delays the streams."""


@dataclass
class Gap:
    """The first missing id after the reader's position. `fence`: the gap is settled once all transactions before this
    id have ended."""

    first: int
    seen_at: float
    fence: int | None = None


class GapTracker:
    """Decides how far a reader may go, from the ids it read and the transactions that were open before it read them."""

    def __init__(self) -> None:
        self._gap: Gap | None = None

    @property
    def waiting(self) -> bool:
        return self._gap is not None

    def count_showable(
        self, position: int, ids: Sequence[int], horizon: tuple[int, int], now: float
    ) -> int:
        """Return how many of the ascending `ids` after `position` may be shown. `horizon`: the ids of the (oldest open,
        next) transaction, read before the rows."""
        expected = position + 1
        for index, row_id in enumerate(ids):
            if row_id != expected and not self._is_settled(expected, horizon, now):
                return index
            expected = row_id + 1
        self._gap = None
        return len(ids)

    def _is_settled(self, first: int, horizon: tuple[int, int], now: float) -> bool:
        if self._gap is None or self._gap.first != first:
            self._gap = Gap(first, now)
            return False
        oldest_open, following = horizon
        if now - self._gap.seen_at >= GIVE_UP_S:
            return True
        if self._gap.fence is None:
            if now - self._gap.seen_at >= SETTLE_S:
                self._gap.fence = following
            return False
        return oldest_open >= self._gap.fence
