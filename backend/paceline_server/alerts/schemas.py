"""Wire shapes of alerts, their findings and their history."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from paceline_server.accounts.schemas import AccountOut
from paceline_server.catalog.schemas import ParamValue
from paceline_server.jobs.schemas import Judged
from paceline_server.kernel.wire import Request, Response

AlertState = Literal[
    "suspected",
    "unconfirmed",
    "inconclusive",
    "open",
    "acknowledged",
    "fixed",
    "expected",
    "invalid",
    "infra",
    "vanished",
]
Action = Literal["acknowledge", "fixed", "expected", "invalid", "infra", "reopen"]


class FilterOut(Response):
    """One filter of the decision with its number and limit (I16)."""

    name: str
    value: float | None
    limit: float | None
    passed: bool
    text: str


class FindingOut(Response):
    id: str
    kind: Literal["arm_slower"]
    role: Literal["candidate", "confirmation", "recovery"]
    run_id: str
    job_id: str
    params: dict[str, ParamValue]
    verdict: Judged
    reason: str
    words: str
    ratio: float | None
    lower: float | None
    upper: float | None
    share_slower: float | None
    launches: int
    blocks: int
    method: str
    parameters: dict[str, Any]
    filters: list[FilterOut]
    window: dict[str, Any]
    created_at: datetime


class AlertEventOut(Response):
    id: str
    at: datetime
    actor: str
    action: str
    from_state: AlertState | None
    to_state: AlertState | None
    note: str | None


class RuleOut(Response):
    name: str
    version: int
    text: str


class AlertOut(Response):
    id: str
    title: str
    state: AlertState
    suite: str
    benchmark: str
    arm: str
    reference: str
    metric: str
    target_id: str
    target_name: str
    demonstration: bool
    words: str
    ratio: float | None
    lower: float | None
    upper: float | None
    assignee: AccountOut | None
    created_at: datetime
    updated_at: datetime
    run_id: str
    confirmation_run_id: str | None


class AlertDetailOut(AlertOut):
    rule: RuleOut
    explanation: str
    findings: list[FindingOut]
    history: list[AlertEventOut]
    actions: list[Action]


class AlertActionIn(Request):
    action: Action
    note: str | None = Field(default=None, max_length=4000)


class AlertNoteIn(Request):
    note: str = Field(min_length=1, max_length=4000)


class AssigneeIn(Request):
    account_id: str | None
