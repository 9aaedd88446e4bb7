"""Wire shapes of a bisection: its progress, the result of each A/B job, and the culprit."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from paceline_server.kernel.wire import Request, Response

BisectionState = Literal["running", "found", "exhausted", "undecided", "failed"]


class CommitOut(Response):
    commit: str
    author: str
    at: datetime
    subject: str


class CulpritOut(CommitOut):
    """The commit to blame; `ratio` is its value ÷ the base's in one A/B job, with that job's interval."""

    ratio: float | None
    lower: float | None
    upper: float | None


class BisectionStepOut(Response):
    """One A/B job of the base against `commit`.

    `index` counts from the oldest commit after the base; null means the head, measured first to see whether it
    differs at all. `verdict` is null while measuring, `skipped` if the commit could not be measured, and
    `failed` if its job failed for another reason."""

    index: int | None
    commit: str
    run_id: str
    job_id: str | None
    verdict: Literal["fail", "pass", "inconclusive", "failed", "skipped"] | None
    ratio: float | None
    lower: float | None
    upper: float | None
    words: str


class BisectionOut(Response):
    """A bisection and its progress.

    `good` and `bad` are indexes into `commits` (−1 is the base): the culprit is after `good`, and at or before
    `bad`. `used` of at most `budget` A/B jobs were requested."""

    id: str
    state: BisectionState
    base_commit: str | None
    commits: list[CommitOut]
    good: int
    bad: int
    left: int
    """Number of commits the culprit may still be."""
    budget: int
    used: int
    steps: list[BisectionStepOut]
    culprit: CulpritOut | None
    words: str
    created_at: datetime
    updated_at: datetime


class BisectIn(Request):
    """`budget` limits the A/B jobs; null means the server's setting."""

    budget: int | None = Field(default=None, ge=1, le=100)
