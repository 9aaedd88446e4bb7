"""Wire shapes of waivers."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_contract.events import ParamValue
from pydantic import Field

from paceline_server.kernel.wire import Instant, Request, Response

WaivedKind = Literal["regression", "gate", "arm"]
WaiverState = Literal["active", "expired", "revoked"]
NAME_PATTERN = Field(default="*", min_length=1, max_length=200)


class WaiverIn(Request):
    """Lets what fails pass visibly, until `expires_at`. `benchmark`, `arm` and `metric` are patterns (`ledger_*`); of
    `params`, those named must be equal. Without `commits` (beginnings of names) and `pull_request` it holds for every
    run of the suite.

    A comparison that becomes worse than `worst_ratio` fails again, and so does a gate whose figure becomes worse than
    `worst_actual`. Both default to what `run_id`, the run that is to pass now, measured."""

    suite: str = Field(min_length=1, max_length=200)
    kind: WaivedKind
    benchmark: str = NAME_PATTERN
    arm: str = NAME_PATTERN
    metric: str = NAME_PATTERN
    params: dict[str, ParamValue] = Field(default_factory=dict, max_length=64)
    target_id: str | None = Field(default=None, max_length=64)
    commits: list[str] | None = Field(default=None, min_length=1, max_length=100)
    pull_request: int | None = Field(default=None, ge=1, lt=2**31)
    worst_ratio: float | None = Field(default=None, gt=0)
    worst_actual: float | None = None
    reason: str = Field(min_length=1, max_length=1000)
    expires_at: Instant
    run_id: str | None = Field(default=None, max_length=64)


class WaiverOut(Response):
    """A waiver as it stands. `words` say what it lets pass, for whom and until when."""

    id: str
    suite: str
    kind: WaivedKind
    benchmark: str
    arm: str
    metric: str
    params: dict[str, ParamValue]
    target_id: str | None
    commits: list[str] | None
    pull_request: int | None
    worst_ratio: float | None
    worst_actual: float | None
    reason: str
    state: WaiverState
    words: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    revoked_by: str | None
    revoked_at: datetime | None
