"""How a job and a run ended, in one word each, with the cause; and a run's state, verdict and reason.

Every page, client and message takes the word from here, so that a job that failed is called failed everywhere
and `inconclusive` is said only of a job that measured and could not decide. Pure: summaries in, words out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from paceline_server.jobs.outcomes import first_error
from paceline_server.jobs.schemas import Cause, JobState, Outcome, RunState, Verdict
from paceline_server.jobs.states import FINAL

WITHOUT_VERDICT: tuple[Outcome, ...] = ("failed", "lost", "expired", "cancelled")
"""Outcomes of a job that is over and was not judged, the one that most needs a person first."""

CLAUSES: Mapping[Cause, str] = {
    "stream_invalid": "the workload's output is no valid bench stream",
    "workload_hung": "the workload hung",
    "workload_flooded": "the workload printed too much",
    "workload_crashed": "the workload crashed",
    "workload_error": "the workload reported an error",
    "workload_no_terminal": "the workload ended without saying it was done",
    "check_failed": "a correctness check failed",
    "build_failed": "the build failed",
    "suite_invalid": "the suite.toml is not valid",
    "checkout_failed": "the commit could not be checked out",
    "agent_lost": "the agent stopped answering",
    "agent_error": "the agent met an error of its own",
    "disk_full": "the agent's disk is full",
    "target_refused": "the target refused the job",
    "lease_lost": "the agent lost its lease",
    "cancelled": "it was cancelled",
    "device_lost": "the device could not be reached any more",
    "device_rebooted": "the device restarted",
    "device_refused": "the device refused what the job needs",
    "device_storage_full": "the device has no room left",
    "device_unauthorized": "the device does not trust its agent",
    "placing_failed": "a file did not arrive on the device as it was sent",
    "analysis_failed": "the server could not analyse what was measured",
}
"""Each cause as a clause that follows a target's name and a colon."""

_WITHOUT_CAUSE: Mapping[str, str] = {
    "failed": "failed",
    "lost": "lost its agent",
    "expired": "was not leased in time",
    "cancelled": "was cancelled",
}


@dataclass(frozen=True, slots=True)
class JobSummary:
    """What the roll-up of a run needs of each job."""

    state: JobState
    verdict: Verdict | None
    reason: str | None
    target_name: str
    cause: Cause | None = None
    cause_detail: str | None = None


@dataclass(frozen=True, slots=True)
class RollUp:
    """`cause` and `cause_detail` are those of the job that most needs a person, whatever the outcome."""

    state: RunState
    outcome: Outcome
    verdict: Verdict | None
    reason: str | None
    cause: Cause | None = None
    cause_detail: str | None = None


def job_outcome(state: JobState, verdict: Verdict | None) -> Outcome:
    """The one word for a job."""
    if state == "done":
        return verdict or "inconclusive"
    if state in FINAL:
        return cast(Outcome, state)
    return "queued" if state == "queued" else "running"


def roll_up(jobs: Iterable[JobSummary]) -> RollUp:
    """What a run is, from its jobs.

    `fail` needs one job that concluded `fail`; else a job that ended without a verdict is the run's outcome;
    `pass` needs every job done and passing; what is left is `inconclusive` (I12).
    """
    summaries = list(jobs)
    states = {job.state for job in summaries}
    if not states <= FINAL:
        state: RunState = "queued" if states == {"queued"} else "active"
        return RollUp(state, "queued" if state == "queued" else "running", None, None)
    failing = [
        job for job in summaries if job.state == "done" and job.verdict == "fail"
    ]
    unjudged = [
        job
        for state in WITHOUT_VERDICT
        for job in summaries
        if job_outcome(job.state, job.verdict) == state
    ]
    if failing or unjudged:
        worst = unjudged[0] if unjudged else failing[0]
        outcome = "fail" if failing else job_outcome(worst.state, None)
        return RollUp(
            _state(states),
            outcome,
            "fail" if failing else None,
            _reason([*failing, *unjudged]),
            worst.cause,
            worst.cause_detail,
        )
    doubtful = [job for job in summaries if job.verdict != "pass"]
    verdict: Verdict = "inconclusive" if doubtful else "pass"
    return RollUp("done", verdict, verdict, _reason(doubtful or summaries))


def _state(states: set[JobState]) -> RunState:
    if states & {"failed", "lost", "expired"}:
        return "failed"
    return "cancelled" if "cancelled" in states else "done"


def why(job: JobSummary) -> str:
    """Why a job ended as it did, in one line: `the build failed: error: cannot find function`."""
    if job.state == "done":
        return job.reason or "no reason given"
    if job.state == "cancelled":
        return _WITHOUT_CAUSE[job.state]
    clause = None if job.cause is None else CLAUSES[job.cause]
    said = [part for part in (clause, first_error(job.cause_detail)) if part]
    return ": ".join(said) or _WITHOUT_CAUSE[job.state]


REASON_CHARACTERS = 1000
"""Of a run's reason: what one line of a list and one message of a channel can hold."""
TARGETS_NAMED = 3


def _reason(jobs: list[JobSummary]) -> str:
    """Each reason once, after the targets that gave it; whole ones only, the rest is counted."""
    targets_by_reason: dict[str, list[str]] = {}
    for job in jobs:
        names = targets_by_reason.setdefault(why(job), [])
        if job.target_name not in names:
            names.append(job.target_name)
    reasons = [
        f"{_targets(names)}: {reason}" for reason, names in targets_by_reason.items()
    ]
    fit = len(reasons)
    while fit > 1 and len(_counted(reasons, fit)) > REASON_CHARACTERS:
        fit -= 1
    text = _counted(reasons, fit)
    return (
        text if len(text) <= REASON_CHARACTERS else f"{text[: REASON_CHARACTERS - 1]}…"
    )


def _counted(reasons: list[str], first: int) -> str:
    rest = len(reasons) - first
    more = [f"and {rest} more {'reason' if rest == 1 else 'reasons'}"] if rest else []
    return "; ".join([*reasons[:first], *more])


def _targets(names: list[str]) -> str:
    rest = len(names) - TARGETS_NAMED
    return (
        f"{', '.join(names[:TARGETS_NAMED])}{f' and {rest} more' if rest > 0 else ''}"
    )
