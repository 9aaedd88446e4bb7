"""Wire shapes of a bisection: how far it is, what each A/B job said, and whom it found."""

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
    """The commit to blame; `ratio` = its time ÷ the base's, side by side, with the interval of that job."""

    ratio: float | None
    lower: float | None
    upper: float | None


class BisectionStepOut(Response):
    """One A/B job, base against `commit`. `index` counts from the oldest commit after the base; null: the
    head, to find out whether there is anything to look for. `verdict` null: still measuring; `skipped`: the
    commit could not be measured; `failed`: its job failed for another reason."""

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
    """`good` and `bad` are indexes into `commits` (−1 is the base): the culprit lies after the one, up to and
    with the other. `used` of `budget` A/B jobs were asked for."""

    id: str
    state: BisectionState
    base_commit: str | None
    commits: list[CommitOut]
    good: int
    bad: int
    left: int
    """Commits the culprit may still be."""
    budget: int
    used: int
    steps: list[BisectionStepOut]
    culprit: CulpritOut | None
    words: str
    created_at: datetime
    updated_at: datetime


class BisectIn(Request):
    """`budget`: A/B jobs that may be asked for; null: as the server is set."""

    budget: int | None = Field(default=None, ge=1, le=100)
