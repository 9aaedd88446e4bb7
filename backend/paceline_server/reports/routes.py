"""HTTP of what is read: overview, reports, comparisons, arms, distributions, live series,
incidents.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from paceline_server.accounts.auth import Principal, require
from paceline_server.detect.schemas import ComparisonOut, JobReportOut
from paceline_server.jobs.schemas import RunIn
from paceline_server.kernel.wire import Page
from paceline_server.reports import (
    compare,
    completeness,
    estimates,
    matrix,
    series_page,
    service,
    target_conditions,
)
from paceline_server.reports.compare import MeasurementFilter
from paceline_server.reports.history_schemas import (
    CompareOut,
    CompletenessOut,
    MatrixOut,
)
from paceline_server.reports.schemas import (
    ArmsOut,
    AuditEntryOut,
    DistributionOut,
    IncidentOut,
    LiveSeriesOut,
    OverviewOut,
    RunEstimateOut,
    TargetConditionsOut,
)
from paceline_server.series.schemas import SeriesPageOut
from paceline_server.store.audit import ObjectKind
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession

router = APIRouter(tags=["reports"])

Reader = Annotated[Principal, Depends(require("read"))]
Admin = Annotated[Principal, Depends(require("admin"))]
Params = Annotated[str, Query(max_length=4000, description="A JSON object of params.")]


@router.get("/overview")
def get_overview(_: Reader, session: DbSession) -> OverviewOut:
    """Alerts by state, agents, the newest runs."""
    return service.overview(session)


@router.get("/incidents")
def list_incidents(
    _: Admin, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[IncidentOut]:
    """What who operates Paceline should know, the newest first; counted in `/metrics` too."""
    return service.incidents(session, limit=limit, cursor=cursor)


@router.get("/audit")
def list_audit(  # noqa: PLR0917 - query parameters, passed by name
    _: Reader,
    session: DbSession,
    object_kind: ObjectKind | None = None,
    object_id: str | None = None,
    actor: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AuditEntryOut]:
    """Who changed what, the newest first: rules, alerts, bulk triage, schedules, retired benchmarks,
    tokens, targets."""
    return service.audit_log(
        session,
        object_kind=object_kind,
        object_id=object_id,
        actor=actor,
        limit=limit,
        cursor=cursor,
    )


@router.get("/jobs/{job_id}/report")
def get_report(job_id: str, _: Reader, session: DbSession) -> JobReportOut:
    """A job's newest analysis; 404 `not_analysed` before there is one."""
    return service.get_report(session, job_id)


@router.get("/runs/{run_id}/comparisons")
def list_comparisons(
    run_id: str, _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[ComparisonOut]:
    """Every arm against its reference, of the run's concluded jobs."""
    return service.comparisons_of_run(session, run_id, limit=limit, cursor=cursor)


@router.get("/arms")
def get_arms(
    suite: str,
    benchmark: str,
    _: Reader,
    session: DbSession,
    metric: str | None = None,
    target: str | None = None,
) -> ArmsOut:
    """The newest comparisons of one benchmark per target, with the rule and a summary in words."""
    return service.compare_arms(session, suite, benchmark, metric, target)


@router.get("/targets/{target_id}/conditions")
def get_target_conditions(
    target_id: str,
    _: Reader,
    session: DbSession,
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
) -> TargetConditionsOut:
    """What a target was like over time, and during each of its jobs; without bounds the last week."""
    return target_conditions.over_time(session, target_id, since, until)


@router.get("/jobs/{job_id}/distribution")
def get_distribution(
    job_id: str,
    benchmark: str,
    metric: str,
    _: Reader,
    session: DbSession,
    params: Params = "{}",
) -> DistributionOut:
    """The empirical distribution of each arm at one point of the params."""
    return service.distribution(session, job_id, benchmark, metric, params)


@router.get("/jobs/{job_id}/live-series")
def list_live_series(job_id: str, _: Reader, session: DbSession) -> Page[LiveSeriesOut]:
    """Recent values per case while a job measures."""
    return service.live_series(session, job_id)


@router.get("/series/{series_id}")
def get_series(series_id: str, _: Reader, session: DbSession) -> SeriesPageOut:
    """One series: its levels, environments, changes, noise floor, the rule in force, and notes."""
    return series_page.series_page(session, series_id)


@router.get("/matrix")
def get_matrix(
    suite: str, _: Reader, session: DbSession, branch: str | None = None
) -> MatrixOut:
    """Where a suite stands: benchmark × target; without a branch on the one measured last."""
    return matrix.matrix(session, suite, branch)


@router.get("/compare")
def get_comparison(  # noqa: PLR0917 - query parameters, passed by name
    base: str,
    head: str,
    _: Reader,
    session: DbSession,
    suite: str | None = None,
    target: str | None = None,
    benchmark: str | None = None,
    metric: str | None = None,
    hide_uncertain: bool = False,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> CompareOut:
    """Two runs (`run_…`) or two revisions (7 or more digits of a commit): what differs around them, then
    every measurement, in pages. Shown, not judged, but where an A/B job of this pair decided."""
    wanted = MeasurementFilter(suite, target, benchmark, metric, hide_uncertain)
    return compare.compare(session, base, head, wanted, limit, cursor)


@router.post("/runs/estimate")
def estimate_run(body: RunIn, _: Reader, session: DbSession) -> RunEstimateOut:
    """How long a request would take, from past runs, and from where on a demonstration shows anything. Makes
    no run; refuses what a request for one would be refused for, but not that no target is online."""
    return estimates.estimate(session, body)


@router.get("/runs/{run_id}/completeness")
def get_completeness(run_id: str, _: Reader, session: DbSession) -> CompletenessOut:
    """What a run owed and what has arrived by now, every missing case with its reason."""
    return completeness.completeness(session, run_id)
