"""What CI is told of a run's end: one word, its cause, and an exit status that never takes a failure for a
verdict."""

from __future__ import annotations

from typing import Any

import pytest
from paceline.commands.submitting import FinishedRun, exit_status, summary


def finished(
    outcome: str, *jobs: dict[str, Any], reason: str | None = None
) -> FinishedRun:
    return FinishedRun(
        {"id": "run_1", "outcome": outcome, "reason": reason, "jobs": list(jobs)}, []
    )


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("pass", 0),
        ("fail", 2),
        ("inconclusive", 3),
        ("failed", 1),
        ("lost", 1),
        ("expired", 1),
        ("cancelled", 1),
    ],
)
def test_only_a_verdict_has_a_status_of_its_own(outcome: str, status: int) -> None:
    assert exit_status(finished(outcome)) == status


def test_a_failed_run_is_said_to_have_failed_with_each_cause() -> None:
    job = {
        "target_name": "lab-1",
        "outcome": "failed",
        "cause": "build_failed",
        "cause_detail": "error[E0425]: cannot find function `hash`",
    }
    fine = {
        "target_name": "lab-2",
        "outcome": "inconclusive",
        "cause": None,
        "cause_detail": None,
    }
    late = {
        "target_name": "lab-3",
        "outcome": "expired",
        "cause": None,
        "cause_detail": "no agent leased it",
    }
    text = summary(
        finished("failed", job, fine, late, reason="lab-1: the build failed")
    )
    assert text.splitlines() == [
        "run run_1: failed: lab-1: the build failed",
        "lab-1: failed: build_failed: error[E0425]: cannot find function `hash`",
        "lab-3: expired: no agent leased it",
    ]
