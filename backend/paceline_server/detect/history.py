"""Appends the points of a concluded job to their series and evaluates those series.

Only runs requested by people, schedules or CI become points: no demonstrations, no runs with knobs, A/B runs or
confirmations (I13), and no runs without a branch, which would share a history. Points of a job with failed
checks or void conditions are excluded with that reason, and so are those of an arm whose fallback ran. Handling a
message twice changes nothing.

    job.analyse ─▶ append_points(job) ─▶ evaluate_job, store_evaluation ─▶ alerts.history(job)

A history that is imported arrives as one job per commit, and its series are evaluated together once none has followed for
`BACKFILL_PAUSE_S`: evaluating them after each job would take time quadratic in their length.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from paceline_contract.manifest_reader import read_manifest
from paceline_contract.params import params_key
from paceline_contract.text_names import DIGEST_MARK
from sqlalchemy.orm import Session

from paceline_server.catalog import service as catalog
from paceline_server.detect import queries, service
from paceline_server.detect.changes import service as detection
from paceline_server.detect.measure import summarise_tracks
from paceline_server.detect.queries import JobContext
from paceline_server.detect.schemas import JobReportOut, MeasurementOut, WitnessOut
from paceline_server.detect.witnesses import describe_fallback
from paceline_server.ingest import service as ingest
from paceline_server.series import job_points as points
from paceline_server.series.service import JobPoints, NewestNames, PointOfSeries
from paceline_server.store import outbox

EVALUATE, ALERTS = "history.evaluate", "alerts.history"
"""Outbox topics; the key is a job's id."""
WHY_OF_NO_COMMIT = (
    "the files that were measured are those of no commit: they had changes that were not committed, or git does not know "
    "them"
)
"""Why the points of a recorded run do not count."""
BACKFILL_PAUSE_S = 10.0
"""How long an evaluation of an imported history waits for more of it."""


def append_points(session: Session, job_id: str) -> None:
    """Append the points of a concluded job and request their evaluation."""
    context = queries.context(session, job_id)
    if context is None or context.job.state != "done" or not context.is_baseline:
        return
    job_points = points_of(session, context, service.report_of(session, job_id))
    if not job_points.rows:
        return
    names = names_of_job(session, context)
    if context.run.superseded_by is None:
        points.record_points(session, job_points, names)
    else:
        points.correct_points(session, job_points, names)
    if context.run.judged:
        pause_s = 0.0 if context.run.notifies else BACKFILL_PAUSE_S
        outbox.add(session, EVALUATE, job_id, due_in_s=pause_s)


Rounds = Sequence[Sequence[detection.EvaluatedSeries]]
"""Series that are decided together."""


def evaluate_job(session: Session, job_id: str) -> Sequence[Rounds] | None:
    """Evaluate every series with a point of the job, and of an imported history all series of its suite, target and
    branch. Returns what is to be stored, in this order. This may take long and locks nothing. None if more of the history
    follows, after which they are evaluated."""
    context = queries.context(session, job_id)
    if context is None or context.run.notifies:
        heads = detection.series_of_job(session, job_id)
        return [[list(detection.evaluate_series(session, heads))]]
    if queries.has_later_backfill(session, context, EVALUATE):
        return None
    run = context.run
    heads = detection.list_series_on(
        session, run.suite, context.target.id, run.branch or ""
    )
    return detection.evaluate_history(session, heads)


def store_evaluation(
    session: Session, job_id: str, evaluated: Sequence[Rounds] | None
) -> None:
    """Store the evaluations and notify alerts, even without changes: an earlier one may have vanished."""
    if evaluated is None:
        return
    for rounds in evaluated:
        detection.store_evaluations(session, *rounds)
    targets = {
        series.head.target_id
        for rounds in evaluated
        for round_ in rounds
        for series in round_
    }
    detection.mark_target_shifts(session, targets)
    outbox.add(session, ALERTS, job_id)


def names_of(session: Session, suite: str) -> NewestNames:
    """Return the newest names of a suite's benchmarks and arms, from its newest manifest."""
    return NewestNames.of(read_manifest(catalog.find(session, suite).manifest))


def names_of_job(session: Session, context: JobContext) -> NewestNames:
    """Return the newest names for a job. A run that came with its document has its own manifest, because its suite may be
    unknown."""
    if context.has_own_manifest:
        return NewestNames.of(read_manifest(context.run.manifest))
    return names_of(session, context.run.suite)


def points_of(session: Session, context: JobContext, report: JobReportOut) -> JobPoints:
    """Return the points of a job, from its report."""
    job, run, target = context.job, context.run, context.target
    fingerprint = job.fingerprint or target.fingerprint
    texts = (
        queries.imported_texts(session, run.manifest_path)
        if context.has_own_manifest
        else {}
    )
    return JobPoints(
        job_id=job.id,
        run_id=run.id,
        suite=run.suite,
        target_id=target.id,
        branch=run.branch or "",
        at=job.started_at or job.created_at,
        commit=run.commit,
        artifact_hash=job.artifact_hash,
        fingerprint=fingerprint,
        factors=target.factors if fingerprint == target.fingerprint else {},
        excluded=_why_excluded(context, report),
        conditions=summarise_tracks(ingest.conditions(session, job.id)),
        rows=[
            _measured_point(row, texts, report.witnesses)
            for row in report.measurements
            if math.isfinite(row.median)
        ],
    )


def _why_excluded(context: JobContext, report: JobReportOut) -> str | None:
    """Return why no point of a job counts, if so. What another tool measured has no verdict, and counts if its import
    asked for that."""
    run = context.run
    if not context.is_imported:
        of_no_commit = [] if run.judged else [WHY_OF_NO_COMMIT]
        reasons = (*of_no_commit, *report.blockers, *report.disturbances)
        return next(iter(reasons), None)
    if run.superseded_by is not None:
        return f"a corrected file was imported, which is run {run.superseded_by}"
    return None if run.judged else service.WHY_IMPORTED


def _measured_point(
    row: MeasurementOut,
    texts: Mapping[tuple[str, str, str], str],
    witnesses: Sequence[WitnessOut],
) -> PointOfSeries:
    """Return a measurement as a point. With too few samples for an interval of the median, it spans the extremes."""
    return PointOfSeries(
        benchmark=row.benchmark,
        arm=row.arm,
        params=row.params,
        params_key=params_key(row.params),
        metric=row.metric,
        unit=row.unit,
        direction=row.direction,
        value=row.median,
        lower=row.min if row.median_lower is None else row.median_lower,
        upper=row.max if row.median_upper is None else row.median_upper,
        n=row.n,
        launches=row.launches,
        items=row.items,
        bytes=row.bytes,
        title=_title(row, texts),
        excluded=describe_fallback(witnesses, row.benchmark, row.arm, row.params),
    )


def _title(
    row: MeasurementOut, texts: Mapping[tuple[str, str, str], str]
) -> str | None:
    """Return the whole text behind names of which some is a digest; None for other names."""
    if DIGEST_MARK not in row.benchmark and DIGEST_MARK not in row.arm:
        return None
    return texts.get((row.benchmark, row.arm, params_key(row.params)))
