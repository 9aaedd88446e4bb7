"""Rows → wire shapes of runs and jobs, for answers and for live events. No SQL, no decisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paceline_server.jobs.schemas import JobOut, RunOut
from paceline_server.store.tables.fleet import Target
from paceline_server.store.tables.jobs import Job, Run


def job_out(job: Job, target: Target) -> JobOut:
    """A job as clients see it."""
    return JobOut.model_validate(
        {
            **{name: getattr(job, name) for name in JobOut.model_fields if name != "target_name"},
            "target_name": target.name,
        }
    )


def run_out(run: Run, jobs: Iterable[tuple[Job, Target]]) -> RunOut:
    """A run with its jobs as clients see them."""
    return RunOut.model_validate(
        {
            **{name: getattr(run, name) for name in RunOut.model_fields if name != "jobs"},
            "jobs": [job_out(job, target) for job, target in jobs],
        }
    )


def job_event(job: Job, target: Target) -> dict[str, Any]:
    """The data of a `job` live event."""
    return job_out(job, target).model_dump(mode="json")


def run_event(run: Run) -> dict[str, Any]:
    """The data of a `run` live event: the run without its jobs, which have events of their own."""
    return run_out(run, ()).model_dump(mode="json", exclude={"jobs"})
