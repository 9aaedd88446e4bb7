"""Decides what follows a failed attempt: another one later, or the end. Pure.

A channel waits as a whole: while its receiver fails, one of its messages tries and the others wait, so a dead receiver
costs one request per pause however much is waiting. After a day without a success the channel is broken and gets no
messages until somebody repairs it.

    healthy ──failure──▶ failing ──a day of failures, or 410──▶ broken
       ▲                    │                                     │
       └─────success────────┴────── success of a test ────────────┘
"""

from __future__ import annotations

from datetime import datetime, timedelta

PAUSES_S = (5.0, 30.0, 120.0, 600.0, 1800.0, 3600.0, 2 * 3600.0, 4 * 3600.0)
"""The pause after the first, second, … failed attempt; the last repeats. The first ones bridge a restart of the
receiver, the last ones cost a dead receiver six requests a day."""
LONGEST_TRY = timedelta(days=1)
"""How long a message is tried, and how long a channel may fail before it is broken: a receiver that failed on a Friday
evening has the weekend's first day."""
GONE = 410
"""A receiver's way to end a subscription, by the specification of Standard Webhooks."""


def next_attempt(
    failures: int, at: datetime, since: datetime, retry_after_s: float | None
) -> datetime | None:
    """Return when to try again after the `failures`th failure in a row; None: no more, because `since` is a day ago."""
    if at - since >= LONGEST_TRY:
        return None
    pause_s = PAUSES_S[min(failures, len(PAUSES_S)) - 1]
    if retry_after_s is not None:
        pause_s = max(pause_s, min(retry_after_s, LONGEST_TRY.total_seconds()))
    return at + timedelta(seconds=pause_s)
