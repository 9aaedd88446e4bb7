"""Stores the noise floors of A/A jobs, and returns the smallest effect that a target can resolve (I14).

A floor holds for one target and series key on every branch; the newest applies. Before the first A/A job, a band is
estimated from the series' own scatter; no rule is refused because of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.kernel import clock, ids
from paceline_server.kernel.wire import Page
from paceline_server.series import queries
from paceline_server.series.queries import NoiseFloorFilters
from paceline_server.series.schemas import NoiseBandOut, NoiseFloorOut
from paceline_server.stats.noise import mde_from_history, proposed_threshold
from paceline_server.stats.plain_words import percent
from paceline_server.store.page import page
from paceline_server.store.tables.history import NoiseFloor, Series

HISTORY_POINTS = 60
"""The scatter is estimated from this many newest points: two months of nightly runs."""

Key = tuple[str, str, dict[str, Any], str, str]
"""(benchmark, arm, params, params key, metric)."""


@dataclass(frozen=True)
class MeasuredFloor:
    """A noise floor that an A/A job measured for one key, with the interval of the ratio of its two sides."""

    key: Key
    mde: float
    lower: float
    upper: float
    blocks: int
    launches: int
    evidence: dict[str, Any]


def record_floors(
    session: Session,
    *,
    target_id: str,
    suite: str,
    run_id: str,
    job_id: str,
    floors: Iterable[MeasuredFloor],
) -> None:
    """Store the floors of a concluded A/A job."""
    at = clock.now()
    for floor in floors:
        benchmark, arm, params, params_key, metric = floor.key
        session.add(
            NoiseFloor(
                id=ids.new_id("nsf"),
                target_id=target_id,
                suite=suite,
                benchmark=benchmark,
                arm=arm,
                params=params,
                params_key=params_key,
                metric=metric,
                mde=floor.mde,
                lower=floor.lower,
                upper=floor.upper,
                blocks=floor.blocks,
                launches=floor.launches,
                evidence=floor.evidence,
                run_id=run_id,
                job_id=job_id,
                measured_at=at,
            )
        )
    session.flush()


def list_floors(
    session: Session, filters: NoiseFloorFilters, *, limit: int, cursor: str | None
) -> Page[NoiseFloorOut]:
    """Return the newest floor of every key, the newest first."""
    floors: Page[NoiseFloor] = page(
        session,
        queries.select_newest_floors(filters),
        [NoiseFloor.measured_at, NoiseFloor.id],
        lambda row: (row.measured_at, row.id),
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    targets = fleet.targets_by_id(session, [row.target_id for row in floors.items])
    items = [
        NoiseFloorOut.of_row(
            row,
            target_name=targets[row.target_id].name,
            proposed_threshold=proposed_threshold(row.mde),
            words=_floor_sentence(row.mde),
        )
        for row in floors.items
    ]
    return Page(items=items, next=floors.next)


def _floor_sentence(mde: float) -> str:
    return (
        f"effects below {percent(mde)} are not resolved here; a rule had better ask for "
        f"{percent(proposed_threshold(mde))}"
    )


def noise_band(
    session: Session, series: Series, level: float | None
) -> NoiseBandOut | None:
    """Return the band around a series' level within which differences are noise.

    It comes from the target's newest A/A job, else from the series' own scatter; None without either."""
    floor = queries.noise_floor(session, series)
    if floor is not None:
        return NoiseBandOut(
            mde=floor.mde,
            **_band_limits(level, floor.mde),
            basis="a_a",
            measured_at=floor.measured_at,
            job_id=floor.job_id,
            words=f"effects below {percent(floor.mde)} are not resolved here",
        )
    points = queries.last_points(session, series, HISTORY_POINTS)
    mde = (
        mde_from_history(np.array([point.value for point in points]))
        if points
        else None
    )
    if mde is None:
        return None
    words = (
        f"steps below {percent(mde)} drown in the scatter of the last {len(points)} points; no A/A job has "
        "measured the noise floor yet"
    )
    return NoiseBandOut(
        mde=mde,
        **_band_limits(level, mde),
        basis="history",
        measured_at=points[-1].at,
        job_id=points[-1].job_id,
        words=words,
    )


def _band_limits(level: float | None, mde: float) -> dict[str, float | None]:
    """Return the limits of a band, which are the same ratio above and below the level."""
    if level is None:
        return {"lower": None, "upper": None}
    return {"lower": level / (1.0 + mde), "upper": level * (1.0 + mde)}
