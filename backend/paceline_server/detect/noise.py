"""Stores what an A/A job says of its target: noise floors, and a finding where its sides
differ.

Every case that was judged gets a noise floor whatever its verdict, because the
variation itself was the question. A case called slower than itself is a finding about
the environment (I15); `alerts` decides what follows.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.detect import queries
from paceline_server.detect.analyse import Analysis
from paceline_server.detect.compare import Pair
from paceline_server.detect.findings import record_finding
from paceline_server.detect.queries import JobContext
from paceline_server.ingest.cases import params_key
from paceline_server.series import noise_floors as floors

KIND = "environment"
"""Kind of a finding that two sides of the same artifact differ."""


def store_noise_floors(
    session: Session, context: JobContext, analysis: Analysis
) -> None:
    """Store the noise floors and findings of a concluded A/A job; of another job, and of one whose work was
    changed by a knob, nothing."""
    run, job = context.run, context.job
    if run.base_commit != run.commit or run.knobs:
        return
    measured = [
        found
        for judged in analysis.ruled
        if (found := _measured_floor(judged.pair)) is not None
    ]
    floors.record_floors(
        session,
        target_id=context.target.id,
        suite=run.suite,
        run_id=run.id,
        job_id=job.id,
        floors=measured,
    )
    for comparison in queries.comparisons_of_job(session, job.id):
        if comparison.verdict == "fail":
            record_finding(session, comparison, "candidate", None, kind=KIND)


def _measured_floor(pair: Pair) -> floors.MeasuredFloor | None:
    floor, found = pair.floor, pair.found
    if floor is None or not _finite(floor.mde):
        return None
    params = dict(pair.group.params)
    return floors.MeasuredFloor(
        key=(pair.group.benchmark, pair.arm, params, params_key(params), pair.metric),
        mde=floor.mde,
        lower=floor.lower,
        upper=floor.upper,
        blocks=found.blocks,
        launches=found.launches,
        evidence={**floor.evidence(pair.policy), "window": dict(pair.window)},
    )


def _finite(mde: float) -> bool:
    """Whether any effect at all would be called; with too few blocks for one look's alpha none is."""
    return mde < float("inf")
