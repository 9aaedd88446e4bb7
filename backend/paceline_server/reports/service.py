"""What the dashboard and CI read: reports, comparisons, arms, distributions, the overview.

Nothing here decides or writes; every number is stored, or computed from stored samples
by `stats` (I17).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, cast, get_args

import numpy as np
from paceline_contract.events import ParamValue
from paceline_contract.manifest import Benchmark, Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_contract.units import Unit
from sqlalchemy.orm import Session

from paceline_server.alerts import service as alerts
from paceline_server.alerts.schemas import AlertState
from paceline_server.catalog import service as catalog
from paceline_server.detect import service as detect
from paceline_server.detect.params_query import params_of_query
from paceline_server.detect.schemas import ComparisonOut, JobReportOut
from paceline_server.fleet import service as fleet
from paceline_server.ingest import service as ingest
from paceline_server.ingest.cases import params_key
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.wire import Page
from paceline_server.reports import queries, report_sentences
from paceline_server.reports.schemas import (
    ArmDistributionOut,
    ArmsOut,
    AuditEntryOut,
    DistributionOut,
    EcdfPointOut,
    IncidentOut,
    LiveSeriesOut,
    OverviewOut,
)
from paceline_server.stats.blocks import warm_samples
from paceline_server.stats.samples import CaseSamples, Floats, median
from paceline_server.stats.summary import thin_ecdf
from paceline_server.store.page import page
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.messages import Incident
from paceline_server.store.tables.rules import AuditEntry

FALSE_ALARM_DAYS = 90
"""A quarter: long enough for a share to mean something, short enough to be about Paceline as it is."""
OVERVIEW_RUNS = 10
OVERVIEW_AGENTS = 50
ECDF_POINTS = 150
"""What a chart shows without dots and without hurry (measured limits of the chart library)."""


def overview(session: Session) -> OverviewOut:
    """Alerts by state (every state has a number), our false alarms, the agents, the newest runs."""
    counted = alerts.counts_by_state(session)
    runs = jobs.list_runs(
        session,
        suite=None,
        target=None,
        state=None,
        trigger=None,
        limit=OVERVIEW_RUNS,
        cursor=None,
    )
    since = clock.now() - timedelta(days=FALSE_ALARM_DAYS)
    return OverviewOut(
        alerts_by_state={
            state: counted.get(state, 0) for state in get_args(AlertState)
        },
        false_alarms=report_sentences.false_alarms(
            FALSE_ALARM_DAYS, alerts.opened_since(session, since)
        ),
        agents=fleet.agents_heard_last(session, OVERVIEW_AGENTS),
        runs=runs.items,
    )


def incidents(session: Session, *, limit: int, cursor: str | None) -> Page[IncidentOut]:
    """Incidents, the newest first."""
    return page(
        session,
        queries.incidents(),
        [Incident.id],
        lambda row: [row.id],
        IncidentOut.model_validate,
        limit=limit,
        cursor=cursor,
    )


def audit_log(
    session: Session,
    *,
    object_kind: str | None,
    object_id: str | None,
    actor: str | None,
    limit: int,
    cursor: str | None,
) -> Page[AuditEntryOut]:
    """Who changed what, the newest first."""
    query = queries.audit_entries(object_kind, object_id, actor)
    found: Page[AuditEntry] = page(
        session,
        query,
        [AuditEntry.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    about = [row.object_id for row in found.items if row.object_kind == "alert"]
    titles = queries.alert_titles(session, about)
    return Page(items=[_audit_out(row, titles) for row in found.items], next=found.next)


def _audit_out(row: AuditEntry, titles: Mapping[str, str]) -> AuditEntryOut:
    """`titles`: of alerts, by id, as they are called now."""
    own = {
        name: getattr(row, name)
        for name in AuditEntryOut.model_fields
        if name != "words"
    }
    called = row.detail.get("name") or titles.get(row.object_id) or row.object_id
    said = report_sentences.audited(row.actor, row.action, row.object_kind, called)
    return AuditEntryOut.model_validate({**own, "words": said})


def get_report(session: Session, job_id: str) -> JobReportOut:
    """A job's newest analysis, its comparisons with where and when. Raises 404 `not_found`,
    `not_analysed`."""
    found = detect.report_of(session, job_id)
    job = queries.job_with_target(session, job_id)
    if job is None:
        raise not_found("job", job_id)
    row, target = job
    where: dict[str, Any] = {
        "run_id": row.run_id,
        "job_id": row.id,
        "target_id": target.id,
        "target_name": target.name,
    }
    comparisons = [
        comparison.model_copy(update=where) for comparison in found.comparisons
    ]
    return found.model_copy(update={"comparisons": comparisons})


def comparisons_of_run(
    session: Session, run_id: str, *, limit: int, cursor: str | None
) -> Page[ComparisonOut]:
    """The comparisons of a run's concluded jobs, in the order they were made. Raises 404."""
    if not queries.run_exists(session, run_id):
        raise not_found("run", run_id)
    found: Page[Comparison] = page(
        session,
        queries.comparisons_of_run(run_id),
        [Comparison.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    return Page(items=_comparisons_out(session, found.items), next=found.next)


def _comparisons_out(
    session: Session, rows: Sequence[Comparison]
) -> list[ComparisonOut]:
    targets = queries.targets_by_id(session, [row.target_id for row in rows])
    said = ("words", "margin_percent", "launch_ratios")
    own = [
        name
        for name in ComparisonOut.model_fields
        if name not in said and name != "target_name"
    ]
    return [
        ComparisonOut(
            **{name: getattr(row, name) for name in own},
            **{name: row.evidence[name] for name in said},
            target_name=targets[row.target_id].name,
        )
        for row in rows
    ]


def compare_arms(
    session: Session,
    suite: str,
    benchmark: str,
    metric: str | None,
    target_id: str | None,
) -> ArmsOut:
    """The newest comparisons of one benchmark. Raises 404 for a suite, benchmark or metric there is not.

    Real runs before demonstrations: one made to show an alert appears only where nothing else was measured.
    """
    manifest = read_manifest(catalog.find(session, suite).manifest)
    declared = manifest.benchmarks.get(benchmark)
    if declared is None:
        raise not_found("benchmark", benchmark)
    metric = metric or declared.primary_metric
    if metric not in declared.metrics:
        raise not_found("metric", metric)
    rows = queries.newest_comparisons(session, suite, benchmark, metric, target_id)
    real = {
        (row.target_id, row.arm, row.params_key)
        for row in rows
        if not row.demonstration
    }
    kept = [
        row
        for row in rows
        if not row.demonstration or (row.target_id, row.arm, row.params_key) not in real
    ]
    found = sorted(
        _comparisons_out(session, kept),
        key=lambda comparison: _comparison_order(declared, comparison),
    )
    targets = queries.targets_by_id(session, [row.target_id for row in kept])
    simulated = {target.id for target in targets.values() if target.simulated}
    return ArmsOut(
        suite=suite,
        benchmark=benchmark,
        reference=declared.reference,
        device_reference=declared.on("device").reference,
        metric=metric,
        rule=report_sentences.rule_text(_rules(manifest, benchmark), declared),
        summary=report_sentences.arms_summary(
            found, declared.metrics[metric].unit, simulated
        ),
        comparisons=found,
    )


def _rules(manifest: Manifest, benchmark: str) -> list[Any]:
    return [rule for rule in manifest.arm_rules() if rule.benchmark == benchmark]


def _comparison_order(benchmark: Benchmark, one: ComparisonOut) -> tuple[Any, ...]:
    """Targets by name, arms as declared, params by number, else as declared, else by text."""
    arm = (
        benchmark.arms.index(one.arm)
        if one.arm in benchmark.arms
        else len(benchmark.arms)
    )
    return (
        one.target_name or "",
        arm,
        *(_param_order(benchmark, key, one.params[key]) for key in sorted(one.params)),
    )


def _param_order(
    benchmark: Benchmark, name: str, value: ParamValue
) -> tuple[int, int, str]:
    if isinstance(value, int):
        return (0, value, "")
    declared = benchmark.params[name].values if name in benchmark.params else []
    return (1, declared.index(value) if value in declared else len(declared), value)


def distribution(
    session: Session, job_id: str, benchmark: str, metric: str, params: str
) -> DistributionOut:
    """The warm samples of one case per arm (of an A/B job per arm and side) as thinned distributions. Raises
    404, 400 for broken params."""
    wanted = params_key(params_of_query(params, '{"batch": 1000}'))
    job = queries.job_with_target(session, job_id)
    if job is None:
        raise not_found("job", job_id)
    cases = [
        case
        for case in _cases_of_job(session, job_id)
        if (case.benchmark, case.metric, params_key(case.params))
        == (benchmark, metric, wanted)
    ]
    if not cases:
        raise not_found("measurement", f"{benchmark} {metric} {wanted}")
    samples = {case.arm: _warm(case) for case in cases}
    judged = read_manifest(queries.manifest_of_job(session, job_id)).on(job[1].kind)
    ordered = [arm for arm, values in samples.items() if values.size]
    out = [_distribution(arm, samples[arm]) for arm in ordered]
    bounds = {arm: _thin_center(samples[arm]) for arm in ordered}
    return DistributionOut(
        job_id=job_id,
        benchmark=benchmark,
        params=dict(cases[0].params),
        metric=metric,
        unit=cast(Unit, cases[0].unit),
        summary=report_sentences.distribution_summary(
            out, cases[0].unit, bounds, judged.benchmarks[benchmark].reference
        ),
        arms=out,
    )


def _warm(case: CaseSamples) -> Floats:
    keep, _ = warm_samples(case)
    return case.value[keep]


def _distribution(arm: str, values: Floats) -> ArmDistributionOut:
    at, share = thin_ecdf(values, ECDF_POINTS)
    points = [
        EcdfPointOut(value=float(x), share=float(y))
        for x, y in zip(at, share, strict=True)
    ]
    return ArmDistributionOut(
        arm=arm, n=int(values.size), median=median(values), points=points
    )


def _thin_center(values: Floats) -> tuple[float, float]:
    low, high = np.quantile(values, [0.01, 0.99])
    return float(low), float(high)


def _cases_of_job(session: Session, job_id: str) -> list[CaseSamples]:
    """All that counts of a job; the arms of an A/B job named with their side."""
    sides: tuple[Literal["base", "head"], ...] = ("base", "head")
    return ingest.blocks(session, job_id) or [
        replace(case, arm=f"{case.arm} at {side}")
        for side in sides
        for case in ingest.blocks(session, job_id, side)
    ]


def live_series(session: Session, job_id: str) -> Page[LiveSeriesOut]:
    """Thinned recent values per case while a job measures. Raises 404."""
    found = ingest.live_series(session, job_id)
    return Page(items=[LiveSeriesOut.model_validate(row) for row in found], next=None)
