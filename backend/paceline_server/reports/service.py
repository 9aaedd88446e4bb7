"""Reads reports, comparisons, arms, distributions and the overview for the dashboard and CI.

Every number is stored, or computed from stored samples by `stats` (I17).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast, get_args

import numpy as np
from paceline_contract.events import ParamValue
from paceline_contract.items import SideName
from paceline_contract.manifest import Benchmark, Manifest
from paceline_contract.manifest_reader import read_manifest
from paceline_contract.params import params_key
from paceline_contract.units import Unit
from sqlalchemy.orm import Session

from paceline_server.alerts import service as alerts
from paceline_server.alerts.schemas import AlertState
from paceline_server.catalog import service as catalog
from paceline_server.detect import service as detect
from paceline_server.detect.schemas import ComparisonOut, JobReportOut
from paceline_server.fleet import service as fleet
from paceline_server.ingest import service as ingest
from paceline_server.jobs import service as jobs
from paceline_server.kernel import clock
from paceline_server.kernel.errors import not_found
from paceline_server.kernel.wire import Page, params_of_query
from paceline_server.reports import queries, report_sentences
from paceline_server.reports.schemas import (
    ArmDistributionOut,
    ArmsOut,
    AuditEntryOut,
    AuditFilters,
    DistributionOut,
    EcdfPointOut,
    IncidentOut,
    LiveSeriesOut,
    OverviewOut,
    WaitingOut,
)
from paceline_server.series import service as series
from paceline_server.stats.blocks import warm_samples
from paceline_server.stats.samples import CaseSamples, Floats, median
from paceline_server.stats.summary import thin_ecdf
from paceline_server.store.page import page
from paceline_server.store.tables.audit import AuditEntry
from paceline_server.store.tables.decisions import Comparison
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job
from paceline_server.store.tables.messages import Incident

FALSE_ALARM_DAYS = 90
"""False alarms of this many days are counted: enough alerts for a share, and recent enough to describe the current
state."""
OVERVIEW_RUNS = 10
OVERVIEW_AGENTS = 50
ECDF_POINTS = 150
"""Points per arm; the chart library draws this many without delay."""


def overview(session: Session) -> OverviewOut:
    """Return alerts by state (zero included), false alarms, agents and the newest runs.

    A history that moves in is thousands of runs, so imported ones are left out."""
    counted = alerts.counts_by_state(session)
    runs = jobs.list_runs(
        session,
        suite=None,
        target=None,
        state=None,
        trigger=None,
        with_imported=False,
        limit=OVERVIEW_RUNS,
        cursor=None,
    )
    since = clock.now() - timedelta(days=FALSE_ALARM_DAYS)
    return OverviewOut(
        alerts_by_state={
            state: counted.get(state, 0) for state in get_args(AlertState)
        },
        false_alarms=report_sentences.false_alarms(
            FALSE_ALARM_DAYS, since, alerts.opened_since(session, since)
        ),
        agents=fleet.agents_heard_last(session, OVERVIEW_AGENTS),
        runs=runs.items,
    )


def waiting(session: Session) -> WaitingOut:
    """Return the number of alerts, runs and targets that wait for a person or a target now."""
    alerts_open, runs_queued, targets_quarantined = queries.count_waiting(session)
    return WaitingOut(
        alerts_open=alerts_open,
        runs_queued=runs_queued,
        targets_quarantined=targets_quarantined,
    )


def incidents(session: Session, *, limit: int, cursor: str | None) -> Page[IncidentOut]:
    """Return incidents, the newest first."""
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
    filters: AuditFilters,
    *,
    of_installation: bool = False,
    limit: int,
    cursor: str | None,
) -> Page[AuditEntryOut]:
    """Return who changed what, the newest first. `of_installation`: entries of no project, such as those about
    accounts."""
    query = queries.audit_entries(filters, of_installation=of_installation)
    entries: Page[AuditEntry] = page(
        session,
        query,
        [AuditEntry.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    about = [row.object_id for row in entries.items if row.object_kind == "alert"]
    titles = alerts.titles(session, about)
    return Page(
        items=[_audit_out(row, titles) for row in entries.items], next=entries.next
    )


def _audit_out(row: AuditEntry, titles: Mapping[str, str]) -> AuditEntryOut:
    """Return the wire shape of an entry; `titles` has the current titles of alerts by id."""
    fields = {
        name: getattr(row, name)
        for name in AuditEntryOut.model_fields
        if name != "words"
    }
    called = row.detail.get("name") or titles.get(row.object_id) or row.object_id
    words = report_sentences.audit_sentence(
        row.actor, row.action, row.object_kind, called
    )
    return AuditEntryOut.model_validate({**fields, "words": words})


def get_report(session: Session, job_id: str) -> JobReportOut:
    """Return the newest analysis of a job. Raises 404 `not_found` or `not_analysed`."""
    report = detect.report_of(session, job_id)
    job, target = _job_with_target(session, job_id)
    where: dict[str, Any] = {
        "run_id": job.run_id,
        "job_id": job.id,
        "target_id": target.id,
        "target_name": target.name,
    }
    comparisons = [
        comparison.model_copy(update=where) for comparison in report.comparisons
    ]
    names = {name for row in report.measurements for name in (row.benchmark, row.arm)}
    texts = {
        **series.name_texts(session, names),
        **detect.name_texts(session, job_id, names),
    }
    return report.model_copy(update={"comparisons": comparisons, "name_texts": texts})


def _job_with_target(session: Session, job_id: str) -> tuple[Job, Target]:
    row = queries.job_with_target(session, job_id)
    if row is None:
        raise not_found("job", job_id)
    return row


def comparisons_of_run(
    session: Session, run_id: str, *, limit: int, cursor: str | None
) -> Page[ComparisonOut]:
    """Return the comparisons of a run's concluded jobs, oldest first. Raises 404."""
    if queries.find_run(session, run_id) is None:
        raise not_found("run", run_id)
    comparisons: Page[Comparison] = page(
        session,
        queries.comparisons_of_run(run_id),
        [Comparison.id],
        lambda row: [row.id],
        lambda row: row,
        limit=limit,
        cursor=cursor,
        descending=False,
    )
    items = _comparisons_out(session, comparisons.items)
    return Page(items=_with_waivers(session, items), next=comparisons.next)


def _with_waivers(
    session: Session, comparisons: Sequence[ComparisonOut]
) -> list[ComparisonOut]:
    """Return the comparisons with the waivers in the reports of their jobs."""
    job_ids = {row.job_id for row in comparisons if row.verdict == "fail"}
    waived = {
        (job_id, _case_of(row)): row.waived
        for job_id in job_ids
        if job_id is not None
        for row in detect.report_of(session, job_id).comparisons
    }
    return [
        row.model_copy(update={"waived": waived.get((row.job_id or "", _case_of(row)))})
        for row in comparisons
    ]


def _case_of(row: ComparisonOut) -> tuple[str, ...]:
    case = (row.benchmark, row.arm, row.reference, row.metric)
    return (*case, params_key(row.params), row.sides)


def _comparisons_out(
    session: Session, rows: Sequence[Comparison]
) -> list[ComparisonOut]:
    targets = fleet.targets_by_id(session, [row.target_id for row in rows])
    from_evidence = ("words", "margin_percent", "launch_ratios")
    computed = (
        "decides",
        "waived",
        "witness",
        "target_name",
        "extra_percent",
        "launches_needed",
    )
    own_fields = [
        name
        for name in ComparisonOut.model_fields
        if name not in (*from_evidence, *computed)
    ]
    return [
        ComparisonOut(
            **{name: getattr(row, name) for name in own_fields},
            **{name: row.evidence[name] for name in from_evidence},
            decides=row.evidence.get("decides"),
            extra_percent=_extra_percent(row.evidence),
            launches_needed=row.evidence.get("launches_needed"),
            witness=row.evidence.get("witness"),
            target_name=targets[row.target_id].name,
        )
        for row in rows
    ]


def _extra_percent(evidence: Mapping[str, Any]) -> float:
    """Return the percentage that a comparison had to exceed beyond its margin. Older findings have only one number for
    all comparisons of their job."""
    of_job = evidence["parameters"]["policy"].get("extra_percent", 0.0)
    return float(evidence.get("extra_percent", of_job))


def compare_arms(
    session: Session,
    suite: str,
    benchmark: str,
    metric: str | None,
    target_id: str | None,
) -> ArmsOut:
    """Return the newest comparisons of a benchmark. Raises 404 for an unknown suite, benchmark or metric.

    A demonstration appears only where no other run measured.
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
    comparisons = sorted(
        _comparisons_out(session, kept),
        key=lambda comparison: _comparison_order(declared, comparison),
    )
    targets = fleet.targets_by_id(session, [row.target_id for row in kept])
    simulated = {target.id for target in targets.values() if target.simulated}
    return ArmsOut(
        suite=suite,
        benchmark=benchmark,
        reference=declared.reference,
        device_reference=declared.on("device").reference,
        metric=metric,
        rule=report_sentences.rule_text(_rules(manifest, benchmark), declared),
        summary=report_sentences.arms_summary(
            comparisons, declared.metrics[metric].unit, simulated
        ),
        comparisons=comparisons,
        name_texts=series.name_texts(session, [benchmark, *(row.arm for row in kept)]),
    )


def _rules(manifest: Manifest, benchmark: str) -> list[Any]:
    return [rule for rule in manifest.arm_rules() if rule.benchmark == benchmark]


def _comparison_order(
    benchmark: Benchmark, comparison: ComparisonOut
) -> tuple[Any, ...]:
    """Return a sort key: targets by name, arms as declared, params by number or as declared."""
    arm = (
        benchmark.arms.index(comparison.arm)
        if comparison.arm in benchmark.arms
        else len(benchmark.arms)
    )
    return (
        comparison.target_name or "",
        arm,
        *(
            _param_order(benchmark, key, comparison.params[key])
            for key in sorted(comparison.params)
        ),
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
    """Return thinned distributions of the warm samples for one combination of params, per arm, and in an A/B job per
    side. Raises 404, 400 for malformed params."""
    wanted_key = params_key(params_of_query(params, '{"batch": 1000}'))
    _, target = _job_with_target(session, job_id)
    cases = [
        case
        for case in _cases_of_job(session, job_id)
        if (case.benchmark, case.metric, params_key(case.params))
        == (benchmark, metric, wanted_key)
    ]
    if not cases:
        raise not_found("measurement", f"{benchmark} {metric} {wanted_key}")
    samples = {case.arm: _warm(case) for case in cases}
    judged = read_manifest(queries.manifest_of_job(session, job_id)).on(target.kind)
    ordered = [arm for arm, values in samples.items() if values.size]
    out = [_distribution(arm, samples[arm]) for arm in ordered]
    bounds = {arm: _center_range(samples[arm]) for arm in ordered}
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


def _center_range(values: Floats) -> tuple[float, float]:
    low, high = np.quantile(values, [0.01, 0.99])
    return float(low), float(high)


def _cases_of_job(session: Session, job_id: str) -> list[CaseSamples]:
    """Return the cases of a job; the arms of an A/B job are named with their side."""
    sides: tuple[SideName, ...] = ("base", "head")
    return ingest.read_samples(session, job_id) or [
        replace(case, arm=f"{case.arm} at {side}")
        for side in sides
        for case in ingest.read_samples(session, job_id, side)
    ]


def live_series(session: Session, job_id: str) -> Page[LiveSeriesOut]:
    """Return thinned recent values per case while a job measures. Raises 404."""
    series = ingest.live_series(session, job_id)
    return Page(items=[LiveSeriesOut.model_validate(row) for row in series], next=None)
