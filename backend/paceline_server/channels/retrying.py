"""Decides whether a failed attempt is followed by another one, and when, without I/O.

A channel waits as a whole: while its receiver fails, one of its messages tries and the others wait, so a dead receiver
costs one request per pause however many messages wait. After a day without a success the channel is broken and gets no
messages until somebody repairs it.

    healthy ──failure──▶ failing ──a day of failures, or 410──▶ broken
       ▲                    │                                     │
       └─────success────────┴────── success of a test ────────────┘
"""

from __future__ import annotations

from datetime import datetime, timedelta

PAUSES_S = (5.0, 30.0, 120.0, 600.0, 1800.0, 3600.0, 2 * 3600.0, 4 * 3600.0)
"""Pauses after the first, second, … failed attempt; the last one repeats. The first ones are short enough for a restart
of the receiver; with the last one, a dead receiver costs six requests a day."""
MAX_FAILING_TIME = timedelta(days=1)
"""A message is tried this long, and a channel that fails this long is broken."""
GONE = 410
"""The status with which a receiver ends a subscription (Standard Webhooks)."""


def next_attempt(
    failures: int, at: datetime, since: datetime, retry_after_s: float | None
) -> datetime | None:
    """Return when to try again after so many consecutive failures; None if `since` is a day ago, so it is given up."""
    if at - since >= MAX_FAILING_TIME:
        return None
    pause_s = PAUSES_S[min(failures, len(PAUSES_S)) - 1]
    if retry_after_s is not None:
        pause_s = max(pause_s, min(retry_after_s, MAX_FAILING_TIME.total_seconds()))
    return at + timedelta(seconds=pause_s)
