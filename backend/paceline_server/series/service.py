"""The front door of `series`: lists series, shows one, and keeps annotations.

Points are facts; states and changes are derived from them by `detect.changes`. Rules
and alerts are decided in `alerts`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.wire import Page
from paceline_server.series import noise_floors as noise
from paceline_server.series import queries, retired, shapes
from paceline_server.series.job_points import JobPoints, NewestNames, PointOfSeries
from paceline_server.series.queries import LIVE, SeriesFilters
from paceline_server.series.schemas import (
    AnnotationIn,
    AnnotationOut,
    ChangeOut,
    EnvironmentOut,
    PointsOut,
    SeriesOut,
    SeriesPageOut,
)
from paceline_server.series.thinning import thin_points
from paceline_server.store.page import page
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.history import Annotation, Series, SeriesPoint

__all__ = [
    "FloorKey",
    "JobPoints",
    "NewestNames",
    "PointOfSeries",
    "SeriesFilters",
    "SeriesStanding",
    "annotate",
    "branches",
    "find",
    "fingerprints",
    "fingerprints_of_jobs",
    "floor_key",
    "list_series",
    "newest_points",
    "noise_floors",
    "of_suite",
    "points_of",
    "remove_annotation",
    "retired_key",
    "retired_reasons",
    "series_out",
    "series_page",
    "standings",
]

branches = queries.branches
fingerprints = queries.fingerprints
fingerprints_of_jobs = queries.fingerprints_of_jobs
of_suite = queries.of_suite
newest_points = queries.newest_points
retired_key = retired.retired_key
retired_reasons = retired.retired_reasons


def list_series(
    session: Session, filters: SeriesFilters, *, limit: int, cursor: str | None
) -> Page[SeriesOut]:
    """Series by benchmark and arm, a page of them."""
    found: Page[Series] = page(
        session,
        queries.select_series(filters),
        [Series.benchmark, Series.arm, Series.id],
        lambda row: [row.benchmark, row.arm, row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    return Page(items=series_out(session, found.items), next=found.next)


def series_out(session: Session, rows: Sequence[Series]) -> list[SeriesOut]:
    """Wire shapes, in order, from one query for each of their parts."""
    keys = [row.id for row in rows]
    names = queries.target_names(session, [row.target_id for row in rows])
    newest, counts = (
        queries.newest_points(session, keys),
        queries.point_counts(session, keys),
    )
    changes = queries.change_counts(session, keys)
    return [
        shapes.series_out(
            row,
            names.get(row.target_id, ""),
            newest[row.id],
            counts[row.id],
            changes.get(row.id, {}),
        )
        for row in rows
        if row.id in newest
    ]


def find(session: Session, series_id: str) -> Series:
    """A series. Raises 404."""
    found = queries.series_by_id(session, series_id)
    if found is None:
        raise not_found("series", series_id)
    return found


def _environments(
    session: Session, series_id: str
) -> tuple[list[EnvironmentOut], dict[str, int]]:
    """The environments of a series, oldest first, and which of them each job measured in."""
    plain = queries.plain_points(session, series_id)
    factors = queries.fingerprints(session, {point.fingerprint for point in plain})
    return shapes.environments_out(plain, factors), shapes.environment_of(plain)


def series_page(session: Session, series_id: str) -> SeriesPageOut:
    """All of a series but its points and its rule (which `alerts` knows). Raises 404."""
    row = find(session, series_id)
    said = series_out(session, [row])
    if not said:
        raise not_found("series", series_id)
    found, environment = _environments(session, series_id)
    state = queries.state(session, series_id)
    segments = (
        []
        if state is None
        else [shapes.segment_out(segment, environment) for segment in state.segments]
    )
    changes = [
        shapes.change_out(change) for change in queries.changes(session, [series_id])
    ]
    level = segments[-1].level if segments else None
    return SeriesPageOut(
        series=said[0],
        state=shapes.state_sentence(said[0], changes, segments),
        level=level,
        baseline_job_id=None if state is None else state.baseline_job_id,
        evaluated_at=None if state is None else state.evaluated_at,
        environments=found,
        segments=segments,
        changes=changes,
        noise=noise.noise_band(session, row, level),
        rule=None,
        annotations=[
            AnnotationOut.model_validate(annotation)
            for annotation in queries.annotations_beside(session, row)
        ],
    )


def points_of(
    session: Session,
    series_id: str,
    since: datetime | None,
    until: datetime | None,
    max_points: int,
) -> PointsOut:
    """The points of a window, thinned where there are more than `max_points`. Raises 404."""
    row = find(session, series_id)
    rows = queries.points(session, series_id, since, until)
    found, environment = _environments(session, series_id)
    changed = {
        change.change.job_id for change in queries.changes(session, [series_id], LIVE)
    }
    always: Collection[int] = [
        index for index, point in enumerate(rows) if point.job_id in changed
    ]
    kept = thin_points([point.value for point in rows], max_points, always)
    note = ""
    if len(kept) < len(rows):
        note = (
            f"{len(kept)} of {len(rows)} points are shown: of neighbours the lowest and the highest, both "
            "ends, and every point at which the level changed. Zoom in to see all."
        )
    shown = [shapes.point_out(rows[index], environment) for index in kept]
    return PointsOut(
        series_id=series_id,
        unit=shapes.unit_of(row),
        total=len(rows),
        thinned=bool(note),
        note=note,
        first_at=found[0].first_at if found else None,
        last_at=row.last_at if found else None,
        environments=found,
        tracks=sorted({track for point in shown for track in point.conditions}),
        points=shown,
    )


class SeriesStanding(NamedTuple):
    """A series as the matrix and comparisons need it: where it stands, in one row."""

    series: Series
    point: SeriesPoint
    changes: list[ChangeOut]
    mde: float | None
    """The newest noise floor of its key, a share."""


def standings(session: Session, suite: str, branch: str) -> list[SeriesStanding]:
    """Every series of a suite on a branch that has a point, by name, with its live changes."""
    rows = queries.of_suite(session, suite, branch)
    keys = [row.id for row in rows]
    newest, changes = (
        queries.newest_points(session, keys),
        defaultdict[str, list[ChangeOut]](list),
    )
    for change in queries.changes(session, keys, LIVE):
        changes[change.series.id].append(shapes.change_out(change))
    floors = noise_floors(session, suite, {row.target_id for row in rows})
    return [
        SeriesStanding(row, newest[row.id], changes[row.id], floors.get(floor_key(row)))
        for row in rows
        if row.id in newest
    ]


FloorKey = tuple[str, str, str, str, str]
"""(target, benchmark, arm, params key, metric)."""


def floor_key(
    row: Series | queries.NoiseFloorRow | queries.SeriesNameRow | Comparison,
) -> FloorKey:
    """What a noise floor is of: it holds on every branch."""
    return row.target_id, row.benchmark, row.arm, row.params_key, row.metric


def series_ids(
    session: Session, suite: str, branch: str, benchmarks: Collection[str]
) -> dict[FloorKey, str]:
    """The series of these benchmarks of a suite on a branch, by what their noise floors are of."""
    return {
        floor_key(row): row.id
        for row in queries.series_names(session, suite, branch, benchmarks)
    }


def noise_floors(
    session: Session, suite: str, target_ids: Collection[str]
) -> dict[FloorKey, float]:
    """The newest minimum detectable effect of everything of a suite on these targets, shares."""
    return {
        floor_key(row): row.mde
        for row in queries.noise_floors(session, suite, target_ids)
    }


def annotate(session: Session, said: AnnotationIn, who: str) -> AnnotationOut:
    """Keep what a person wrote. Raises 404 for a series or target there is not."""
    if said.series_id is not None:
        find(session, said.series_id)
    elif said.target_id is not None and not queries.target_exists(
        session, said.target_id
    ):
        raise not_found("target", said.target_id)
    row = Annotation(
        id=ids.new_id("ann"),
        created_by=who,
        created_at=clock.now(),
        **said.model_dump(),
    )
    session.add(row)
    session.flush()
    return AnnotationOut.model_validate(row)


def remove_annotation(session: Session, annotation_id: str) -> None:
    """Take a note away. Raises 404."""
    row = queries.annotation(session, annotation_id)
    if row is None:
        raise not_found("annotation", annotation_id)
    session.delete(row)
