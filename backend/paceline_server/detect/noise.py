"""Stores the noise floors of an A/A job, and a finding for each case whose sides differ.

Every judged case with enough blocks gets a noise floor, whatever its verdict. If the two sides differ although
they are the same artifact, the environment disturbed the measurement (I15); `alerts` decides what follows.
"""

from __future__ import annotations

import math

from paceline_contract.params import params_key
from sqlalchemy.orm import Session

from paceline_server.detect import queries
from paceline_server.detect.analyse import Analysis
from paceline_server.detect.compare import Pair
from paceline_server.detect.findings import record_finding
from paceline_server.detect.queries import JobContext
from paceline_server.series import noise_floors as floors

KIND = "environment"
"""Kind of the finding for sides that differ."""


def store_noise_floors(
    session: Session, context: JobContext, analysis: Analysis
) -> None:
    """Store the noise floors and findings of a concluded A/A job without knobs; ignore any other job."""
    run, job = context.run, context.job
    if run.base_commit != run.commit or run.knobs:
        return
    measured = [
        floor
        for judged in analysis.ruled
        if (floor := _measured_floor(judged.pair)) is not None
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
        if comparison.sides == "revisions" and comparison.verdict == "fail":
            record_finding(session, comparison, "candidate", None, kind=KIND)


def _measured_floor(pair: Pair) -> floors.MeasuredFloor | None:
    floor, outcome = pair.floor, pair.outcome
    if floor is None or math.isinf(floor.mde):  # too few blocks to detect any effect
        return None
    params = dict(pair.group.params)
    return floors.MeasuredFloor(
        key=(pair.group.benchmark, pair.arm, params, params_key(params), pair.metric),
        mde=floor.mde,
        lower=floor.lower,
        upper=floor.upper,
        blocks=outcome.blocks,
        launches=outcome.launches,
        evidence={**floor.evidence(pair.policy), "window": dict(pair.window)},
    )
