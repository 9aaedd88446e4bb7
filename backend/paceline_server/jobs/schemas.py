"""Wire shapes of runs, jobs, leases and their reports."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from paceline_contract.events import ParamValue
from pydantic import Field

from paceline_server.fleet.device_schemas import ConfigurationName, RawOut
from paceline_server.kernel.wire import Instant, Request, Response

Judged = Literal["pass", "fail", "inconclusive", "not_applicable"]
"""The verdict of a comparison or a gate; `not_applicable`: its benchmark cannot run on this target."""
Verdict = Literal["pass", "fail", "inconclusive"]
Trigger = Literal["manual", "schedule", "ci", "confirm", "bisect", "a_a", "import"]
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
Cause = Literal[
    # workload faults: a signal, never retried
    "stream_invalid",
    "workload_hung",
    "workload_flooded",
    "workload_crashed",
    "workload_error",
    "workload_no_terminal",
    "check_failed",
    "build_failed",
    "suite_invalid",
    # infrastructure faults
    "checkout_failed",
    "agent_lost",
    "agent_error",
    "disk_full",
    "target_refused",
    "lease_lost",
    "cancelled",
    "device_lost",
    "device_rebooted",
    "device_refused",
    "device_storage_full",
    "device_unauthorized",
    "placing_failed",
    # faults of the server
    "analysis_failed",
]


COMMIT = r"^[0-9a-f]{7,64}$"
MAX_COMMITS = 1_000
"""Commits an agent reports with a job: the longest range that is bisected."""


class RunIn(Request):
    """A request to measure. Defaults: `commit` = head of the suite's announced branch, `targets` = every online
    target whose agent announced the suite, `benchmarks` = all, `params` = all declared values, `branch` = the
    announced one if its head is measured, else none; a run without a branch is not part of any history.

    `base_commit` makes it an A/B run: each job builds both revisions, interleaves their launches, and judges
    `commit` against the base. The same revision on both sides is an A/A run, which measures the noise floor.

    `launches` defaults to 5 on a host and 10 on a device. `suppress`: names of configuration errors (emulator,
    debuggable, …) that do not void its jobs; verdicts mention them. Simulated targets are included by default
    only if `simulated` is suppressed."""

    suite: str = Field(min_length=1, max_length=200)
    commit: str | None = Field(default=None, pattern=COMMIT)
    branch: str | None = Field(default=None, min_length=1, max_length=255)
    base_commit: str | None = Field(default=None, pattern=COMMIT)
    benchmarks: list[str] | None = Field(default=None, min_length=1, max_length=200)
    targets: list[str] | None = Field(default=None, min_length=1, max_length=200)
    launches: int | None = Field(default=None, ge=1, le=100)
    rounds: int = Field(default=20, ge=1, le=10_000)
    min_time_ns: int = Field(default=1_000_000, ge=1_000, le=60_000_000_000)
    params: dict[str, list[ParamValue]] = Field(default_factory=dict, max_length=64)
    knobs: dict[str, ParamValue] = Field(default_factory=dict, max_length=64)
    suppress: list[ConfigurationName] = Field(default_factory=list, max_length=32)
    trigger: Literal["manual", "schedule", "ci", "a_a"] = "manual"


class ScheduleIn(Request):
    """A run to repeat: `a_a` measures noise floors, `measure` the head of the suite's branch. Without a
    `target_id` it runs on every target that is online when it is due. Off unless `enabled`. `launches` and
    `suppress` as in a run."""

    name: str = Field(min_length=1, max_length=100)
    kind: Literal["a_a", "measure"]
    suite: str = Field(min_length=1, max_length=200)
    target_id: str | None = None
    benchmarks: list[str] | None = Field(default=None, min_length=1, max_length=200)
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
    """`next_at`: when it is due, if it is enabled. Missed runs are not made up for."""

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


class JobOut(Response):
    """`outcome` is the word to show; `cause` and `cause_detail` say why it failed, was lost, expired or was
    cancelled, and are null if it was judged."""

    id: str
    run_id: str
    target_id: str
    target_name: str
    state: JobState
    outcome: Outcome
    detail: str | None
    cause: Cause | None
    cause_detail: str | None
    """The text that `failure` is parsed from."""
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
    """`outcome` is the word to show, `reason` says why in one line. One job judged `fail` makes the run fail;
    otherwise the most urgent job decides: failed, lost, expired, cancelled. `cause` and `cause_detail` are those
    of that job. `verdict` is null unless one job is `fail` or all were judged."""

    id: str
    suite: str
    repository: str
    commit: str
    base_commit: str | None
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
    """What an agent executes: launches `first_launch … first_launch + launches - 1` of one batch; with
    `base_commit` each of them once per side."""

    suite: str
    repository: str
    manifest_path: str
    commit: str
    base_commit: str | None
    benchmarks: list[str]
    params: dict[str, list[ParamValue]]
    knobs: dict[str, ParamValue]
    first_launch: int
    launches: int
    rounds: int
    min_time_ns: int
    seed: int
    launch_timeout_s: float
    suppress: list[str] = Field(default_factory=list)
    """Names of configuration errors that do not stop the job."""


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


class CommitIn(Request):
    """A commit of the agent's repository. `left_out`: how many older commits of the range are not listed; only
    in the oldest one listed."""

    commit: str = Field(pattern=COMMIT)
    author: str = Field(max_length=500)
    at: Instant
    subject: str = Field(max_length=500)
    left_out: int = Field(default=0, ge=0)


class StateIn(Request):
    """A state of the agent; with `measuring` it reports hashes, build facts and commits. `commits`, oldest
    first: for an A/B job the first parents after the base up to the head, else only the head."""

    state: Literal["preparing", "measuring", "uploading"]
    detail: str | None = Field(default=None, max_length=500)
    artifact_hash: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    base_artifact_hash: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    commits: list[CommitIn] | None = Field(default=None, max_length=MAX_COMMITS)
    build: dict[str, str] = Field(default_factory=dict, max_length=64)
    fingerprint: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")


class FinishIn(Request):
    """The last write of an attempt; `last_seq` is its highest sequence number (−1: none).

    `detail`: what happened, in one sentence; then, if there is output, its first error with the lines around
    it, each beginning with two blanks and `> ` (the error) or `| ` (context); then what to do next."""

    outcome: Literal["done", "failed", "cancelled"]
    cause: Cause | None = None
    detail: str | None = Field(default=None, max_length=4000)
    last_seq: int = Field(ge=-1)


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
    side: Literal["base", "head"] | None
    pattern: str | None
    at: str | None
    fields: dict[str, int | str | PrintedNumberOut]
    text: str
    note: str | None


class ConditionsOut(Response):
    """`raw`, for a device and only with `expand=raw`: the output the values were read from."""

    seq: int
    phase: Literal["before", "during", "after"]
    at_ms: int
    values: dict[str, Any]
    raw: list[RawOut] | None = None
