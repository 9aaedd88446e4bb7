"""Serves reports over HTTP: overview, comparisons, arms, distributions, live series, incidents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from paceline_server.accounts.auth import Principal, require
from paceline_server.detect.schemas import ComparisonOut, JobReportOut
from paceline_server.jobs.schemas import RunIn
from paceline_server.kernel.wire import Instant, Page
from paceline_server.reports import (
    arm_standings,
    compare,
    completeness,
    estimates,
    matrix,
    series_page,
    service,
    target_conditions,
)
from paceline_server.reports import since as since_report
from paceline_server.reports.compare import MeasurementFilter
from paceline_server.reports.history_schemas import (
    ArmStandingsOut,
    CompareOut,
    CompletenessOut,
    MatrixOut,
)
from paceline_server.reports.schemas import (
    ActorKind,
    ArmsOut,
    AuditEntryOut,
    AuditFilters,
    DistributionOut,
    IncidentOut,
    LiveSeriesOut,
    OverviewOut,
    RunEstimateOut,
    SinceOut,
    TargetConditionsOut,
    WaitingOut,
)
from paceline_server.series.schemas import SeriesPageOut
from paceline_server.store.audit import ObjectKind
from paceline_server.store.page import Before, Cursor, From, Limit
from paceline_server.store.session import DbSession, SystemSession

router = APIRouter(tags=["reports"])

Reader = Annotated[Principal, Depends(require("project.read"))]
Admin = Annotated[Principal, Depends(require("installation.admin"))]
Auditor = Annotated[Principal, Depends(require("audit.read"))]
Params = Annotated[str, Query(max_length=4000, description="A JSON object of params.")]


@router.get("/overview")
def get_overview(_: Reader, session: DbSession) -> OverviewOut:
    """Return alerts by state, agents and the newest runs."""
    return service.overview(session)


@router.get("/waiting")
def get_waiting(_: Reader, session: DbSession) -> WaitingOut:
    """Count what waits for a person or a target, for the menu."""
    return service.waiting(session)


@router.get("/since")
def get_since(
    _: Reader,
    session: DbSession,
    since: Annotated[Instant, Query(alias="from")],
) -> SinceOut:
    """List what is new since an instant: changes, flipped verdicts, alerts and failed runs, at most 20 of each."""
    return since_report.new_since(session, since)


@router.get("/incidents")
def list_incidents(
    _: Admin, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[IncidentOut]:
    """List incidents that an operator of Paceline should know, the newest first; `/metrics` counts them too."""
    return service.incidents(session, limit=limit, cursor=cursor)


def _audit_filters(  # noqa: PLR0917 - query parameters, passed by name
    object_kind: ObjectKind | None = None,
    object_id: Annotated[str | None, Query(max_length=200)] = None,
    actor: Annotated[str | None, Query(max_length=200)] = None,
    actor_kind: ActorKind | None = None,
    since: From = None,
    until: Before = None,
) -> AuditFilters:
    return AuditFilters(object_kind, object_id, actor, actor_kind, since, until)


Filters = Annotated[AuditFilters, Depends(_audit_filters)]


@router.get("/audit")
def list_audit(
    _: Auditor,
    session: DbSession,
    filters: Filters,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AuditEntryOut]:
    """List who changed what in the project, the newest first."""
    return service.audit_log(session, filters, limit=limit, cursor=cursor)


@router.get("/installation/audit")
def list_installation_audit(
    _: Admin,
    session: SystemSession,
    filters: Filters,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[AuditEntryOut]:
    """List who changed what outside projects (accounts, sign-ins, agents), the newest first."""
    return service.audit_log(
        session, filters, of_installation=True, limit=limit, cursor=cursor
    )


@router.get("/jobs/{job_id}/report")
def get_report(job_id: str, _: Reader, session: DbSession) -> JobReportOut:
    """Return the newest analysis of a job; 404 `not_analysed` before the first."""
    return service.get_report(session, job_id)


@router.get("/runs/{run_id}/comparisons")
def list_comparisons(
    run_id: str, _: Reader, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[ComparisonOut]:
    """List the comparisons of every arm with its reference in the run's concluded jobs."""
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
    """Return the newest comparisons of a benchmark per target, with the rule and a summary in words."""
    return service.compare_arms(session, suite, benchmark, metric, target)


@router.get("/arms/standings")
def get_arm_standings(_: Reader, session: DbSession) -> ArmStandingsOut:
    """List how the arms that should win stand, for every suite on every target, worst first. Arms that no rule of a
    suite watches are not counted."""
    return arm_standings.arm_standings(session)


@router.get("/targets/{target_id}/conditions")
def get_target_conditions(
    target_id: str,
    _: Reader,
    session: DbSession,
    since: Annotated[datetime | None, Query(alias="from")] = None,
    until: Annotated[datetime | None, Query(alias="to")] = None,
) -> TargetConditionsOut:
    """Return the conditions of a target over time and during its jobs, by default of the last week."""
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
    """Return the empirical distribution of each arm for one combination of params."""
    return service.distribution(session, job_id, benchmark, metric, params)


@router.get("/jobs/{job_id}/live-series")
def list_live_series(job_id: str, _: Reader, session: DbSession) -> Page[LiveSeriesOut]:
    """List recent values per case while a job measures."""
    return service.live_series(session, job_id)


@router.get("/series/{series_id}")
def get_series(series_id: str, _: Reader, session: DbSession) -> SeriesPageOut:
    """Return one series with its levels, environments, changes, noise floor, rule in force, and notes."""
    return series_page.series_page(session, series_id)


@router.get("/matrix")
def get_matrix(
    suite: str, _: Reader, session: DbSession, branch: str | None = None
) -> MatrixOut:
    """Return a suite's state by benchmark and target, by default on the branch measured last."""
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
    """Compare two runs (`run_…`) or revisions (7 or more digits of a commit): differences of their environments,
    then every measurement, in pages. Only measurements that an A/B job of this pair decided are judged."""
    measurement_filter = MeasurementFilter(
        suite, target, benchmark, metric, hide_uncertain
    )
    return compare.compare(session, base, head, measurement_filter, limit, cursor)


@router.post("/runs/estimate")
def estimate_run(body: RunIn, _: Reader, session: DbSession) -> RunEstimateOut:
    """Return how long a request would take, and from which percentage on a demonstration shows an effect. It creates no
    run, and refuses what a request for a run would refuse, except that no target is online."""
    return estimates.estimate(session, body)


@router.get("/runs/{run_id}/completeness")
def get_completeness(run_id: str, _: Reader, session: DbSession) -> CompletenessOut:
    """Return which cases of a run have arrived so far, and every missing case with its reason."""
    return completeness.completeness(session, run_id)
