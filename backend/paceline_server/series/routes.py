"""Serves series, points, annotations, retired benchmarks and noise floors over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from paceline_server.accounts.auth import Principal, require
from paceline_server.accounts.idempotency import Once
from paceline_server.kernel.errors import invalid_request
from paceline_server.kernel.wire import Page
from paceline_server.series import noise_floors, retired, service, target_noise
from paceline_server.series.queries import NoiseFloorFilters
from paceline_server.series.schemas import (
    AnnotationIn,
    AnnotationOut,
    NoiseFloorOut,
    PointsOut,
    RetiredOut,
    RetireIn,
    SeriesOut,
    TargetsNoiseOut,
)
from paceline_server.series.service import SeriesFilters
from paceline_server.store.page import Before, Cursor, From, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["series"])

Reader = Annotated[Principal, Depends(require("project.read"))]
Annotator = Annotated[Principal, Depends(require("annotations.write"))]
Writer = Annotated[Principal, Depends(require("benchmarks.write"))]
Since = Annotated[
    datetime | None,
    Query(alias="from", description="An instant with its zone, included."),
]
Until = Annotated[
    datetime | None,
    Query(alias="to", description="An instant with its zone, included."),
]
MaxPoints = Annotated[
    int, Query(ge=10, le=5_000, description="More than these are thinned.")
]
Text = Annotated[
    str | None,
    Query(max_length=200, description="Words that must all occur in the name."),
]


@router.get("/series")
def list_series(  # noqa: PLR0917 - query parameters, passed by name
    _: Reader,
    session: DbSession,
    suite: str | None = None,
    benchmark: str | None = None,
    arm: str | None = None,
    metric: str | None = None,
    target: str | None = None,
    branch: str | None = None,
    text: Text = None,
    changed: bool | None = None,
    since: From = None,
    until: Before = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[SeriesOut]:
    """List series by benchmark and arm. `changed` selects those with (or without) a suspect or standing change, `from`
    and `to` those that were measured in that period."""
    filters = SeriesFilters(
        suite, benchmark, arm, metric, target, branch, text, changed, since, until
    )
    return service.list_series(session, filters, limit=limit, cursor=cursor)


@router.get("/series/{series_id}/points")
def list_points(
    series_id: str,
    _: Reader,
    session: DbSession,
    since: Since = None,
    until: Until = None,
    max_points: MaxPoints = 500,
) -> PointsOut:
    """List the points of a window, oldest first, thinned if there are more than `max_points`."""
    for name, instant in (("from", since), ("to", until)):
        if instant is not None and instant.tzinfo is None:
            raise invalid_request(
                f"{name}: expected an instant with its zone.", {name: "no zone"}
            )
    return service.points_of(session, series_id, since, until, max_points)


@router.post("/annotations", status_code=201)
def create_annotation(
    body: AnnotationIn, who: Annotator, session: DbSession, once: Once
) -> AnnotationOut:
    """Annotate a series, or every series of a target."""
    return once.answer(
        session, AnnotationOut, lambda: service.annotate(session, body, who.name)
    )


@router.delete("/annotations/{annotation_id}", status_code=204)
def delete_annotation(annotation_id: str, _: Annotator, session: DbSession) -> None:
    """Delete an annotation."""
    service.remove_annotation(session, annotation_id)


@router.get("/suites/{suite}/retired")
def list_retired(suite: str, _: Reader, session: DbSession) -> Page[RetiredOut]:
    """List retired benchmarks and arms of a suite."""
    return Page(items=retired.list_retired(session, suite), next=None)


@router.put("/suites/{suite}/retired/{benchmark}")
def retire_benchmark(  # noqa: PLR0917 - path and query parameters, passed by name
    suite: str,
    benchmark: str,
    body: RetireIn,
    who: Writer,
    session: DbSession,
    arm: str | None = None,
) -> RetiredOut:
    """Retire a benchmark, or one `arm` of it; 409 `still_declared` while the suite's manifest declares it."""
    return retired.retire(
        session, suite, benchmark, arm, reason=body.reason, who=who.name
    )


@router.delete("/suites/{suite}/retired/{benchmark}", status_code=204)
def restore_benchmark(
    suite: str, benchmark: str, who: Writer, session: DbSession, arm: str | None = None
) -> None:
    """Undo a retirement: runs report it as missing again."""
    retired.restore(session, suite, benchmark, arm, who.name)


@router.get("/noise-floors")
def list_noise_floors(  # noqa: PLR0917 - query parameters, passed by name
    _: Reader,
    session: DbSession,
    suite: str | None = None,
    benchmark: str | None = None,
    arm: str | None = None,
    metric: str | None = None,
    target: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[NoiseFloorOut]:
    """List the newest noise floor of each measurement and target, with the threshold proposed for rules."""
    filters = NoiseFloorFilters(suite, benchmark, arm, metric, target)
    return noise_floors.list_floors(session, filters, limit=limit, cursor=cursor)


@router.get("/targets-by-noise")
def list_targets_by_noise(_: Reader, session: DbSession) -> TargetsNoiseOut:
    """List targets by the noise in their ordinary jobs, the noisiest first."""
    return target_noise.targets_by_noise(session)
