"""The state machines of jobs and runs, as claims."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from paceline_server.jobs.schemas import JobState, Verdict
from paceline_server.jobs.states import (
    FINAL,
    HELD,
    MAX_REQUEUES,
    Event,
    IllegalTransitionError,
    JobSummary,
    allowed,
    on_failure,
    on_lease_loss,
    roll_up,
    step,
)

STATES: list[JobState] = [
    "queued", "leased", "preparing", "measuring", "uploading", "analysing",
    "done", "failed", "cancelled", "lost", "expired",
]  # fmt: skip
ENDED: list[JobState] = ["done", "failed", "cancelled", "expired"]


def test_the_way_of_a_good_job() -> None:
    state: JobState = "queued"
    for event, then in (
        (Event.lease, "leased"),
        (Event.prepare, "preparing"),
        (Event.measure, "measuring"),
        (Event.upload, "uploading"),
        (Event.finish_done, "analysing"),
        (Event.conclude, "done"),
    ):
        state = step(state, event)
        assert state == then


def test_analysis_may_ask_for_another_batch() -> None:
    assert step("analysing", Event.request_batch) == "queued"


def test_a_lost_job_comes_back_by_a_renewal_or_a_late_result_only() -> None:
    assert {event for event in Event if "lost" in allowed(event)} == {
        Event.revive, Event.late_result, Event.upload, Event.finish_done, Event.finish_failed,
        Event.finish_cancelled, Event.cancel,
    }  # fmt: skip
    assert step("lost", Event.late_result) == "uploading"


@pytest.mark.parametrize("state", ENDED)
@pytest.mark.parametrize("event", list(Event))
def test_what_ended_stays_ended(state: JobState, event: Event) -> None:
    with pytest.raises(IllegalTransitionError):
        step(state, event)


@pytest.mark.parametrize("state", sorted(HELD))
def test_a_job_somebody_works_on_is_never_leased_again(state: JobState) -> None:
    with pytest.raises(IllegalTransitionError):
        step(state, Event.lease)


@pytest.mark.parametrize("state", ["leased", "preparing"])
def test_a_lease_lost_before_measuring_is_tried_again_twice(state: JobState) -> None:
    seen = [on_lease_loss(state, requeues=n, cancel_requested=False) for n in range(MAX_REQUEUES + 1)]
    assert seen == [Event.requeue, Event.requeue, Event.give_up]


@pytest.mark.parametrize("state", ["measuring", "uploading"])
def test_a_lease_lost_while_measuring_keeps_what_was_measured(state: JobState) -> None:
    assert step(state, on_lease_loss(state, requeues=0, cancel_requested=False)) == "lost"


@pytest.mark.parametrize("state", sorted(HELD))
def test_a_lease_lost_by_a_job_asked_to_stop_cancels_it(state: JobState) -> None:
    assert step(state, on_lease_loss(state, requeues=0, cancel_requested=True)) == "cancelled"


def test_a_failed_benchmark_is_never_silently_retried() -> None:
    for state in sorted(HELD):
        for cause in ("workload_crashed", "stream_invalid", "build_failed", "checkout_failed"):
            assert on_failure(state, cause=cause, requeues=0) is Event.finish_failed


def test_infrastructure_failures_are_retried_before_measuring_only() -> None:
    assert on_failure("preparing", cause="agent_error", requeues=1) is Event.requeue
    assert on_failure("preparing", cause="agent_error", requeues=2) is Event.finish_failed
    assert on_failure("measuring", cause="agent_error", requeues=0) is Event.finish_failed


def job(state: JobState, verdict: Verdict | None = None) -> JobSummary:
    return JobSummary(state=state, verdict=verdict, reason=None, target_name="host")


@pytest.mark.parametrize(
    ("jobs", "state", "verdict"),
    [
        ([job("queued")], "queued", None),
        ([job("queued"), job("leased")], "active", None),
        ([job("done", "pass"), job("queued")], "active", None),
        ([job("done", "pass"), job("done", "pass")], "done", "pass"),
        ([job("done", "pass"), job("done", "fail")], "done", "fail"),
        ([job("done", "pass"), job("done", "inconclusive")], "done", "inconclusive"),
        ([job("done", "pass"), job("failed")], "failed", "inconclusive"),
        ([job("done", "fail"), job("failed")], "failed", "fail"),
        ([job("done", "pass"), job("lost")], "failed", "inconclusive"),
        ([job("expired")], "failed", "inconclusive"),
        ([job("done", "pass"), job("cancelled")], "cancelled", None),
        ([job("done", "fail"), job("cancelled")], "cancelled", "fail"),
    ],
)
def test_a_run_is_the_roll_up_of_its_jobs(jobs: list[JobSummary], state: str, verdict: str | None) -> None:
    rolled = roll_up(jobs)
    assert (rolled.state, rolled.verdict) == (state, verdict)


def of(target: str, reason: str) -> JobSummary:
    return JobSummary("done", "pass", reason, target)


def test_targets_that_say_the_same_say_it_once() -> None:
    rolled = roll_up([of("b", "it holds"), of("a", "it holds"), of("c", "it holds; no arm of x is here")])
    assert rolled.reason == "b, a: it holds; c: it holds; no arm of x is here"
    many = roll_up([of(f"lab-{number}", "it holds") for number in range(500)])
    assert many.reason == "lab-0, lab-1, lab-2 and 497 more: it holds"


def test_a_runs_reason_ends_with_a_whole_one_and_a_count() -> None:
    said = roll_up([of(f"lab-{number}", f"{'x' * 150} {number}") for number in range(40)]).reason
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
        st.builds(job, st.sampled_from(STATES), st.sampled_from(["pass", "fail", "inconclusive"])),
        min_size=1,
        max_size=6,
    )
)
def test_a_run_passes_only_when_every_job_is_done_and_passes(jobs: list[JobSummary]) -> None:
    rolled = roll_up(jobs)
    assert (rolled.verdict == "pass") == all(each.state == "done" and each.verdict == "pass" for each in jobs)
    assert (rolled.verdict is not None and rolled.state == "active") is False
    assert (rolled.state in {"queued", "active"}) == any(each.state not in FINAL for each in jobs)


class JobLife(RuleBasedStateMachine):
    """Random events: a job is always in a known state, requeued and re-batched a bounded number of times."""

    def __init__(self) -> None:
        super().__init__()
        self.state: JobState = "queued"
        self.requeues = 0
        self.measured = False

    @rule(event=st.sampled_from([each for each in Event if each not in {Event.requeue, Event.request_batch}]))
    def happen(self, event: Event) -> None:
        if self.state in allowed(event):
            before = self.state
            self.state = step(before, event)
            assert self.state != before or event in {Event.prepare, Event.measure, Event.upload}

    @precondition(lambda self: self.state in HELD)
    @rule(asked_to_stop=st.booleans())
    def lose_lease(self, asked_to_stop: bool) -> None:
        event = on_lease_loss(self.state, requeues=self.requeues, cancel_requested=asked_to_stop)
        self.requeues += event is Event.requeue
        self.state = step(self.state, event)
        assert self.state not in HELD

    @invariant()
    def bounded(self) -> None:
        assert self.state in STATES
        assert self.requeues <= MAX_REQUEUES


TestJobLife = JobLife.TestCase
