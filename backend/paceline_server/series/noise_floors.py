"""Stores the noise floors of A/A jobs and answers what a target can resolve (I14).

A floor belongs to one target and series key, on every branch, and never changes; the
newest applies. Before any A/A job a band is estimated from a series' own scatter: its
`basis` says so, and it refuses no rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

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
"""Newest points of a series that its scatter is estimated from: two months of nightly runs."""

Key = tuple[str, str, dict[str, Any], str, str]
"""(benchmark, arm, params, params key, metric)."""


@dataclass(frozen=True)
class MeasuredFloor:
    """What an A/A job says of one key. `lower`, `upper`: interval of the ratio of its two sides."""

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
    """Keep the floors of one concluded A/A job."""
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
    """The floor in force of every key, the newest first."""
    found: Page[NoiseFloor] = page(
        session,
        queries.newest_floors(filters),
        [NoiseFloor.measured_at, NoiseFloor.id],
        lambda row: (row.measured_at, row.id),
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    names = queries.target_names(session, [row.target_id for row in found.items])
    own = [name for name in NoiseFloorOut.model_fields if name not in _SAID]
    items = [
        NoiseFloorOut(
            **{name: getattr(row, name) for name in own},
            target_name=names[row.target_id],
            proposed_threshold=proposed_threshold(row.mde),
            words=_floor_sentence(row.mde),
        )
        for row in found.items
    ]
    return Page(items=items, next=found.next)


_SAID = ("target_name", "proposed_threshold", "words")


def _floor_sentence(mde: float) -> str:
    return (
        f"effects below {percent(mde)} are not resolved here; a rule had better ask for "
        f"{percent(proposed_threshold(mde))}"
    )


def noise_band(
    session: Session, series: Series, level: float | None
) -> NoiseBandOut | None:
    """The band around a series' present level in which differences say nothing: from its target's newest A/A
    job, else estimated from its own scatter; None where neither says anything."""
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
    """Symmetric in ratios: as much slower as faster."""
    if level is None:
        return {"lower": None, "upper": None}
    return {"lower": level / (1.0 + mde), "upper": level * (1.0 + mde)}
