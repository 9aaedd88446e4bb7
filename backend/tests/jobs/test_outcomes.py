"""How runs and jobs are called at their end, as claims."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paceline_contract.attempts import Cause
from paceline_server.jobs.outcomes import (
    ADVICE,
    CLAUSES,
    WITHOUT_VERDICT,
    JobSummary,
    job_outcome,
    roll_up,
)
from paceline_server.jobs.schemas import JobState, Verdict
from paceline_server.jobs.states import FINAL

STATES: list[JobState] = list(get_args(JobState))


def job(state: JobState, verdict: Verdict | None = None) -> JobSummary:
    return JobSummary(state=state, verdict=verdict, reason=None, target_name="host")


@pytest.mark.parametrize(
    ("jobs", "state", "verdict", "outcome"),
    [
        ([job("queued")], "queued", None, "queued"),
        ([job("queued"), job("leased")], "active", None, "running"),
        ([job("done", "pass"), job("queued")], "active", None, "running"),
        ([job("done", "pass"), job("done", "pass")], "done", "pass", "pass"),
        ([job("done", "pass"), job("done", "fail")], "done", "fail", "fail"),
        (
            [job("done", "pass"), job("done", "inconclusive")],
            "done",
            "inconclusive",
            "inconclusive",
        ),
        ([job("done", "pass"), job("failed")], "failed", None, "failed"),
        ([job("done", "inconclusive"), job("failed")], "failed", None, "failed"),
        ([job("done", "fail"), job("failed")], "failed", "fail", "fail"),
        ([job("done", "pass"), job("lost")], "failed", None, "lost"),
        ([job("expired")], "failed", None, "expired"),
        ([job("expired"), job("lost"), job("failed")], "failed", None, "failed"),
        ([job("cancelled"), job("expired")], "failed", None, "expired"),
        ([job("done", "pass"), job("cancelled")], "cancelled", None, "cancelled"),
        ([job("done", "fail"), job("cancelled")], "cancelled", "fail", "fail"),
    ],
)
def test_a_run_is_the_roll_up_of_its_jobs(
    jobs: list[JobSummary], state: str, verdict: str | None, outcome: str
) -> None:
    rolled = roll_up(jobs)
    assert (rolled.state, rolled.verdict, rolled.outcome) == (state, verdict, outcome)


def test_a_run_that_failed_says_why_in_one_line_and_keeps_the_whole_cause() -> None:
    detail = "\nerror[E0425]: cannot find function `hash` in this scope\n --> core/src/lib.rs:12:5"
    failed = JobSummary("failed", None, None, "lab-1", "build_failed", detail)
    rolled = roll_up(
        [
            job("done", "pass"),
            JobSummary("cancelled", None, None, "b", "cancelled"),
            failed,
        ]
    )
    assert rolled.reason == (
        "lab-1: the build failed: error[E0425]: cannot find function `hash` in this scope; b: was cancelled"
    )
    assert (rolled.cause, rolled.cause_detail) == ("build_failed", detail)


def test_a_run_with_a_failed_verdict_names_the_job_that_failed_beside_it() -> None:
    slower = JobSummary("done", "fail", "new is 12 % slower", "lab-1")
    rolled = roll_up(
        [
            slower,
            JobSummary("lost", None, None, "lab-2", "agent_lost", "no answer for 30 s"),
        ]
    )
    assert (rolled.outcome, rolled.cause) == ("fail", "agent_lost")
    assert (
        rolled.reason
        == "lab-1: new is 12 % slower; lab-2: the agent stopped answering: no answer for 30 s"
    )


def test_every_cause_of_the_contract_has_its_words() -> None:
    assert set(CLAUSES) == set(get_args(Cause))
    assert set(ADVICE) == {*get_args(Cause), None}


@pytest.mark.parametrize("state", STATES)
def test_only_a_job_that_is_done_is_called_by_its_verdict(state: JobState) -> None:
    outcome = job_outcome(state, "inconclusive")
    assert (outcome == "inconclusive") == (state == "done")
    assert (outcome in WITHOUT_VERDICT) == (state in FINAL - {"done"})


def of(target: str, reason: str) -> JobSummary:
    return JobSummary("done", "pass", reason, target)


def test_targets_that_say_the_same_say_it_once() -> None:
    rolled = roll_up(
        [
            of("b", "it holds"),
            of("a", "it holds"),
            of("c", "it holds; no arm of x is here"),
        ]
    )
    assert rolled.reason == "b, a: it holds; c: it holds; no arm of x is here"
    many = roll_up([of(f"lab-{number}", "it holds") for number in range(500)])
    assert many.reason == "lab-0, lab-1, lab-2 and 497 more: it holds"


def test_a_runs_reason_ends_with_a_whole_one_and_a_count() -> None:
    said = roll_up(
        [of(f"lab-{number}", f"{'x' * 150} {number}") for number in range(40)]
    ).reason
    assert said is not None
    *whole, counted = said.split("; ")
    assert counted == "and 34 more reasons"
    assert [one.split()[-1] for one in whole] == ["0", "1", "2", "3", "4", "5"]
    assert len(said) <= 1000
    alone = roll_up([of("lab-1", "x" * 2000)]).reason
    assert alone is not None
    assert (len(alone), alone[-1]) == (1000, "…")


@given(
    st.lists(
        st.builds(
            job,
            st.sampled_from(STATES),
            st.sampled_from(["pass", "fail", "inconclusive"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_a_run_passes_only_when_every_job_is_done_and_passes(
    jobs: list[JobSummary],
) -> None:
    rolled = roll_up(jobs)
    assert (rolled.verdict == "pass") == all(
        each.state == "done" and each.verdict == "pass" for each in jobs
    )
    assert (rolled.verdict is not None and rolled.state == "active") is False
    assert (rolled.state in {"queued", "active"}) == any(
        each.state not in FINAL for each in jobs
    )
    assert (rolled.verdict == "inconclusive") <= all(
        each.state == "done" for each in jobs
    )
