"""From a concluded job to history: its points, then what they change.

Place: after `conclude_job`; before `alerts`, which hears of every evaluation. Invariants:
- only runs that people, clocks and CI asked for become points: no demonstration, no turned knob, no A/B run,
  nothing of no known branch (pull requests would share one past), nothing that asks about a doubt (I13:
  confirmation data never enters baselines);
- a job whose checks failed or whose conditions were void is kept with that reason and never judged;
- carrying a message out twice changes nothing.

    job.analyse ─▶ history.extend(job): points ─▶ history.evaluate(job): look, keep ─▶ alerts.history(job)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlalchemy.orm import Session

from paceline_server.catalog import manifest as manifests
from paceline_server.catalog import service as catalog
from paceline_server.detect import queries, service
from paceline_server.detect.changes import service as detection
from paceline_server.detect.queries import JobContext
from paceline_server.detect.schemas import JobReportOut, MeasurementOut
from paceline_server.detect.tracks import tracks
from paceline_server.ingest import service as ingest
from paceline_server.ingest.cases import params_key
from paceline_server.series.points import service as points
from paceline_server.series.service import JobPoints, Measured, Names
from paceline_server.store import outbox

EVALUATE, ALERTS = "history.evaluate", "alerts.history"
"""Outbox topics; the key is a job's id."""


def extend(session: Session, job_id: str) -> None:
    """Append the points of a concluded job, and ask for their evaluation."""
    context = queries.context(session, job_id)
    if context is None or context.job.state != "done" or not context.is_baseline:
        return
    said = points_of(session, context, service.report_of(session, job_id))
    if said.rows:
        points.record(session, said, names_of_job(session, context))
        outbox.add(session, EVALUATE, job_id)


def look(session: Session, job_id: str) -> list[detection.Looked]:
    """Evaluate every series the job has a point of; takes long, locks nothing."""
    return list(detection.look(session, detection.touched(session, job_id)))


def keep(session: Session, job_id: str, looked: Sequence[detection.Looked]) -> None:
    """Store what was seen; alerts hear of it, also when it is nothing: a change may have gone away."""
    detection.keep(session, looked)
    detection.mark_incidents(session, {one.head.target_id for one in looked})
    outbox.add(session, ALERTS, job_id)


def names_of(session: Session, suite: str) -> Names:
    """Old names of the suite's benchmarks and arms → those of its newest manifest."""
    return Names.of(manifests.read(catalog.find(session, suite).manifest))


def names_of_job(session: Session, context: JobContext) -> Names:
    """Those of its suite; an imported run's need not be one that anybody announced, and its names are its
    own."""
    if context.is_imported:
        return Names.of(manifests.read(context.run.manifest))
    return names_of(session, context.run.suite)


def points_of(session: Session, context: JobContext, report: JobReportOut) -> JobPoints:
    """What a job's report says for history."""
    job, run, target = context.job, context.run, context.target
    fingerprint = job.fingerprint or target.fingerprint
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
        excluded=report.blockers[0] if report.blockers else None,
        conditions=tracks(ingest.conditions(session, job.id)),
        rows=[
            _measured(row) for row in report.measurements if math.isfinite(row.median)
        ],
    )


def _measured(row: MeasurementOut) -> Measured:
    """Too few samples for an interval: the median lies between the extremes, and that is all that is
    known."""
    return Measured(
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
    )
