"""Finds the instant of a channel's next digest, without I/O.

People set it as a time of day in their own time zone, where an hour may be missing or come twice.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def next_time(wanted: time, zone: str, at: datetime) -> datetime:
    """Return the first instant after `at` that is the time of day `wanted` in a time zone."""
    day = at.astimezone(ZoneInfo(zone)).date()
    return next(
        instant
        for ahead in range(3)
        for instant in _instants(day + timedelta(days=ahead), wanted, zone)
        if instant > at
    )


def _instants(day: date, wanted: time, zone: str) -> list[datetime]:
    """Return the instants of a time of day: two if the clock is set back over it. If the clock skips it, the instant is
    an hour later."""
    both = [
        datetime.combine(day, wanted.replace(fold=fold), ZoneInfo(zone)).astimezone(UTC)
        for fold in (0, 1)
    ]
    shown = {
        instant
        for instant in both
        if instant.astimezone(ZoneInfo(zone)).time().replace(fold=0) == wanted
    }
    return sorted(shown) or both[:1]
