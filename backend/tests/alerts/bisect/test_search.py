"""The search alone: every culprit is found, in as few jobs as halving takes, whatever cannot be measured."""

from __future__ import annotations

import pytest
from paceline_server.alerts.bisect.search import (
    Answer,
    BisectionStep,
    MeasureCommit,
    SearchEnd,
    bounds,
    next_step,
)

UNLIMITED = 100


def search(
    commits: int,
    culprit: int,
    *,
    budget: int = UNLIMITED,
    broken: frozenset[int] = frozenset(),
) -> tuple[SearchEnd, list[BisectionStep]]:
    """Run a search with an oracle that is never wrong; commits in `broken` cannot be measured."""
    steps: list[BisectionStep] = []
    while isinstance(step := next_step(commits, steps, budget), MeasureCommit):
        answer: Answer = (
            "skipped"
            if step.index in broken
            else "fail"
            if step.index >= culprit
            else "pass"
        )
        steps.append(BisectionStep(step.index, answer))
    return step, steps


@pytest.mark.parametrize("commits", [1, 2, 3, 5, 31, 32, 33])
def test_every_culprit_is_found_by_halving(commits: int) -> None:
    for culprit in range(commits):
        end, steps = search(commits, culprit)
        assert end.state == "found"
        assert bounds(commits, steps) == (culprit - 1, culprit)
        assert len(steps) <= (commits - 1).bit_length()


def test_one_commit_needs_no_job() -> None:
    assert search(1, 0) == (SearchEnd("found", ""), [])


def test_a_budget_that_ends_names_what_is_left() -> None:
    end, steps = search(32, 20, budget=3)
    assert (end.state, len(steps)) == ("exhausted", 3)
    assert "4 commits are left" in end.why
    good, bad = bounds(32, steps)
    assert good < 20 <= bad


@pytest.mark.parametrize("culprit", range(8))
def test_commits_that_cannot_be_measured_are_stepped_around(culprit: int) -> None:
    broken = frozenset({3, 4})
    end, steps = search(8, culprit, broken=broken)
    good, bad = bounds(8, steps)
    assert good < culprit <= bad
    hidden = any(good < index < bad for index in broken)
    assert end.state == ("undecided" if hidden else "found")
    assert all(index in broken for index in range(good + 1, bad))


@pytest.mark.parametrize("answer", ["inconclusive", "failed"])
def test_a_job_that_cannot_tell_is_repeated_once_with_more_launches_and_then_believed(
    answer: Answer,
) -> None:
    steps = [BisectionStep(3, answer)]
    assert next_step(8, steps, UNLIMITED) == MeasureCommit(3, again=True)
    assert next_step(8, [*steps, BisectionStep(3, "fail")], UNLIMITED) == MeasureCommit(
        1
    )
    end = next_step(8, [*steps, BisectionStep(3, answer)], UNLIMITED)
    assert isinstance(end, SearchEnd)
    assert end.state == "undecided"


@pytest.mark.parametrize("culprit", range(8))
def test_a_range_longer_than_its_names_ends_with_a_range_and_never_blames_the_oldest_named(
    culprit: int,
) -> None:
    steps: list[BisectionStep] = []
    while isinstance(step := next_step(8, steps, UNLIMITED, before=5), MeasureCommit):
        steps.append(
            BisectionStep(step.index, "fail" if step.index >= culprit else "pass")
        )
    assert step.state == ("undecided" if culprit == 0 else "found")
    if culprit == 0:
        assert "of the 6 commits that are left only the last was named" in step.why
    assert bounds(8, steps) == (culprit - 1, culprit)


def test_a_repeat_costs_budget_like_any_job() -> None:
    end = next_step(8, [BisectionStep(3, "inconclusive")], 1)
    assert isinstance(end, SearchEnd)
    assert end.state == "exhausted"
