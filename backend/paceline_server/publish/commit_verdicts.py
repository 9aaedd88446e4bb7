"""Returns what is known about a commit, for systems that poll instead of being notified."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.jobs import service as jobs
from paceline_server.jobs.schemas import Outcome, RunOut
from paceline_server.kernel import settings
from paceline_server.kernel.wire import Response
from paceline_server.publish import queries

MAX_RUNS = 50
WORST_FIRST: tuple[Outcome, ...] = (
    "fail",
    "failed",
    "lost",
    "expired",
    "cancelled",
    "queued",
    "running",
    "inconclusive",
    "pass",
)


class RunVerdictOut(Response):
    """One run of the commit. `url` is null if the server has no public address."""

    run_id: str
    suite: str
    branch: str | None
    base_commit: str | None
    outcome: Outcome
    reason: str
    demonstration: bool
    created_at: datetime
    url: str | None


class CommitVerdictsOut(Response):
    """The runs of a commit, the newest first. `outcome`: the worst outcome among the newest run of each suite, without
    demonstrations; null if there is none."""

    commit: str
    outcome: Outcome | None
    runs: list[RunVerdictOut]


def commit_verdicts(
    session: Session, commit: str, suite: str | None
) -> CommitVerdictsOut:
    """Return the verdicts of a commit's newest runs."""
    ids = queries.runs_of_commit(session, commit, suite, MAX_RUNS)
    runs = [jobs.get_run(session, run_id) for run_id in ids]
    newest: dict[str, Outcome] = {}
    for run in runs:
        if not run.demonstration:
            newest.setdefault(run.suite, run.outcome)
    return CommitVerdictsOut(
        commit=commit,
        outcome=min(newest.values(), key=WORST_FIRST.index, default=None),
        runs=[_run_verdict(run) for run in runs],
    )


def _run_verdict(run: RunOut) -> RunVerdictOut:
    public = settings.current().public_url
    return RunVerdictOut(
        run_id=run.id,
        suite=run.suite,
        branch=run.branch,
        base_commit=run.base_commit,
        outcome=run.outcome,
        reason=run.reason or "",
        demonstration=run.demonstration,
        created_at=run.created_at,
        url=f"{public}/runs/{run.id}" if public else None,
    )
