"""Wire shapes of an explanation."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from paceline_server.alerts.registry import AlertKindName
from paceline_server.alerts.schemas import AlertState, CauseName, FilterOut
from paceline_server.kernel.wire import Response


class WindowOut(Response):
    """The data that a finding is based on. `first_at` and `last_at` are set for findings in a series' history."""

    text: str
    points: int | None = None
    launches: int | None = None
    blocks: int | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None


class RederivedOut(Response):
    """A finding computed again from stored samples with its stored parameters. `identical` says whether every
    number is the same to the last bit; null if it cannot be computed again, and `text` says why."""

    identical: bool | None
    text: str
    numbers: dict[str, float | int | str | None]


class SegmentStartOut(Response):
    """Where the history of a finding's series starts anew: no step is looked for across it. `change` says what changed."""

    first_at: datetime
    change: str


class ExplainedFindingOut(Response):
    """A finding with its sentence, filters, data and method."""

    id: str
    kind: AlertKindName
    role: Literal["candidate", "confirmation", "recovery"]
    where: str
    words: str
    filters: list[FilterOut]
    window: WindowOut
    segments: list[SegmentStartOut]
    """Empty for findings in no series, and for series that never changed their target or meaning."""
    method: str
    parameters: dict[str, Any]
    created_at: datetime
    rederived: RederivedOut | None = None


class ExplanationOut(Response):
    """Why an alert exists: `sentence` is one paragraph for people, `cause_text` says why this cause
    was assigned."""

    alert_id: str
    kind: AlertKindName
    state: AlertState
    title: str
    sentence: str
    cause: CauseName | None
    cause_text: str | None
    rule: str
    findings: list[ExplainedFindingOut]
