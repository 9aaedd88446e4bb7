"""Wire shapes of runs, jobs, leases and their reports."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Body
from paceline_contract.attempts import (
    Cause,
    FinishReport,
    ManifestReport,
    StateReport,
)
from paceline_contract.events import ParamValue
from paceline_contract.items import ObservationPhase, SideName
from pydantic import Field

from paceline_server.fleet.device_schemas import ConfigurationName, RawOut
from paceline_server.kernel.contract_bodies import ContractBody
from paceline_server.kernel.wire import Request, Response

Judged = Literal["pass", "fail", "inconclusive", "not_applicable"]
"""The verdict of a comparison or a gate; `not_applicable`: its benchmark cannot run on this target, or the run
leaves out what it needs."""
Verdict = Literal["pass", "fail", "inconclusive"]
Trigger = Literal[
    "manual", "schedule", "ci", "confirm", "bisect", "a_a", "import", "recorded"
]
JobState = Literal[
    "queued",
    "leased",
    "preparing",
    "measuring",
    "uploading",
    "analysing",
    "done",
    "failed",
    "cancelled",
    "lost",
    "expired",
]
RunState = Literal["queued", "active", "done", "failed", "cancelled"]
Outcome = Literal[
    "queued",
    "running",
    "pass",
    "fail",
    "inconclusive",
    "failed",
    "lost",
    "expired",
    "cancelled",
]
"""The word that pages show for a run or a job; `inconclusive` only if it was measured and judged."""
COMMIT = r"^[0-9a-f]{7,64}$"


BRANCH = r"^[^\x00-\x20\x7f~^:?*\[\\-][^\x00-\x20\x7f~^:?*\[\\]*$"
"""Names of branches that git accepts, without a leading dash, which a command would take for an option."""
MAX_BENCHMARKS = 500
"""At most this many benchmarks in a request, as many as a manifest may declare."""
HTTP_ADDRESS = r"^https?://[^\s]+$"


class PullRequestIn(Request):
    """The pull or merge request that a run judges, as its forge names it. Pages link to `url`."""

    number: int = Field(ge=1, lt=2**31)
    url: str | None = Field(default=None, max_length=2000, pattern=HTTP_ADDRESS)
    title: str | None = Field(default=None, max_length=500)


class PullRequestOut(Response):
    number: int
    url: str | None
    title: str | None


class RunIn(Request):
    """A request to measure. Defaults: `commit` = head of the suite's announced branch, `targets` = every online
    target whose agent announced the suite, `benchmarks` = all, `params` = all declared values, `branch` = the
    announced one if its head is measured, else none; a run without a branch is not part of any history.

    `base_commit` makes it an A/B run: each job builds both revisions, interleaves their launches, and judges
    `commit` against the base. The same revision on both sides is an A/A run, which measures the noise floor.

    `head` judges a pull request in one run: is `head` slower than its base, do its gates hold, does each arm still
    beat its reference. The base is `base`, or the merge base of `head` and `base_branch`, which the agent finds.
    Such a run is part of no history. `head` replaces `commit`, and `base` replaces `base_commit`.

    `concurrency_key`: of runs with one key only the newest counts, as of the pushes of one pull request. A new one
    cancels the older ones, which then name it in `superseded_by`.

    `launches` defaults to 5 on a host and 10 on a device. `suppress`: names of configuration errors (emulator,
    debuggable, …) that do not void its jobs; verdicts mention them. Simulated targets are included by default
    only if `simulated` is suppressed.

    `stop_when_sure`: a benchmark is not launched again once all of its required comparisons are certain. It is the
    default where two revisions are compared, and not where one is measured: that is a point of a history, whose noise
    must not depend on the verdict."""

    suite: str = Field(min_length=1, max_length=200)
    commit: str | None = Field(default=None, pattern=COMMIT)
    branch: str | None = Field(default=None, min_length=1, max_length=255)
    base_commit: str | None = Field(default=None, pattern=COMMIT)
    head: str | None = Field(default=None, pattern=COMMIT)
    base: str | None = Field(default=None, pattern=COMMIT)
    base_branch: str | None = Field(default=None, max_length=255, pattern=BRANCH)
    pull_request: PullRequestIn | None = None
    benchmarks: list[str] | None = Field(
        default=None, min_length=1, max_length=MAX_BENCHMARKS
    )
    targets: list[str] | None = Field(default=None, min_length=1, max_length=200)
    launches: int | None = Field(default=None, ge=1, le=100)
    rounds: int = Field(default=20, ge=1, le=10_000)
    min_time_ns: int = Field(default=1_000_000, ge=1_000, le=60_000_000_000)
    params: dict[str, list[ParamValue]] = Field(default_factory=dict, max_length=64)
    knobs: dict[str, ParamValue] = Field(default_factory=dict, max_length=64)
    suppress: list[ConfigurationName] = Field(default_factory=list, max_length=32)
    trigger: Literal["manual", "schedule", "ci", "a_a"] = "manual"
    stop_when_sure: bool | None = None
    concurrency_key: str | None = Field(default=None, min_length=1, max_length=255)

    @property
    def has_base(self) -> bool:
        """True if two revisions are compared."""
        return (self.base_commit or self.base or self.base_branch) is not None


class ScheduleIn(Request):
    """A run to repeat: `a_a` measures noise floors, `measure` the head of the suite's branch. Without a
    `target_id` it runs on every target that is online when it is due. Off unless `enabled`. `launches` and
    `suppress` as in a run."""

    name: str = Field(min_length=1, max_length=100)
    kind: Literal["a_a", "measure"]
    suite: str = Field(min_length=1, max_length=200)
    target_id: str | None = None
    benchmarks: list[str] | None = Field(
        default=None, min_length=1, max_length=MAX_BENCHMARKS
    )
    params: dict[str, list[ParamValue]] = Field(default_factory=dict, max_length=64)
    launches: int | None = Field(default=None, ge=1, le=100)
    rounds: int = Field(default=20, ge=1, le=10_000)
    min_time_ns: int = Field(default=1_000_000, ge=1_000, le=60_000_000_000)
    suppress: list[ConfigurationName] = Field(default_factory=list, max_length=32)
    every_s: int = Field(ge=60, le=366 * 86_400)
    enabled: bool = False


class SchedulePatchIn(Request):
    """Enable, disable, or change the interval."""

    enabled: bool | None = None
    every_s: int | None = Field(default=None, ge=60, le=366 * 86_400)


class ScheduleOut(Response):
    """A schedule. `next_at`: when it is due, if it is enabled. Missed runs are not repeated later. `missed_at`: when the
    newest run was due, if it did not happen, and `missed_because` why."""

    id: str
    name: str
    kind: Literal["a_a", "measure"]
    suite: str
    target_id: str | None
    target_name: str | None
    benchmarks: list[str] | None
    params: dict[str, list[ParamValue]]
    launches: int | None
    rounds: int
    min_time_ns: int
    suppress: list[str] = Field(default_factory=list)
    every_s: int
    enabled: bool
    next_at: datetime
    missed_at: datetime | None
    missed_because: str | None
    last_run_id: str | None
    created_by: str
    created_at: datetime


class ProgressOut(Response):
    launch: int
    launches: int
    done: int
    total: int


class ExcerptLineOut(Response):
    text: str
    is_error: bool


class FailureOut(Response):
    """Why a job ended without a verdict: its cause as a `title`, what happened, the first error of its output with
    the lines around it, and what to do next. `sentence` is empty if only the cause is known. Without a known
    error, `excerpt` is the end of the output."""

    title: str
    sentence: str
    excerpt: list[ExcerptLineOut]
    is_recognised: bool
    advice: str


class WaitingReasonOut(Response):
    """Why a job measures nothing now: what it waits for, or which step of its preparation it is at. `advice`: what would
    change that, where anything would. `since`: when that began, if it is known; of a preparation, when the agent took the
    job. `run_id`: the run of the job that has its target."""

    text: str
    advice: str | None = None
    since: datetime | None = None
    run_id: str | None = None


class JobOut(Response):
    """A job. `outcome` is the word to show; `cause` and `cause_detail` say why it failed, was lost, expired or was
    cancelled, and are null if it was judged. `waiting_reason` is null while it measures and after its end, and left out
    of live events, because it changes with its target and with other jobs."""

    id: str
    run_id: str
    target_id: str
    target_name: str
    state: JobState
    outcome: Outcome
    detail: str | None
    waiting_reason: WaitingReasonOut | None = None
    cause: Cause | None
    cause_detail: str | None
    """The text from which `failure` is parsed."""
    failure: FailureOut | None = None
    attempt: int
    batch: int
    launches: int = 5
    """K: launches per batch."""
    partial: bool
    progress: ProgressOut | None
    verdict: Verdict | None
    reason: str | None
    artifact_hash: str | None
    base_artifact_hash: str | None
    samples: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class RunOut(Response):
    """A run. `outcome` is the word to show, `reason` says why in one line. One job judged `fail` makes the run fail;
    otherwise the most urgent job decides: failed, lost, expired, cancelled. `cause` and `cause_detail` are those
    of that job. `verdict` is null unless one job is `fail` or all were judged."""

    id: str
    suite: str
    repository: str
    commit: str
    base_commit: str | None
    """With `base_branch`, null until the agent has found the merge base."""
    base_branch: str | None
    pull_request: PullRequestOut | None
    judges_head: bool
    stop_when_sure: bool
    concurrency_key: str | None
    superseded_by: str | None
    """The next run with the same `concurrency_key`, which cancelled this one if it had not ended."""
    branch: str | None
    trigger: Trigger
    state: RunState
    outcome: Outcome
    verdict: Verdict | None
    reason: str | None
    cause: Cause | None
    cause_detail: str | None
    demonstration: bool
    benchmarks: list[str]
    params: dict[str, list[ParamValue]]
    knobs: dict[str, ParamValue]
    suppress: list[str] = Field(default_factory=list)
    launches: int
    rounds: int
    min_time_ns: int
    created_by: str
    created_at: datetime
    finished_at: datetime | None
    jobs: list[JobOut]


class WorkOut(Response):
    """The work of an agent: launches `first_launch … first_launch + launches - 1` of one batch; with `base_commit` or
    `base_branch` each of them once per side. With `base_branch` and no `base_commit`, the agent finds
    the merge base and reports it. With `judges_head`, the head also runs what only the head has. With
    `skips_unaffected`, a benchmark with one digest on both sides is reported and not measured again."""

    suite: str
    repository: str
    manifest_path: str
    commit: str
    base_commit: str | None
    base_branch: str | None
    judges_head: bool
    skips_unaffected: bool
    benchmarks: list[str]
    params: dict[str, list[ParamValue]]
    knobs: dict[str, ParamValue]
    first_launch: int
    launches: int
    rounds: int
    min_time_ns: int
    seed: int
    stop_when_sure: bool
    """Whether the agent asks between launches what is undecided, and launches only that."""
    launch_timeout_s: float
    suppress: list[str] = Field(default_factory=list)
    """Names of configuration errors that do not stop the job."""


class PlanOut(Response):
    """What a job measures by the manifest at its commit, which its agent has reported."""

    benchmarks: list[str]


class LeaseIn(Request):
    target_ids: list[str] | None = None
    wait_s: float = Field(default=25.0, ge=0, le=60)


class LeaseOut(Response):
    job_id: str
    run_id: str
    attempt: int
    lease_token: str
    lease_s: float
    target_id: str
    target_serial: str
    work: WorkOut


class RenewOut(Response):
    lease_s: float
    cancel: bool


StateIn = Annotated[StateReport, Body(title="StateReport"), ContractBody(StateReport)]
ManifestIn = Annotated[
    ManifestReport, Body(title="ManifestReport"), ContractBody(ManifestReport)
]
FinishIn = Annotated[
    FinishReport, Body(title="FinishReport"), ContractBody(FinishReport)
]


class LogLineOut(Response):
    seq: int
    stream: str
    text: str


class PrintedNumberOut(Response):
    """A number that an app printed, in base units; the true value is between `low` and `high`."""

    printed: str
    value: int
    low: int
    high: int
    unit: str


class ReportedLineOut(Response):
    """A line of a device's log that matches a pattern of its suite: an app's own figures, never judged.
    `launch`: during which launch it was logged; `at`: the device's time, as printed; `note`: why there are no
    fields, or what is missing."""

    seq: int
    launch: int | None
    side: SideName | None
    pattern: str | None
    at: str | None
    fields: dict[str, int | str | PrintedNumberOut]
    text: str
    note: str | None


class ConditionsOut(Response):
    """Conditions of a target. `raw`: the output from which a device's values were read, only with `expand=raw`."""

    seq: int
    phase: ObservationPhase
    at_ms: int
    values: dict[str, Any]
    raw: list[RawOut] | None = None
