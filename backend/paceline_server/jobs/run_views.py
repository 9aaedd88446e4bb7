"""Rows → wire shapes of runs and jobs, for answers and for live events. No SQL; how a run ended is decided by
`outcomes.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from paceline_server.jobs.outcomes import failure_of
from paceline_server.jobs.outcomes import JobSummary, job_outcome, roll_up
from paceline_server.jobs.schemas import Cause, JobOut, JobState, RunOut, Verdict
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run

Jobs = Iterable[tuple[Job, Target]]


def job_out(job: Job, target: Target) -> JobOut:
    """A job as clients see it."""
    derived = {
        "target_name": target.name,
        "outcome": job_outcome(
            cast(JobState, job.state), cast(Verdict | None, job.verdict)
        ),
        "failure": failure_of(job),
    }
    own = {
        name: getattr(job, name) for name in JobOut.model_fields if name not in derived
    }
    return JobOut.model_validate({**own, **derived})


def summaries(jobs: Jobs) -> list[JobSummary]:
    """What the roll-up of a run needs of its jobs."""
    return [
        JobSummary(
            cast(JobState, job.state),
            cast(Verdict | None, job.verdict),
            job.reason,
            target.spoken_name,
            cast(Cause | None, job.cause),
            job.cause_detail,
        )
        for job, target in jobs
    ]


def run_out(run: Run, jobs: Jobs) -> RunOut:
    """A run with its jobs as clients see them."""
    pairs = list(jobs)
    rolled = roll_up(summaries(pairs))
    derived = {
        "outcome": rolled.outcome,
        "cause": rolled.cause,
        "cause_detail": rolled.cause_detail,
        "jobs": [job_out(job, target) for job, target in pairs],
    }
    own = {
        name: getattr(run, name) for name in RunOut.model_fields if name not in derived
    }
    return RunOut.model_validate({**own, **derived})


def job_event(job: Job, target: Target) -> dict[str, Any]:
    """The data of a `job` live event."""
    return job_out(job, target).model_dump(mode="json")


def run_event(run: Run, jobs: Jobs) -> dict[str, Any]:
    """The data of a `run` live event: the run without its jobs, which have events of their own."""
    return run_out(run, jobs).model_dump(mode="json", exclude={"jobs"})
