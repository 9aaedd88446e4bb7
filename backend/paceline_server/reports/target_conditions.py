"""Returns a target's conditions over time: its readings, and a summary of each of its jobs.

The response is bounded: tracks are thinned but keep the peaks that readers look for, and only the newest jobs are
listed.
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
"""The default period: a week includes nights and a weekend."""
MAX_READINGS = 5_000
"""At most this many rows are read: a month of readings every ten minutes, and some changes."""
MAX_POINTS = 300
"""Points per track, as many as a chart can show."""
MAX_JOBS = 50
GAP = 2 * fleet.READING_EVERY
"""A gap is longer than twice the interval of unchanged readings, so that a late reading is not a gap."""

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
    """Return tracks between two instants (UTC if they have no zone) and the newest jobs of that time. Raises 404; 400
    if the end is before the beginning."""
    target = fleet.find_target(session, target_id)
    until = _in_utc(until) or clock.now()
    since = _in_utc(since) or until - LOOK_BACK
    if since > until:
        raise invalid_request(
            "to: that is before `from`.", {"to": "give a later instant"}
        )
    readings = fleet.readings(session, target_id, since, until, MAX_READINGS + 1)
    rows = readings[-MAX_READINGS:]
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
        note=_note(target.kind, rows, cut=len(readings) > len(rows)),
    )


def _in_utc(at: datetime | None) -> datetime | None:
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def _points(rows: Sequence[TargetReading], key: str) -> list[TrackPointOut]:
    values = [
        (row.at, float(getattr(row, key)))
        for row in rows
        if getattr(row, key) is not None
    ]
    return [
        TrackPointOut(at=at, value=value)
        for at, value in thin_track(values, MAX_POINTS)
    ]


def gaps(instants: Sequence[datetime]) -> list[GapOut]:
    """Return the longest gaps between readings, in order. They must be computed before thinning, which adds gaps."""
    gaps = [
        GapOut(after=before, until=after)
        for before, after in pairwise(instants)
        if after - before > GAP
    ]
    longest = sorted(gaps, key=lambda gap: gap.after - gap.until)[:MAX_POINTS]
    return sorted(longest, key=lambda gap: gap.after)


def thin_track(
    points: Sequence[tuple[datetime, float]], most: int
) -> list[tuple[datetime, float]]:
    """Return at most `most` points, in order: both ends, and the lowest and highest of equal stretches."""
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
    """Return the limits of the tracks, in words; `cut` means that older readings of the period were left out."""
    if kind != "device":
        return "A host reports its conditions with its jobs only; there are no readings between them."
    if not rows:
        return "No readings in this time: the device was not connected, or its agent is silent."
    older = f"There are too many readings for all of this time: these begin {rows[0].at:%Y-%m-%d %H:%M} UTC. "
    return (older if cut else "") + (
        "Read when its agent looks, kept when they changed and every ten minutes; a gap is a device that was "
        "not connected, or that a job measured on: nothing is read meanwhile."
    )
