"""Shows a target's conditions over time: its gate readings, and a summary of each of its
jobs.

The answer is bounded whatever is requested: tracks are thinned keeping the extremes of
each stretch, because peaks are what one looks for, and only the newest jobs are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, Literal

from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.kernel import clock
from paceline_server.kernel.errors import invalid_request
from paceline_server.reports import queries
from paceline_server.reports.schemas import (
    GapOut,
    JobConditionsOut,
    TargetConditionsOut,
    TrackOut,
    TrackPointOut,
)
from paceline_server.store.tables.fleet import TargetReading

LOOK_BACK = timedelta(days=7)
"""What is shown without bounds: a week has its nights and its weekend."""
MAX_READINGS = 5_000
"""Rows read at most: a month of a device, every ten minutes and a few changes."""
MAX_POINTS = 300
"""Of one track: what a chart shows without dots."""
MAX_JOBS = 50
GAP = 2 * fleet.READING_EVERY
"""Twice the pace at which a reading is kept though it did not change: one that is late is no gap."""

Key = Literal[
    "battery_c", "battery_percent", "thermal_status", "free_bytes", "charging"
]
KEYS: Final[tuple[tuple[Key, str], ...]] = (
    ("battery_c", "°C"),
    ("battery_percent", "%"),
    ("thermal_status", ""),
    ("free_bytes", "bytes"),
    ("charging", ""),
)


def over_time(
    session: Session, target_id: str, since: datetime | None, until: datetime | None
) -> TargetConditionsOut:
    """Tracks between two instants (without a zone: UTC), and the newest jobs of that time. Raises 404, 400
    for an end before the beginning."""
    target = fleet.find_target(session, target_id)
    until = _zoned(until) or clock.now()
    since = _zoned(since) or until - LOOK_BACK
    if since > until:
        raise invalid_request(
            "to: that is before `from`.", {"to": "give a later instant"}
        )
    found = fleet.readings(session, target_id, since, until, MAX_READINGS + 1)
    rows = found[-MAX_READINGS:]
    tracks = [
        TrackOut(key=key, unit=unit, points=_points(rows, key)) for key, unit in KEYS
    ]
    jobs = [
        JobConditionsOut(
            job_id=row.job_id,
            run_id=row.run_id,
            suite=row.suite,
            at=row.at,
            verdict=row.verdict,
            conditions=row.conditions or {},
            suppressed=row.suppressed or [],
        )
        for row in queries.conditions_of_jobs(
            session, target_id, since, until, MAX_JOBS
        )
    ]
    return TargetConditionsOut(
        tracks=[track for track in tracks if track.points],
        gaps=gaps([row.at for row in rows]),
        jobs=jobs,
        note=_note(target.kind, rows, cut=len(found) > len(rows)),
    )


def _zoned(at: datetime | None) -> datetime | None:
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def _points(rows: Sequence[TargetReading], key: str) -> list[TrackPointOut]:
    known = [
        (row.at, float(getattr(row, key)))
        for row in rows
        if getattr(row, key) is not None
    ]
    return [
        TrackPointOut(at=at, value=value) for at, value in thinned(known, MAX_POINTS)
    ]


def gaps(instants: Sequence[datetime]) -> list[GapOut]:
    """Where two readings are further apart than a connected, idle device has them: the longest, in order.
    Found before thinning, which tears readings apart by itself."""
    found = [
        GapOut(after=one, until=two)
        for one, two in pairwise(instants)
        if two - one > GAP
    ]
    longest = sorted(found, key=lambda gap: gap.after - gap.until)[:MAX_POINTS]
    return sorted(longest, key=lambda gap: gap.after)


def thinned(
    points: Sequence[tuple[datetime, float]], most: int
) -> list[tuple[datetime, float]]:
    """At most `most` points in their order: the lowest and the highest of each of equal stretches, and both
    ends."""
    if len(points) <= most:
        return list(points)
    inner, stretches = points[1:-1], (most - 2) // 2
    kept = {0, len(points) - 1}
    for index in range(stretches):
        first, last = (
            index * len(inner) // stretches,
            (index + 1) * len(inner) // stretches,
        )
        stretch = range(first + 1, last + 1)
        kept.add(min(stretch, key=lambda at: points[at][1]))
        kept.add(max(stretch, key=lambda at: points[at][1]))
    return [points[at] for at in sorted(kept)]


def _note(kind: str, rows: Sequence[TargetReading], *, cut: bool) -> str:
    """`cut`: there are older readings in the time that was asked for."""
    if kind != "device":
        return "A host reports its conditions with its jobs only; there are no readings between them."
    if not rows:
        return "No readings in this time: the device was not connected, or its agent is silent."
    older = f"There are too many readings for all of this time: these begin {rows[0].at:%Y-%m-%d %H:%M} UTC. "
    return (older if cut else "") + (
        "Read when its agent looks, kept when they changed and every ten minutes; a gap is a device that was "
        "not connected, or that a job measured on: nothing is read meanwhile."
    )
