"""Wire shapes of alerts, their findings and their events."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from paceline_contract.events import ParamValue
from pydantic import Field, field_validator, model_validator

from paceline_server.accounts.schemas import AccountOut
from paceline_server.alerts.registry import AlertKindName
from paceline_server.alerts.rules.schemas import MuteOut
from paceline_server.jobs.schemas import Judged
from paceline_server.kernel.wire import Instant, Request, Response

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
    """The number of commits that may still be the culprit."""
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


CauseName = Literal["code", "environment", "target"]


class FindingOut(Response):
    """An immutable finding of detection.

    A finding of a comparison has `verdict`, `ratio`, `launches` and `blocks`; `sides` says whether two arms or
    two revisions were compared. A finding of a series' change has `series_id` and no verdict; its `ratio` is
    the level after ÷ before, above 1 when it got worse, and `numbers` holds the rest. Its `window` is
    {points, first, last} with the ids of the first and last job, or {job_ids, values} with `expand=window`."""

    id: str
    kind: AlertKindName
    role: Literal["candidate", "confirmation", "recovery"]
    run_id: str | None
    job_id: str | None
    series_id: str | None
    change_id: str | None
    sides: Literal["arms", "revisions"] | None
    benchmark: str
    arm: str
    metric: str
    params: dict[str, ParamValue]
    verdict: Judged | None
    reason: str
    words: str
    ratio: float | None
    lower: float | None
    upper: float | None
    share_slower: float | None
    launches: int | None
    blocks: int | None
    numbers: dict[str, Any] | None
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
    """An alert in the inbox.

    `ratio` above 1 means worse. About a gate, `metric` is the derived metric if it has one; about vanished cases
    and schedules, benchmark, arm and metric are empty; an alert without a measurement has no run, and perhaps no suite
    and no target. A history alert blames the commits after `base_commit` up to
    and including `head_commit`; `culprit` is the commit a bisection found. `cause` is null for arms and policies. `rule_id`
    is null for a manifest's or a built-in rule. If the alert was called expected, the level from
    `baseline_commit` on is the new baseline."""

    id: str
    title: str
    state: AlertState
    kind: AlertKindName
    cause: CauseName | None
    base_commit: str | None
    head_commit: str | None
    culprit: CulpritOut | None
    baseline_commit: str | None
    rule_id: str | None
    rule_name: str
    shadow: bool
    due_at: datetime | None
    overdue: bool
    issue_url: str | None
    suite: str
    benchmark: str
    arm: str
    reference: str
    metric: str
    target_id: str | None
    target_name: str | None
    demonstration: bool
    words: str
    ratio: float | None
    lower: float | None
    upper: float | None
    assignee: AccountOut | None
    created_at: datetime
    updated_at: datetime
    run_id: str | None
    confirmation_run_id: str | None


class AlertDetailOut(AlertOut):
    """An alert's page. `mute` is the mute of its rule in force; only alerts that people may write rules for can be
    muted (`can_be_muted`). `imported`: no agent measured it, so that nothing can be measured to search its commit."""

    imported: bool
    rule: RuleOut
    mute: MuteOut | None
    can_be_muted: bool
    explanation: str
    cause_text: str | None
    findings: list[FindingOut]
    bisection: BisectionOut | None
    history: list[AlertEventOut]
    actions: list[Action]


class AlertActionIn(Request):
    """`baseline_commit` may be given with `expected` for a history alert; the default is the commit it
    blames."""

    action: Action
    note: str | None = Field(default=None, max_length=4000)
    baseline_commit: str | None = Field(default=None, pattern=r"^[0-9a-f]{7,64}$")


class AlertNoteIn(Request):
    note: str = Field(min_length=1, max_length=4000)


class AssigneeIn(Request):
    account_id: str | None


class DueIn(Request):
    """A date by which an alert should be resolved; null removes it."""

    due_at: Instant | None


class IssueIn(Request):
    """The http or https address of the issue that tracks an alert; null removes it."""

    url: str | None = Field(max_length=2000)

    @field_validator("url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        """Accept only http(s) links without credentials: pages show the address as a link."""
        if url is None:
            return None
        try:
            parts = urlsplit(url)
            fits = (
                parts.scheme in ("http", "https")
                and bool(parts.hostname)
                and parts.username is None
            )
        except ValueError:
            fits = False
        if not fits or any(char.isspace() or not char.isprintable() for char in url):
            raise ValueError(
                "expected an address such as https://tracker.example/issues/12"
            )
        return url


class BulkIn(Request):
    """One decision about several alerts, applied to all of them or none.

    At least one of `action`, `assign`, `due` and `note` is required. A note without an action is a remark."""

    alert_ids: list[str] = Field(min_length=1, max_length=200)
    action: Action | None = None
    assign: AssigneeIn | None = None
    due: DueIn | None = None
    note: str | None = Field(default=None, min_length=1, max_length=4000)
    baseline_commit: str | None = Field(default=None, pattern=r"^[0-9a-f]{7,64}$")
    """With `expected`, as in `AlertActionIn`."""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if (
            self.action is None
            and self.assign is None
            and self.due is None
            and self.note is None
        ):
            raise ValueError("expected action, assign, due or note")
        if self.baseline_commit is not None and self.action != "expected":
            raise ValueError("baseline_commit goes with the action expected")
        if len(set(self.alert_ids)) != len(self.alert_ids):
            raise ValueError("an alert is named twice")
        return self


class TriageBatchOut(Response):
    """A bulk decision, which can be undone until `undo_until` if none of its alerts has changed."""

    id: str
    actor: str
    action: str
    note: str | None
    alerts: int
    alert_ids: list[str]
    created_at: datetime
    undo_until: datetime
    undone_at: datetime | None
    undone_by: str | None


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
    """A place where the history of a finding's series starts anew; no step is looked for across it. `change` says what
    changed."""

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
