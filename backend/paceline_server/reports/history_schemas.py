"""Wire shapes of matrix, comparison of two sides, and completeness (C2).

Every ratio and sentence is computed on the server (I17).
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_contract.attempts import Cause
from paceline_contract.events import Direction, ParamValue
from paceline_contract.units import Unit

from paceline_server.fleet.schemas import Factor
from paceline_server.jobs.schemas import Judged, Outcome, RunState, Trigger
from paceline_server.kernel.wire import Response
from paceline_server.series.schemas import ChangeOut

Significance = Literal["clear", "below_noise", "uncertain"]
Magnitude = Literal["none", "small", "medium", "large"]


class MatrixTargetOut(Response):
    """A column of the matrix. `imported`: no agent measures there."""

    id: str
    name: str
    kind: Literal["host", "device"]
    imported: bool


class MatrixCellOut(Response):
    """A benchmark on a target. Its value is that of the series named by `series_id` and `of` ("native time,
    batch=1000"); verdict, change and noise floor are the worst of all its `series`."""

    target_id: str
    series: int
    series_id: str
    of: str
    unit: Unit
    value: float
    excluded: str | None
    """Why the value does not count; null if it does."""
    at: datetime
    commit: str
    run_id: str
    job_id: str
    verdict: Judged | None
    """The worst verdict of the newest comparisons of its arms; null if none are compared."""
    verdict_words: str
    change: ChangeOut | None
    """The worst standing change, or else the largest suspected one."""
    changes: dict[str, int]
    mde: float | None
    """The largest noise floor of its series, as a share."""
    stale: bool
    stale_words: str | None


class MatrixUnmeasuredOut(Response):
    """The newest job that should have measured a benchmark on a target ended without a verdict, so that its
    cell is older or absent. `words` says why."""

    target_id: str
    outcome: Outcome
    cause: Cause | None
    words: str
    at: datetime
    run_id: str
    job_id: str


class MatrixRowOut(Response):
    """A benchmark. `declared` is false if only older manifests have it. `retired` is the reason a person gave
    when retiring it."""

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


ArmStanding = Literal["lost", "undecided", "not_measured", "not_available", "won"]
"""How an arm that should win stands on a target, worst first. It lost, is undecided or cannot run there for at least
one combination of params; it was never measured; or it won (it is no slower than its reference, within the margin)."""


class StandingsTargetOut(Response):
    id: str
    name: str
    kind: Literal["host", "device"]
    simulated: bool


class UnwatchedBenchmarkOut(Response):
    benchmark: str
    title: str


class SuiteStandingsOut(Response):
    """The number of arms with each standing, by target. No rule of the suite watches the benchmarks in `unwatched`, so
    their arms are not counted."""

    suite: str
    title: str
    counts: dict[str, dict[ArmStanding, int]]
    unwatched: list[UnwatchedBenchmarkOut]


class ArmStandingOut(Response):
    """A watched arm on a target, by its newest comparison at each point of the params. `points_so` of its `points`
    decide the standing; ratio, words, time, run and job are those of the worst."""

    suite: str
    benchmark: str
    title: str
    arm: str
    reference: str
    metric: str
    target_id: str
    target_name: str
    standing: ArmStanding
    points: int
    points_so: int
    ratio: float | None
    words: str
    at: datetime | None
    run_id: str | None
    job_id: str | None


class ArmStandingsOut(Response):
    """Every arm that a rule of its suite watches, on every target that can run it: `rows` are the worst of
    `total`. Suites with the most lost arms come first, real targets before simulated ones."""

    targets: list[StandingsTargetOut]
    suites: list[SuiteStandingsOut]
    rows: list[ArmStandingOut]
    total: int


class CompareSideOut(Response):
    """One side of a comparison: a run, or the runs of a revision. `name` is the name in the request."""

    name: str
    run_id: str | None
    commit: str
    at: datetime
    runs: int
    demonstration: bool


class EnvironmentDifferenceOut(Response):
    """A factor of a target that differs between the sides; `factor` is null if it is unknown what differs."""

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
    """Why this measurement cannot be judged, for example a failed check; null if it can."""


class CompareRowOut(Response):
    """A measurement on both sides; a side is null if it did not measure it.

    `ratio` is the cost of head ÷ base, above 1 is worse. `significance` is clear if the interval excludes 1 and
    the ratio exceeds the noise floor; a row without a verdict is uncertain if a side is excluded. `judged` is
    true if an A/B job of this pair decided; then `verdict` and the interval are that job's (I11). Without a
    verdict, `verdict_job_id` names an A/B job of the pair that could not decide."""

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
    """The values that a filter can take: all that both sides measured, ignoring the current filter."""

    targets: list[TargetChoiceOut]
    benchmarks: list[str]
    metrics: list[str]


class CompareOut(Response):
    """A comparison of two revisions or runs: differences of their environments, and every measurement, the
    clearest and largest first.

    `total` counts the rows of all pages, `hidden` those that `hide_uncertain` left out. `next` is the cursor
    of the next page, null on the last. Note and summary cover all rows."""

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
    name_texts: dict[str, str]
    """The original text of each imported name among the rows and choices that contains a digest."""
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
    """A declared case without samples; `text` explains `reason`."""

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
    """The cases of a run that are missing for one reason; `words` is like "24 cases: build failed", `text`
    explains the reason."""

    reason: MissingReason
    words: str
    count: int
    text: str
    targets: list[TargetRefOut]


class GoneOut(Response):
    """A benchmark or arm that earlier runs measured and the run's manifest does not declare, not even as an
    alias."""

    benchmark: str
    arm: str | None
    series: int
    last_at: datetime
    last_run_id: str
    words: str


class CompletenessOut(Response):
    """How many cases of a run arrived; `words` is like "3 of 41 missing (2 crash, 1 skipped)". `pending` cases may
    still arrive; the workload reported `unavailable` ones as impossible on their target."""

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
    unaffected: int
    """Cases of benchmarks that are the same at base and head, and so were not measured again."""
    missing: list[MissingCaseOut]
    missing_total: int
    missing_groups: list[MissingGroupOut]
    gone: list[GoneOut]
