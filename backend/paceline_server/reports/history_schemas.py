"""Wire shapes of the pages about history: matrix, comparison of two revisions,
completeness (C2).

Every ratio and sentence is computed on the server (I17).
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_contract.events import Direction, ParamValue
from paceline_contract.units import Unit

from paceline_server.fleet.schemas import Factor
from paceline_server.jobs.schemas import Cause, Judged, Outcome, RunState, Trigger
from paceline_server.kernel.wire import Response
from paceline_server.series.schemas import ChangeOut

Significance = Literal["clear", "below_noise", "uncertain"]
Magnitude = Literal["none", "small", "medium", "large"]


class MatrixTargetOut(Response):
    id: str
    name: str
    kind: Literal["host", "device"]


class MatrixCellOut(Response):
    """One benchmark on one target. Its value is that of one series, named by `series_id` and `of`
    ("native time, batch=1000"); verdict, changes and noise floor are the worst of all its `series`."""

    target_id: str
    series: int
    series_id: str
    of: str
    unit: Unit
    value: float
    excluded: str | None
    """Why the value is no evidence; null: it counts."""
    at: datetime
    commit: str
    run_id: str
    job_id: str
    verdict: Judged | None
    """Of the newest comparisons of its arms; null where nothing compares them."""
    verdict_words: str
    change: ChangeOut | None
    """The worst change that stands, else the newest suspect."""
    changes: dict[str, int]
    mde: float | None
    """The largest noise floor of its series, a share."""
    stale: bool
    stale_words: str | None


class MatrixUnmeasuredOut(Response):
    """The newest job that should have measured a benchmark on a target ended without a verdict: what a cell
    shows is older than that, or there is none. `words`: why, in a line."""

    target_id: str
    outcome: Outcome
    cause: Cause | None
    words: str
    at: datetime
    run_id: str
    job_id: str


class MatrixRowOut(Response):
    """A benchmark. `declared` false: older runs had it and the newest manifest does not. `retired`: why a
    person said that it is gone on purpose."""

    benchmark: str
    title: str
    declared: bool
    retired: str | None
    cells: list[MatrixCellOut]
    unmeasured: list[MatrixUnmeasuredOut]


class MatrixOut(Response):
    suite: str
    branch: str
    branches: list[str]
    targets: list[MatrixTargetOut]
    rows: list[MatrixRowOut]


class CompareSideOut(Response):
    """What one side is: a run, or the newest runs of a revision. `name` is how it was asked for."""

    name: str
    run_id: str | None
    commit: str
    at: datetime
    runs: int
    demonstration: bool


class EnvironmentDifferenceOut(Response):
    """One factor of a target that differs between the sides; `factor` null: it is not known what differs."""

    target_id: str
    target_name: str
    factor: str | None
    base: Factor
    head: Factor
    words: str


class MeasuredSideOut(Response):
    value: float
    lower: float | None
    upper: float | None
    n: int
    launches: int
    job_id: str
    excluded: str | None
    """Why this measurement is not judged (a check failed, conditions void)."""


class CompareRowOut(Response):
    """One measurement of both sides; null: that side did not measure it. `ratio` is head ÷ base of the cost
    (a time's ratio; inverted where higher is better): above 1 is worse. `significance`: clear (the interval
    excludes 1 and exceeds the noise floor) · below_noise · uncertain, as is every row that is only shown of
    an excluded side. `judged`: an A/B job of this very pair decided (pass or fail), and `verdict` and the
    interval are its; else the row is shown, not judged (I11). `verdict_job_id` of a row that is not judged:
    that A/B job measured the pair and could not decide."""

    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    direction: Direction
    target_id: str
    target_name: str
    series_id: str | None
    base: MeasuredSideOut | None
    head: MeasuredSideOut | None
    ratio: float | None
    lower: float | None
    upper: float | None
    mde: float | None
    words: str
    significance: Significance
    magnitude: Magnitude
    judged: bool
    verdict: Judged | None
    verdict_job_id: str | None


class TargetChoiceOut(Response):
    id: str
    name: str


class ChoicesOut(Response):
    """What both sides together measured, whatever was asked for: what a filter can be set to."""

    targets: list[TargetChoiceOut]
    benchmarks: list[str]
    metrics: list[str]


class CompareOut(Response):
    """Two revisions or two runs: what differs around them first, then every measurement, the clearest and
    largest first. `total`: rows on all pages; `hidden`: those that `hide_uncertain` left out; `next`: the
    opaque cursor of the following page, null on the last. Note and summary are of all rows."""

    suite: str
    base: CompareSideOut
    head: CompareSideOut
    note: str
    same_environment: bool
    environment: list[EnvironmentDifferenceOut]
    summary: str
    choices: ChoicesOut
    total: int
    hidden: int
    rows: list[CompareRowOut]
    next: str | None


MissingReason = Literal[
    "pending",
    "crash",
    "timeout",
    "error",
    "build",
    "skipped",
    "lost",
    "cancelled",
    "expired",
    "failed",
]


class MissingCaseOut(Response):
    """A declared case without samples. `reason` is a literal, `text` says it in full."""

    target_id: str
    target_name: str
    job_id: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    reason: MissingReason
    text: str


class TargetRefOut(Response):
    id: str
    name: str


class MissingGroupOut(Response):
    """All cases of a run that are missing for one reason. `words`: "24 cases: build failed"; `text` says the
    reason in full and is that of each of its cases."""

    reason: MissingReason
    words: str
    count: int
    text: str
    targets: list[TargetRefOut]


class GoneOut(Response):
    """A benchmark (or an arm of one) that earlier runs measured and the newest manifest does not declare, nor
    any alias: retire it or restore it."""

    benchmark: str
    arm: str | None
    series: int
    last_at: datetime
    last_run_id: str
    words: str


class CompletenessOut(Response):
    """What a run owed and what arrived. `words`: "3 of 41 missing (2 crash, 1 skipped)". `pending` cases may
    still arrive; `unavailable` ones cannot run on their target, which is said by the workload."""

    run_id: str
    suite: str
    state: RunState
    trigger: Trigger
    words: str
    complete: bool
    declared: int
    arrived: int
    pending: int
    unavailable: int
    missing: list[MissingCaseOut]
    missing_total: int
    missing_groups: list[MissingGroupOut]
    gone: list[GoneOut]
