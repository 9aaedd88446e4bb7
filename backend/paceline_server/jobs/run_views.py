"""Turns rows of runs and jobs into their wire shapes, for responses and live events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from paceline_contract.attempts import Cause

from paceline_server.jobs.outcomes import (
    JobSummary,
    RollUp,
    failure_of,
    job_outcome,
    roll_up,
)
from paceline_server.jobs.schemas import (
    JobOut,
    JobState,
    RunOut,
    Verdict,
    WaitingReasonOut,
)
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run

Jobs = Sequence[tuple[Job, Target]]


def job_out(
    job: Job, target: Target, waiting_reason: WaitingReasonOut | None = None
) -> JobOut:
    """Return the wire shape of a job."""
    return JobOut.of_row(
        job,
        target_name=target.name,
        waiting_reason=waiting_reason,
        outcome=job_outcome(
            cast(JobState, job.state), cast(Verdict | None, job.verdict)
        ),
        failure=failure_of(job),
    )


def roll_up_jobs(jobs: Jobs) -> RollUp:
    """Return state, outcome and reason of a run from the rows of its jobs."""
    return roll_up(
        JobSummary(
            cast(JobState, job.state),
            cast(Verdict | None, job.verdict),
            job.reason,
            target.spoken_name,
            cast(Cause | None, job.cause),
            job.cause_detail,
        )
        for job, target in jobs
    )


def run_out(
    run: Run, jobs: Jobs, waiting_reasons: Mapping[str, WaitingReasonOut]
) -> RunOut:
    """Return the wire shape of a run with its jobs, and the reasons of those that wait by job id."""
    rolled = roll_up_jobs(jobs)
    return RunOut.of_row(
        run,
        outcome=rolled.outcome,
        cause=rolled.cause,
        cause_detail=rolled.cause_detail,
        jobs=[
            job_out(job, target, waiting_reasons.get(job.id)) for job, target in jobs
        ],
    )


def job_event(job: Job, target: Target) -> dict[str, Any]:
    """Return the data of a `job` live event."""
    return job_out(job, target).model_dump(mode="json", exclude={"waiting_reason"})


def run_event(run: Run, jobs: Jobs) -> dict[str, Any]:
    """Return the data of a `run` live event; jobs have events of their own."""
    return run_out(run, jobs, {}).model_dump(mode="json", exclude={"jobs"})
