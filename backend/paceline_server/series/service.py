"""Lists series, returns a series with its points, and stores annotations.

States and changes are derived in `detect.changes`; rules and alerts are decided in `alerts`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from paceline_contract.imported_series import texts_of_names
from paceline_contract.names import NewestNames
from paceline_contract.text_names import DIGEST_MARK
from sqlalchemy.orm import Session

from paceline_server.fleet import service as fleet
from paceline_server.kernel import clock, ids
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.wire import Page
from paceline_server.series import noise_floors as noise
from paceline_server.series import queries, retired, shapes
from paceline_server.series.job_points import JobPoints, PointOfSeries
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
from paceline_server.store.tables.annotations import Annotation
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.history import Series, SeriesPoint

__all__ = [
    "FloorKey",
    "Imports",
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
    "floors_of_real_targets",
    "list_series",
    "name_texts",
    "newest_points",
    "noise_floors",
    "of_suite",
    "points_of",
    "remove_annotation",
    "retired_key",
    "retired_reasons",
    "segment_starts",
    "series_out",
    "series_page",
    "standings",
]


Imports = queries.Imports
branches = queries.branches
fingerprints = queries.fingerprints
fingerprints_of_jobs = queries.fingerprints_of_jobs
floors_of_real_targets = queries.floors_of_real_targets
of_suite = queries.of_suite
newest_points = queries.newest_points
retired_key = retired.retired_key
retired_reasons = retired.retired_reasons


def name_texts(session: Session, names: Iterable[str]) -> dict[str, str]:
    """Return the original text of each of `names` that has a digest in place of a part of that text."""
    digests = {name for name in names if DIGEST_MARK in name}
    if not digests:
        return {}
    texts: dict[str, str] = {}
    for row in queries.titled_names(session, digests):
        texts |= texts_of_names(row.title, row.benchmark, row.arm)
    return {name: text for name, text in texts.items() if name in digests}


def list_series(
    session: Session, filters: SeriesFilters, *, limit: int, cursor: str | None
) -> Page[SeriesOut]:
    """Return series by benchmark and arm."""
    rows: Page[Series] = page(
        session,
        queries.select_series(filters),
        [Series.benchmark, Series.arm, Series.id],
        lambda row: [row.benchmark, row.arm, row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    return Page(items=series_out(session, rows.items), next=rows.next)


def series_out(session: Session, rows: Sequence[Series]) -> list[SeriesOut]:
    """Return the wire shapes of series in the same order, with a fixed number of queries."""
    keys = [row.id for row in rows]
    targets = fleet.targets_by_id(session, [row.target_id for row in rows])
    newest = queries.newest_points(session, keys)
    counts = queries.point_counts(session, keys)
    changes = queries.change_counts(session, keys)
    return [
        shapes.series_out(
            row,
            targets.get(row.target_id),
            newest[row.id],
            counts[row.id],
            changes.get(row.id, {}),
        )
        for row in rows
        if row.id in newest
    ]


def find(session: Session, series_id: str) -> Series:
    """Return a series. Raises 404."""
    series = queries.series_by_id(session, series_id)
    if series is None:
        raise not_found("series", series_id)
    return series


def _environments(
    session: Session, row: Series
) -> tuple[list[EnvironmentOut], dict[str, int]]:
    """Return the environments of a series, oldest first, and the index of each job's environment."""
    plain = queries.plain_points(session, row.id)
    factors = queries.fingerprints(session, {point.fingerprint for point in plain})
    return shapes.environments_out(row, plain, factors), shapes.environment_indices(
        plain
    )


def segment_starts(session: Session, row: Series) -> list[EnvironmentOut]:
    """Return the environments of a series after the first one, oldest first: each begins where the target or the
    meaning of the number changed."""
    environments, _ = _environments(session, row)
    return environments[1:]


def series_page(session: Session, series_id: str) -> SeriesPageOut:
    """Return a series without its points; `alerts` fills in `rule`. Raises 404."""
    row = find(session, series_id)
    listed = series_out(session, [row])
    if not listed:
        raise not_found("series", series_id)
    environments, environment_index = _environments(session, row)
    state = queries.state(session, series_id)
    segments = (
        []
        if state is None
        else [
            shapes.segment_out(segment, environment_index) for segment in state.segments
        ]
    )
    changes = [
        shapes.change_out(change) for change in queries.changes(session, [series_id])
    ]
    level = segments[-1].level if segments else None
    return SeriesPageOut(
        series=listed[0],
        state=shapes.state_sentence(listed[0], changes, segments),
        level=level,
        baseline_job_id=None if state is None else state.baseline_job_id,
        evaluated_at=None if state is None else state.evaluated_at,
        environments=environments,
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
    """Return the points of a window, thinned if there are more than `max_points`. Raises 404."""
    row = find(session, series_id)
    rows = queries.points(session, series_id, since, until)
    environments, environment_index = _environments(session, row)
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
            f"{len(kept)} of {len(rows)} points are shown: the lowest and highest of neighbouring points, both "
            "ends, and every point at which the level changed. Zoom in to see all."
        )
    shown = [shapes.point_out(rows[index], environment_index) for index in kept]
    return PointsOut(
        series_id=series_id,
        unit=shapes.unit_of(row),
        total=len(rows),
        thinned=bool(note),
        note=note,
        first_at=environments[0].first_at if environments else None,
        last_at=row.last_at if environments else None,
        environments=environments,
        tracks=sorted({track for point in shown for track in point.conditions}),
        points=shown,
    )


class SeriesStanding(NamedTuple):
    """A series with its newest point and live changes, for the matrix and comparisons."""

    series: Series
    point: SeriesPoint
    changes: list[ChangeOut]
    mde: float | None
    """The newest noise floor of its key, a fraction."""


def standings(
    session: Session, suite: str, branch: str, imports: Imports = "judged"
) -> list[SeriesStanding]:
    """Return series of a suite on a branch that have a point, by name."""
    rows = queries.of_suite(session, suite, branch, imports)
    keys = [row.id for row in rows]
    newest = queries.newest_points(session, keys)
    changes = defaultdict[str, list[ChangeOut]](list)
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
    """Return the key of a row's noise floor; it holds on every branch."""
    return row.target_id, row.benchmark, row.arm, row.params_key, row.metric


def series_ids(
    session: Session, suite: str, branch: str, benchmarks: Collection[str]
) -> dict[FloorKey, str]:
    """Return the ids of the series of these benchmarks on a branch, by the key of their noise floor."""
    return {
        floor_key(row): row.id
        for row in queries.series_names(session, suite, branch, benchmarks)
    }


def noise_floors(
    session: Session, suite: str, target_ids: Collection[str]
) -> dict[FloorKey, float]:
    """Return the newest minimum detectable effects (fractions) of a suite on these targets, by key."""
    return {
        floor_key(row): row.mde
        for row in queries.noise_floors(session, suite, target_ids)
    }


def annotate(session: Session, body: AnnotationIn, who: str) -> AnnotationOut:
    """Store an annotation. Raises 404 for an unknown series or target."""
    if body.series_id is not None:
        find(session, body.series_id)
    elif body.target_id is not None:
        fleet.find_target(session, body.target_id)
    row = Annotation(
        id=ids.new_id("ann"),
        created_by=who,
        created_at=clock.now(),
        **body.model_dump(),
    )
    session.add(row)
    session.flush()
    return AnnotationOut.model_validate(row)


def remove_annotation(session: Session, annotation_id: str) -> None:
    """Delete an annotation. Raises 404."""
    row = queries.annotation(session, annotation_id)
    if row is None:
        raise not_found("annotation", annotation_id)
    session.delete(row)
