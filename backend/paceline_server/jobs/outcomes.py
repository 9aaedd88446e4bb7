"""Decides how jobs and runs ended: outcome, cause, reason, and the state of a run from its jobs.

Every page, client and message takes the outcome and the reason from here, so they never disagree. A run or job is
`inconclusive` only if it was measured and the data could not decide. All functions are pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from paceline_contract.attempts import Cause

from paceline_server.jobs.schemas import (
    ExcerptLineOut,
    FailureOut,
    JobState,
    Outcome,
    RunState,
    Verdict,
)
from paceline_server.jobs.states import FINAL
from paceline_server.store.tables.jobs import Job

WITHOUT_VERDICT: tuple[Outcome, ...] = ("failed", "lost", "expired", "cancelled")
"""Outcomes of jobs that ended without a verdict, the most urgent first."""

CLAUSES: Mapping[Cause, str] = {
    "stream_invalid": "the workload's output is not a valid bench stream",
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
    "cancelled": "the job was cancelled",
    "device_lost": "the device could not be reached any more",
    "device_rebooted": "the device restarted",
    "device_refused": "the device refused what the job needs",
    "device_storage_full": "the device has no room left",
    "device_unauthorized": "the device does not trust its agent",
    "placing_failed": "a file did not arrive on the device as it was sent",
    "analysis_failed": "the server could not analyse what was measured",
}
"""Each cause as a clause that follows the name of a target and a colon. Capitalized, it is the title of a failure."""

NEVER_STARTED = "no agent started the job"
"""The clause of a job that ended without a cause: nothing went wrong in it."""

ADVICE: Mapping[Cause | None, str] = {
    "stream_invalid": "Print only JSON events on stdout, and messages for people on stderr.",
    "workload_hung": "Run the workload by hand with the same arguments. If it is only slow, raise "
    "launch_timeout_s in suite.toml.",
    "workload_flooded": "Look for a debug print in a loop. The log shows what was printed.",
    "workload_crashed": "Run the workload by hand on the target to get a stack trace.",
    "workload_error": "Look for the workload's message in the log.",
    "workload_no_terminal": "A workload must print a done or error event as its last line, even if it exits 0.",
    "check_failed": "Repair the arm that the check names. Timings of wrong code do not count.",
    "build_failed": "Run the failed step by hand at this commit, on the agent's host.",
    "suite_invalid": "Correct suite.toml at the line named here.",
    "checkout_failed": "Check that the agent's repository has this commit and that the agent may read it.",
    "agent_lost": "Check the agent's host. Samples that arrived are kept, and late ones still count.",
    "agent_error": "Look into the agent's log. The measured code is not the cause.",
    "disk_full": "Free space on the agent's host. The agent takes no jobs until there is room.",
    "target_refused": "See the preflight findings on the target's page.",
    "lease_lost": "Check the network and the load of the agent's host, then repeat the run.",
    "device_lost": "Check the cable, the port and the hub. The device is checked again before its next job.",
    "device_rebooted": "Repeat the run. The device's page shows when and how often it restarted.",
    "device_refused": "Unlock the device, look at its screen, then check it again.",
    "device_storage_full": "Free space on the device. Its health check shows how much there is.",
    "device_unauthorized": "Unlock the device and accept the prompt. If there is none, connect it again.",
    "placing_failed": "Repeat the run. If it fails again, check the device's cable and storage.",
    "analysis_failed": "Look into the server's log. The samples are kept.",
    "cancelled": "Repeat the run to measure again.",
    None: "Check that the target is online, healthy and not in maintenance, then repeat the run.",
}
"""Advice for each cause, for failures about which the agent gives no advice."""

_WITHOUT_CAUSE: Mapping[str, str] = {
    "failed": "failed",
    "lost": "lost its agent",
    "expired": "was not leased in time",
    "cancelled": "was cancelled",
}


@dataclass(frozen=True, slots=True)
class JobSummary:
    """The fields of a job that decide the outcome of its run."""

    state: JobState
    verdict: Verdict | None
    reason: str | None
    target_name: str
    cause: Cause | None = None
    cause_detail: str | None = None


@dataclass(frozen=True, slots=True)
class RollUp:
    """State, outcome and reason of a run, from its jobs. `cause` and `cause_detail`: of its most urgent job."""

    state: RunState
    outcome: Outcome
    verdict: Verdict | None
    reason: str | None
    cause: Cause | None = None
    cause_detail: str | None = None


def job_outcome(state: JobState, verdict: Verdict | None) -> Outcome:
    """Return the outcome that pages show for a job."""
    if state == "done":
        return verdict or "inconclusive"
    if state in FINAL:
        return cast(Outcome, state)
    return "queued" if state == "queued" else "running"


def roll_up(jobs: Iterable[JobSummary]) -> RollUp:
    """Return state, outcome and reason of a run from its jobs.

    One job with verdict `fail` makes the run `fail`. Otherwise the most urgent job without a verdict decides.
    `pass` needs every job done and passing; everything else is `inconclusive` (I12).
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
            _final_state(states),
            outcome,
            "fail" if failing else None,
            _reason([*failing, *unjudged]),
            worst.cause,
            worst.cause_detail,
        )
    doubtful = [job for job in summaries if job.verdict != "pass"]
    verdict: Verdict = "inconclusive" if doubtful else "pass"
    return RollUp("done", verdict, verdict, _reason(doubtful or summaries))


def _final_state(states: set[JobState]) -> RunState:
    if states & {"failed", "lost", "expired"}:
        return "failed"
    return "cancelled" if "cancelled" in states else "done"


def reason_of_end(job: Job | JobSummary) -> str:
    """Return why a job ended as it did in one line, such as `the build failed: error: cannot find function`."""
    if job.state == "done":
        return job.reason or "no reason given"
    if job.state == "cancelled":
        return _WITHOUT_CAUSE[job.state]
    clause = None if job.cause is None else CLAUSES[cast(Cause, job.cause)]
    parts = [part for part in (clause, first_error(job.cause_detail)) if part]
    return ": ".join(parts) or _WITHOUT_CAUSE[job.state]


ERROR_MARK = "  > "
CONTEXT_MARK = "  | "


def failure_of(job: Job) -> FailureOut | None:
    """Return why a job ended without a verdict, in parts; None if nothing went wrong."""
    if job.cause is None and job.state not in WITHOUT_VERDICT:
        return None
    cause = job.cause or ("cancelled" if job.state == "cancelled" else None)
    return parse_failure(job.cause_detail or "", cast(Cause | None, cause))


def parse_failure(detail: str, cause: Cause | None) -> FailureOut:
    """Split the detail of a cause into sentence, excerpt and advice, under the title of the cause.

    The agent's `first_error.py` writes the excerpt as lines that begin with a mark.
    """
    clause = NEVER_STARTED if cause is None else CLAUSES[cause]
    title = clause[0].upper() + clause[1:]
    lines = detail.split("\n")
    marked = [
        number
        for number, line in enumerate(lines)
        if line.startswith((ERROR_MARK, CONTEXT_MARK))
    ]
    if not marked:
        return FailureOut(
            title=title,
            sentence=lines[0],
            excerpt=[],
            is_recognised=False,
            advice="\n".join(lines[1:]).strip() or ADVICE[cause],
        )
    excerpt = [
        ExcerptLineOut(
            text=lines[number][len(ERROR_MARK) :],
            is_error=lines[number].startswith(ERROR_MARK),
        )
        for number in marked
    ]
    recognised = any(line.is_error for line in excerpt)
    before = lines[: marked[0]]
    if not recognised and len(before) > 1:
        before = before[:-1]  # The line only introduces the excerpt.
    return FailureOut(
        title=title,
        sentence="\n".join(before).strip(),
        excerpt=excerpt,
        is_recognised=recognised,
        advice="\n".join(lines[marked[-1] + 1 :]).strip() or ADVICE[cause],
    )


def first_error(detail: str | None) -> str | None:
    """Return the most informative line: the first error of the output, or else what happened."""
    if not detail:
        return None
    failure = parse_failure(detail.strip(), None)
    errors = [line.text for line in failure.excerpt if line.is_error]
    return next(
        (
            text
            for line in [*errors, *failure.sentence.split("\n")]
            if (text := line.strip())
        ),
        None,
    )


REASON_CHARACTERS = 1000
"""Maximum length of a run's reason, which is shown in one line of a list and in messages."""
TARGETS_NAMED = 3


def _reason(jobs: list[JobSummary]) -> str:
    """Return each reason once, after its targets; reasons that do not fit are counted."""
    targets_by_reason: dict[str, list[str]] = {}
    for job in jobs:
        names = targets_by_reason.setdefault(reason_of_end(job), [])
        if job.target_name not in names:
            names.append(job.target_name)
    reasons = [
        f"{_join_targets(names)}: {reason}"
        for reason, names in targets_by_reason.items()
    ]
    fit = len(reasons)
    while fit > 1 and len(_join_reasons(reasons, fit)) > REASON_CHARACTERS:
        fit -= 1
    text = _join_reasons(reasons, fit)
    return (
        text if len(text) <= REASON_CHARACTERS else f"{text[: REASON_CHARACTERS - 1]}…"
    )


def _join_reasons(reasons: list[str], first: int) -> str:
    rest = len(reasons) - first
    more = [f"and {rest} more {'reason' if rest == 1 else 'reasons'}"] if rest else []
    return "; ".join([*reasons[:first], *more])


def _join_targets(names: list[str]) -> str:
    rest = len(names) - TARGETS_NAMED
    return (
        f"{', '.join(names[:TARGETS_NAMED])}{f' and {rest} more' if rest > 0 else ''}"
    )
