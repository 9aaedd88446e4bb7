"""Wire shapes of an explanation."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from paceline_server.alerts.schemas import AlertKind, AlertState, CauseName, FilterOut
from paceline_server.kernel.wire import Response


class WindowOut(Response):
    """The data one finding looked at, in words; `first_at`, `last_at`: when it was measured, for history."""

    text: str
    points: int | None = None
    launches: int | None = None
    blocks: int | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None


class RederivedOut(Response):
    """The finding made again just now from stored samples, with the parameters stored beside it. `identical`:
    every number is the same to the last bit; null when it cannot be made again (`text` says why)."""

    identical: bool | None
    text: str
    numbers: dict[str, float | int | str | None]


class ExplainedFindingOut(Response):
    """One finding: what it says, what it was asked, on which data, by which method."""

    id: str
    kind: AlertKind
    role: Literal["candidate", "confirmation", "recovery"]
    where: str
    words: str
    filters: list[FilterOut]
    window: WindowOut
    method: str
    parameters: dict[str, Any]
    created_at: datetime
    rederived: RederivedOut | None = None


class ExplanationOut(Response):
    """`sentence`: one paragraph for people. `cause_text`: why that cause, in words."""

    alert_id: str
    kind: AlertKind
    state: AlertState
    title: str
    sentence: str
    cause: CauseName | None
    cause_text: str | None
    rule: str
    findings: list[ExplainedFindingOut]
