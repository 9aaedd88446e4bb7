"""Wire shapes of an analysis: what a job's samples say (C2, and what `make bench JSON=…` writes).

Place: built by `analyse`, stored with the job, served by `reports`. Every ratio and sentence in here is
computed on the server from samples (I17). Holds no logic.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_contract.events import Direction, ParamValue
from paceline_contract.units import Unit
from pydantic import Field

from paceline_server.jobs.schemas import Judged
from paceline_server.kernel.wire import Response


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
    """99 % interval of the median by order statistics; null where the samples are too few for one."""
    median_upper: float | None = None
    side: Literal["base", "head"] | None = None
    """Of an A/B job: which revision."""
    items: int | None = None
    """Items one iteration is meant to process, as the workload says; `bytes` likewise."""
    bytes: int | None = None


class ComparisonOut(Response):
    """One arm against the reference at one point of the params. `ratio` = arm time ÷ reference time: below
    1 is faster, for every metric. `lower`/`upper`: order-statistic interval of the paired ratio.

    `sides` "revisions": the arm at the job's commit (head) against the same arm at its base; `reference` is
    then `base`."""

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


class DerivedOut(Response):
    """`value` null with `answered` true is an answer ("there is no crossover"); else `note` says why there is
    none. `unit` says how to read it: a ratio, a share of 1, an exponent, or a value of `param`."""

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


class GateOut(Response):
    name: str | None = None
    description: str | None = None
    derived: str | None = None
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    statistic: str
    absolute: bool = False
    """The size of `actual` is held against the level, whatever the sign."""
    op: Literal["<", "<=", ">", ">="]
    level: Literal["required", "stretch"]
    target: float
    actual: float | None
    lower: float | None = None
    upper: float | None = None
    """Each holds with 99 %; null: the samples are too few for it."""
    reached: float | None = None
    """`actual` as a share of `target`, speed against speed: 0.73 is 27 % short; null: there is none."""
    standing: Literal["pass", "close", "below"] | None = None
    """Where `actual` itself lies: it holds, is within 30 % of the level, or below that. No verdict: that asks
    for enough samples, too."""
    verdict: Judged
    reason: str


class AuditFindingOut(Response):
    """A defect of the protocol by name. `decisive`: the comparisons it concerns are inconclusive."""

    name: str
    arms: list[str]
    text: str
    decisive: bool


class AuditOut(Response):
    """What the audit found in one group. `naive`: what the means alone would have said of it."""

    benchmark: str
    params: dict[str, ParamValue]
    findings: list[AuditFindingOut]
    naive: str | None


class UnavailableOut(Response):
    """An arm this target cannot run, and why; `params` is empty when that is so at every point."""

    benchmark: str
    params: dict[str, ParamValue]
    arm: str
    reason: str


class BaseOut(Response):
    """The other revision of an A/B job. `same_artifact`: both sides ran the same bytes, so what differs is
    the environment, never the code (I15)."""

    revision: str
    artifact_hash: str | None
    same_artifact: bool


class JobReportOut(Response):
    """The same shape `make bench JSON=…` writes. With a `base` it is of an A/B job: comparisons are of
    revisions, measurements of both sides; derived metrics and gates are not judged there."""

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
    base: BaseOut | None = None
    blockers: list[str] = Field(default_factory=list)
    """Why nothing of this job may be judged: failed checks, broken launches, void conditions."""
    suppressed: list[str] = Field(default_factory=list)
    """Configuration errors the target had while it measured, which the request suppressed by name."""
    conditions: dict[str, dict[Literal["median", "max"], float]] = Field(
        default_factory=dict
    )
    """What the target was like while it measured, by reading."""
