"""The state machines of jobs, as claims."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from paceline_server.jobs.schemas import JobState
from paceline_server.jobs.states import (
    HELD,
    MAX_REQUEUES,
    Event,
    IllegalTransitionError,
    on_failure,
    on_lease_loss,
    states_before,
    step,
)

STATES: list[JobState] = [
    "queued",
    "leased",
    "preparing",
    "measuring",
    "uploading",
    "analysing",
    "done",
    "failed",
    "cancelled",
    "lost",
    "expired",
]
ENDED: list[JobState] = ["done", "failed", "cancelled", "expired"]


def test_the_way_of_a_good_job() -> None:
    state: JobState = "queued"
    for event, then in (
        (Event.lease, "leased"),
        (Event.wait, "leased"),
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
    assert {event for event in Event if "lost" in states_before(event)} == {
        Event.revive,
        Event.late_result,
        Event.upload,
        Event.finish_done,
        Event.finish_failed,
        Event.finish_cancelled,
        Event.cancel,
    }
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
    seen = [
        on_lease_loss(state, requeues=n, cancel_requested=False)
        for n in range(MAX_REQUEUES + 1)
    ]
    assert seen == [Event.requeue, Event.requeue, Event.give_up]


@pytest.mark.parametrize("state", ["measuring", "uploading"])
def test_a_lease_lost_while_measuring_keeps_what_was_measured(state: JobState) -> None:
    assert (
        step(state, on_lease_loss(state, requeues=0, cancel_requested=False)) == "lost"
    )


@pytest.mark.parametrize("state", sorted(HELD))
def test_a_lease_lost_by_a_job_asked_to_stop_cancels_it(state: JobState) -> None:
    assert (
        step(state, on_lease_loss(state, requeues=0, cancel_requested=True))
        == "cancelled"
    )


def test_a_failed_benchmark_is_never_silently_retried() -> None:
    for state in sorted(HELD):
        for cause in (
            "workload_crashed",
            "stream_invalid",
            "build_failed",
            "checkout_failed",
            "placing_failed",
        ):
            assert on_failure(state, cause=cause, requeues=0) is Event.finish_failed


def test_infrastructure_failures_are_retried_before_measuring_only() -> None:
    assert on_failure("preparing", cause="agent_error", requeues=1) is Event.requeue
    assert (
        on_failure("preparing", cause="agent_error", requeues=2) is Event.finish_failed
    )
    assert (
        on_failure("measuring", cause="agent_error", requeues=0) is Event.finish_failed
    )


class JobLife(RuleBasedStateMachine):
    """Random events: a job is always in a known state, requeued and re-batched a bounded number of times."""

    def __init__(self) -> None:
        super().__init__()
        self.state: JobState = "queued"
        self.requeues = 0
        self.measured = False

    @rule(
        event=st.sampled_from(
            [each for each in Event if each not in {Event.requeue, Event.request_batch}]
        )
    )
    def happen(self, event: Event) -> None:
        if self.state in states_before(event):
            before = self.state
            self.state = step(before, event)
            assert self.state != before or event in {
                Event.wait,
                Event.prepare,
                Event.measure,
                Event.upload,
            }

    @precondition(lambda self: self.state in HELD)
    @rule(asked_to_stop=st.booleans())
    def lose_lease(self, asked_to_stop: bool) -> None:
        event = on_lease_loss(
            self.state, requeues=self.requeues, cancel_requested=asked_to_stop
        )
        self.requeues += event is Event.requeue
        self.state = step(self.state, event)
        assert self.state not in HELD

    @invariant()
    def bounded(self) -> None:
        assert self.state in STATES
        assert self.requeues <= MAX_REQUEUES


TestJobLife = JobLife.TestCase
