"""Ranks targets by noise, from the points of their ordinary jobs, which needs no A/A job."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from statistics import median

from sqlalchemy.orm import Session

from paceline_server.kernel import clock
from paceline_server.series import queries
from paceline_server.series.schemas import TargetNoiseOut, TargetsNoiseOut

DAYS = 14
"""The noise of this many days counts: two weeks include nights and weekends and describe the target as it is now."""


def targets_by_noise(session: Session) -> TargetsNoiseOut:
    """Return the targets that measured in the last days, the noisiest first."""
    jobs: dict[str, list[queries.JobNoiseRow]] = defaultdict(list)
    for row in queries.noise_of_jobs(session, clock.now() - timedelta(days=DAYS)):
        jobs[row.target_id].append(row)
    targets = [_noise(rows) for rows in jobs.values()]
    targets.sort(
        key=lambda target: (
            target.simulated,
            -target.scatter,
            -(target.waiting_percent or 0.0),
            -target.excluded_share,
            target.target_name,
        )
    )
    return TargetsNoiseOut(days=DAYS, targets=targets)


def _noise(rows: list[queries.JobNoiseRow]) -> TargetNoiseOut:
    first = rows[0]
    waiting = [row.waiting_percent for row in rows if row.waiting_percent is not None]
    excluded = sum(row.excluded for row in rows)
    return TargetNoiseOut(
        target_id=first.target_id,
        target_name=first.target_name,
        simulated=first.simulated,
        jobs=len(rows),
        excluded_jobs=excluded,
        excluded_share=excluded / len(rows),
        scatter=median(row.scatter for row in rows),
        waiting_percent=median(waiting) if waiting else None,
    )
