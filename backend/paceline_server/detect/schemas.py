"""Wire shapes of an analysis: what a job's samples say (C2, and what `make bench JSON=…` writes).

Place: built by `analyse`, stored with the job, served by `reports`. Every ratio and sentence in here is
computed on the server from samples (I17). Holds no logic.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_server.catalog.schemas import Direction, ParamValue, Unit
from paceline_server.jobs.schemas import Verdict
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


class ComparisonOut(Response):
    """One arm against the reference at one point of the params. `ratio` = arm time ÷ reference time: below
    1 is faster, for every metric. `lower`/`upper`: order-statistic interval of the paired ratio."""

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
    verdict: Verdict
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


class DerivedOut(Response):
    name: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    value: float | None
    lower: float | None
    upper: float | None


class GateOut(Response):
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    statistic: str
    op: Literal["<", "<=", ">", ">="]
    level: Literal["required", "stretch"]
    target: float
    actual: float | None
    verdict: Verdict
    reason: str


class JobReportOut(Response):
    """The same shape `make bench JSON=…` writes."""

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
