"""Wire shapes of a job's analysis (C2), which `make bench JSON=…` writes as well.

The server computes every ratio and sentence from samples (I17).
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_contract.events import Direction, ParamValue
from paceline_contract.items import SideName
from paceline_contract.units import Unit
from pydantic import Field

from paceline_server.jobs.schemas import Judged, Verdict
from paceline_server.kernel.wire import Response
from paceline_server.stats.gates import SAMPLES_METHOD
from paceline_server.stats.paired import VOIDING_METHOD


class CheckOut(Response):
    name: str
    ok: bool
    detail: str


class MeasurementOut(Response):
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    direction: Direction
    launches: int
    n: int
    median: float
    mean: float
    p99: float
    min: float
    max: float
    sd: float
    flags: list[str]
    median_lower: float | None = None
    """99 % interval of the median by order statistics; null with too few samples."""
    median_upper: float | None = None
    side: SideName | None = None
    """The revision, in an A/B job."""
    items: int | None = None
    """Items per iteration, as the workload declares them; `bytes` likewise."""
    bytes: int | None = None


class WaivedOut(Response):
    """Why a failure does not count: by a waiver (who, why, until when), or because people know it by an alert."""

    waiver_id: str | None
    alert_id: str | None
    by: str | None
    reason: str | None
    until: datetime | None
    words: str


class ComparisonOut(Response):
    """An arm compared with the reference at the same params. `ratio` is arm time ÷ reference time, below 1 for
    faster, for every metric. `lower` and `upper` bound the paired ratio by order statistics.

    With `sides` "revisions", the arm at the job's commit (head) is compared with the same arm at its base;
    `reference` is then `base`."""

    benchmark: str
    params: dict[str, ParamValue]
    metric: str
    arm: str
    reference: str
    launches: int
    blocks: int
    ratio: float | None
    lower: float | None
    upper: float | None
    share_slower: float | None
    verdict: Judged
    reason: str
    words: str
    margin_percent: float
    launch_ratios: list[float]
    run_id: str | None = None
    job_id: str | None = None
    target_id: str | None = None
    target_name: str | None = None
    measured_at: datetime | None = None
    demonstration: bool = False
    sides: Literal["arms", "revisions"] = "arms"
    decides: bool | None = None
    """Whether the job's verdict rests on it; null in reports from before this was recorded."""
    extra_percent: float = 0.0
    """What a busy or drifting target demands beyond the margin; 0 where nothing disturbed it."""
    launches_needed: int | None = None
    """How many launches would decide an inconclusive comparison; null where that is unknown or more than 100."""
    waived: WaivedOut | None = None
    """Set if it fails and does not count."""
    witness: Verdict | None = None
    """What the witnesses of its arms make of it: unless `pass`, that is the verdict, and `reason` says why. Null where
    none is declared."""


class DerivedOut(Response):
    """A derived metric. If `value` is null, `answered` true means "there is no crossover"; otherwise `note` says
    why it is missing. `unit`: a ratio, a fraction, an exponent, or a value of `param`."""

    name: str
    kind: str = ""
    benchmark: str
    metric: str = ""
    arm: str
    base_arm: str | None = None
    part: str | None = None
    param: str | None = None
    rate_bytes_per_s: int | None = None
    params: dict[str, ParamValue]
    value: float | None
    lower: float | None
    upper: float | None
    unit: Literal["ratio", "share", "exponent", "param"] = "ratio"
    answered: bool = False
    words: str = ""
    note: str = ""
    description: str | None = None


class UndecidedOut(Response):
    """The benchmarks of a job under way that more launches may decide."""

    benchmarks: list[str]


class GateOut(Response):
    name: str | None = None
    description: str | None = None
    derived: str | None = None
    requires: list[str] = Field(default_factory=list)
    """The CPU features without which this level is not demanded; `!` before one that must be missing."""
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    statistic: str
    absolute: bool = False
    """Whether the absolute value of `actual` is compared with the level."""
    op: Literal["<", "<=", ">", ">="]
    level: Literal["required", "stretch"]
    target: float
    actual: float | None
    lower: float | None = None
    upper: float | None = None
    """One-sided 99 % confidence bounds; null with too few samples."""
    reached: float | None = None
    """`actual` as a fraction of `target`, in terms of speed: 0.73 is 27 % short; null without a value."""
    standing: Literal["pass", "close", "below"] | None = None
    """Where `actual` lies: it holds, is within 30 % of the level, or below that. The verdict also requires
    enough samples."""
    verdict: Judged
    reason: str
    waived: WaivedOut | None = None
    """Set if it fails and does not count."""
    witness: Verdict | None = None
    """As of a comparison."""


class AuditFindingOut(Response):
    """A defect of the protocol. If it is `decisive`, the comparisons it concerns are inconclusive."""

    name: str
    arms: list[str]
    text: str
    decisive: bool


class AuditOut(Response):
    """The audit findings of a group. `naive`: the comparison of means alone."""

    benchmark: str
    params: dict[str, ParamValue]
    findings: list[AuditFindingOut]
    naive: str | None


class UnaffectedOut(Response):
    """The benchmarks of an A/B job that were not measured again. `words`: which and why. `digests`: what each has in
    common at base and head, by its name. `gates`: how many gates of theirs are not judged."""

    words: str
    digests: dict[str, str]
    gates: int


class SavedBenchmarkOut(Response):
    """A benchmark that was certain after `launches` of the planned ones."""

    benchmark: str
    launches: int
    planned: int


class SavedLaunchesOut(Response):
    """What a job did not measure, because it was certain. `launches` and `planned` are the sums over all its benchmarks.
    `saved_percent`: the share of the time of the planned samples; null where a benchmark measures no time."""

    words: str
    launches: int
    planned: int
    saved_percent: float | None
    benchmarks: list[SavedBenchmarkOut]


class UnavailableOut(Response):
    """An arm that this target cannot run; `params` is empty if it cannot run with any."""

    benchmark: str
    params: dict[str, ParamValue]
    arm: str
    reason: str


class WitnessOut(Response):
    """Whether an arm that declares a witness ran its own code, and no fallback; `params` is empty if it is the same
    with all of them."""

    benchmark: str
    params: dict[str, ParamValue]
    arm: str
    verdict: Verdict
    words: str


class BaseOut(Response):
    """The other revision of an A/B job. With `same_artifact` both sides ran the same bytes, so any difference is
    due to the environment (I15)."""

    revision: str
    artifact_hash: str | None
    same_artifact: bool


class ReasonOut(Response):
    """Why a run or job did not simply pass: one cause, and how many cases it concerns. Of failures it is the worst in
    words. `verdict` is null for a job that ended without one; what is `waived` failed and does not count."""

    kind: Literal["witness", "regression", "gate", "arm", "blocker", "missing", "job"]
    verdict: Literal["fail", "inconclusive", "waived"] | None
    text: str
    count: int
    cause: str = ""
    """The cause alone, without a case; empty where each case has its own, as failures have."""
    cases: list[str] = Field(default_factory=list)
    """Every case that it concerns: of failures each in words, else where it was measured."""
    next_step: str | None = None
    """What to do next."""
    launches: int | None = None
    """With how many launches to repeat the run, where that would decide every case of it."""


class JobReportOut(Response):
    """A job's report. That of an A/B job has a `base`, compares revisions, and has measurements of both sides; it
    judges arms, derived metrics and gates of the head only if its run `judges_head`."""

    suite: str
    revision: str
    artifact_hash: str | None
    target: str
    started_at: datetime | None
    checks: list[CheckOut]
    measurements: list[MeasurementOut]
    comparisons: list[ComparisonOut]
    derived: list[DerivedOut]
    gates: list[GateOut]
    audits: list[AuditOut] = Field(default_factory=list)
    unavailable: list[UnavailableOut] = Field(default_factory=list)
    witnesses: list[WitnessOut] = Field(default_factory=list)
    """Of the head in an A/B job."""
    base: BaseOut | None = None
    blockers: list[str] = Field(default_factory=list)
    """Why the job must not be judged: failed checks, broken launches, void conditions."""
    disturbances: list[str] = Field(default_factory=list)
    """What made verdicts harder: levels are not judged then, and ratios must clear an extra margin."""
    next_steps: dict[str, str] = Field(default_factory=dict)
    """What to do next, by blocker or disturbance."""
    method: str = VOIDING_METHOD
    """The method of the comparisons. Reports from before this was recorded are of the first."""
    gate_method: str = SAMPLES_METHOD
    """The method of the gates' intervals. Reports from before this was recorded are of the first."""
    reasons: list[ReasonOut] = Field(default_factory=list)
    """Why the job did not simply pass, one cause each; added when a report is read."""
    missing: str | None = None
    """Which of the head's cases were asked for and not measured, in words; only in a run that `judges_head`, where
    it keeps the job from passing."""
    unaffected: UnaffectedOut | None = None
    """What was not measured again, because base and head have it in common; null if everything was measured."""
    saved: SavedLaunchesOut | None = None
    """What was not launched again, because it was certain; null if all planned launches were measured."""
    added: list[str] = Field(default_factory=list)
    """What only the head of an A/B job declares, in words. It is measured, and compared with nothing."""
    removed: list[str] = Field(default_factory=list)
    """What only the base of an A/B job declares, in words. It is not measured."""
    suppressed: list[str] = Field(default_factory=list)
    """Configuration errors of the target that the request suppressed."""
    conditions: dict[str, dict[Literal["median", "max"], float]] = Field(
        default_factory=dict
    )
    """Conditions of the target during the measurement, by track."""
    name_texts: dict[str, str] = Field(default_factory=dict)
    """The text of each imported name that has a digest in place of some of it; added when a report is read."""
