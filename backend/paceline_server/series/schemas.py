"""Wire shapes of history: series, points, changes, segments and annotations (C2).

Values are in the metric's base unit. The server computes all sentences and fractions (I17).
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from paceline_contract.events import Direction, ParamValue
from paceline_contract.units import Unit
from pydantic import Field, model_validator

from paceline_server.fleet.schemas import Factor
from paceline_server.kernel.wire import Instant, Request, Response

ChangeState = Literal["suspect", "standing", "vanished", "accepted", "superseded"]
ChangeDirection = Literal["slower", "faster", "worse", "better"]
CauseOfChange = Literal["code", "environment", "target"]


class SeriesOut(Response):
    """A series in a list. `value`, `at` and `commit` are those of its newest point, excluded or not; `changes` is the
    number of changes by state. `title` is the original text if its names are shortened from it. `imported`: no agent
    measured it, so that nothing here can measure it again."""

    id: str
    title: str | None
    suite: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    direction: Direction
    target_id: str
    target_name: str
    imported: bool
    branch: str
    points: int
    value: float
    at: datetime
    commit: str
    changes: dict[str, int]


class ChangeFilterOut(Response):
    """A condition that a change had to meet."""

    name: str
    value: float | None
    """Null: infinite, for a step without scatter on either side."""
    limit: float
    passed: bool


class ChangeOut(Response):
    """A change of a series' level. `job_id`, `at` and `commit` are those of the first point at the new level.
    The change lies between the jobs `location_first` and `location_last`, both included. `effect` is level
    after ÷ level before − 1, with its 99 % interval. `evaluations`: consecutive evaluations that found it."""

    id: str
    series_id: str
    state: ChangeState
    job_id: str
    run_id: str
    at: datetime
    before_commit: str
    commit: str
    location_first: str
    location_last: str
    direction: ChangeDirection
    level_before: float
    level_after: float
    effect: float
    lower: float
    upper: float
    p_value: float
    n_before: int
    n_after: int
    evaluations: int
    cause: CauseOfChange | None
    cause_text: str | None
    """The reason for that cause, such as "11 of 24 series of lab-1 moved within 2 runs"; null if none is recorded."""
    words: str
    """`14.2 % slower: 1.2 ms → 1.37 ms`."""
    interval_words: str
    """`13.4 % to 15.0 % slower`, or `8.8 % faster to 4.9 % slower` if the interval includes zero."""
    method: str
    filters: list[ChangeFilterOut]
    alert_id: str | None
    found_at: datetime
    updated_at: datetime


class SegmentOut(Response):
    """Points at one level, from `start_job_id` to `stop_job_id`, both included. `lower` and `upper` are three standard
    deviations of the scatter from the level. `environment` is an index into the series' environments."""

    start_job_id: str
    stop_job_id: str
    start_at: datetime
    stop_at: datetime
    points: int
    level: float
    lower: float
    upper: float
    environment: int
    starts_because: str
    """`first point`, `kernel 6.1.0-12 → 6.1.0-13`, or the change in words."""


class EnvironmentOut(Response):
    """A stretch of a series with one state of the target and one meaning of its number. `change` says what differs from
    the environment before; `unit` is that of its values."""

    index: int
    fingerprint: str
    factors: dict[str, Factor]
    first_at: datetime
    change: str | None
    unit: Unit


class AnnotationOut(Response):
    id: str
    series_id: str | None
    target_id: str | None
    at: datetime
    commit: str | None
    text: str
    created_by: str
    created_at: datetime


class AnnotationIn(Request):
    """A note at an instant, on a series or on a target (then on all its series)."""

    series_id: str | None = Field(default=None, max_length=64)
    target_id: str | None = Field(default=None, max_length=64)
    at: Instant
    commit: str | None = Field(default=None, pattern=r"^[0-9a-f]{7,64}$")
    text: str = Field(min_length=1, max_length=500)

    @model_validator(mode="after")
    def _check_subject(self) -> AnnotationIn:
        if (self.series_id is None) is (self.target_id is None):
            raise ValueError("expected either series_id or target_id")
        return self


class NoiseBandOut(Response):
    """The minimum detectable effect `mde` (a fraction) of a series on its target. Between `lower` and `upper`,
    differences from the current level are noise. `basis`: measured by an A/A job (`a_a`), or estimated from the series'
    own scatter until there is one."""

    mde: float
    lower: float | None
    upper: float | None
    basis: Literal["a_a", "history"]
    measured_at: datetime
    job_id: str
    words: str


class RuleInForceOut(Response):
    """The rule that applies to this series. `limit` is the value beyond which it fires; null without a
    level."""

    rule_id: str | None
    version: int | None
    name: str
    text: str
    min_effect: float
    direction: Literal["worse", "both"]
    mode: Literal["active", "shadow", "off"]
    muted: str | None
    limit: float | None


class SeriesPageOut(Response):
    """A series without its points. `state` is its current state in a sentence; `level` is that of the newest segment,
    null before the first evaluation (`evaluated_at` null). `changes` are newest first."""

    series: SeriesOut
    state: str
    level: float | None
    baseline_job_id: str | None
    evaluated_at: datetime | None
    environments: list[EnvironmentOut]
    segments: list[SegmentOut]
    changes: list[ChangeOut]
    noise: NoiseBandOut | None
    rule: RuleInForceOut | None
    annotations: list[AnnotationOut]


class TrackValueOut(Response):
    median: float
    max: float


class PointOut(Response):
    """The median of a job's `n` warm samples from `launches` launches, with its 99 % interval. `excluded`: why the
    point is shown but does not count. `environment` is an index into `environments`; `conditions` summarises the
    target's conditions during the job."""

    job_id: str
    run_id: str
    at: datetime
    commit: str
    artifact_hash: str | None
    value: float
    lower: float
    upper: float
    n: int
    launches: int
    excluded: str | None
    environment: int
    conditions: dict[str, TrackValueOut]


class PointsOut(Response):
    """The points of a window, oldest first. `total` is their number. If it exceeds `max_points`, the lowest
    and highest point of each bucket are shown, besides both ends and the points at which the level changed,
    and `note` says so. `first_at` and `last_at` span the whole series."""

    series_id: str
    unit: Unit
    total: int
    thinned: bool
    note: str
    first_at: datetime | None
    last_at: datetime | None
    environments: list[EnvironmentOut]
    tracks: list[str]
    points: list[PointOut]


class RetireIn(Request):
    """The reason for retiring a benchmark or one of its arms."""

    reason: str = Field(min_length=1, max_length=500)


class RetiredOut(Response):
    """A retired benchmark or arm; `arm` null: the whole benchmark."""

    suite: str
    benchmark: str
    arm: str | None
    reason: str
    retired_by: str
    retired_at: datetime


class NoiseFloorOut(Response):
    """The minimum detectable effect `mde` (a fraction) of a measurement on a target, from its newest A/A job.
    An effect of that size is detected in 80 of 100 jobs. `lower` and `upper` bound the A/A ratio, which should
    include 1. Rules with a threshold below `mde` are refused; `proposed_threshold` is accepted."""

    id: str
    target_id: str
    target_name: str
    suite: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    mde: float = Field(ge=0)
    proposed_threshold: float
    lower: float
    upper: float
    blocks: int
    launches: int
    run_id: str
    job_id: str
    measured_at: datetime
    words: str


class TargetNoiseOut(Response):
    """The noise in a target's ordinary jobs. `scatter`: half of a point's 99 % interval as a fraction of its value; the
    average over a job's points, then the median over jobs. `waiting_percent`: the time in which the workload waited for
    a CPU, the median over jobs; null if the target does not report it. `excluded_jobs`: those of its `jobs`
    that count in no series, because the job was void or disturbed or a check failed."""

    target_id: str
    target_name: str
    simulated: bool
    jobs: int
    excluded_jobs: int
    excluded_share: float
    scatter: float
    waiting_percent: float | None


class TargetsNoiseOut(Response):
    """Targets that measured in the last `days`, the noisiest first; simulated ones last."""

    days: int
    targets: list[TargetNoiseOut]
