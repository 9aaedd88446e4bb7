"""Wire shapes of history: series, points, changes, segments and annotations (C2).

Values are in the metric's base unit; sentences and shares are computed on the server
(I17).
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
    """One series as lists show it. `value`, `at`, `commit`: of its newest point, counted or not. `changes`:
    how many changes of each state it has."""

    id: str
    suite: str
    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    direction: Direction
    target_id: str
    target_name: str
    branch: str
    points: int
    value: float
    at: datetime
    commit: str
    changes: dict[str, int]


class ChangeFilterOut(Response):
    """One question a change had to answer, with its number and limit."""

    name: str
    value: float | None
    """Null: beyond every number (a step without any scatter either side)."""
    limit: float
    passed: bool


class ChangeOut(Response):
    """A change of a series' level. `job_id`, `at`, `commit`: the first point of the new level; it may lie
    anywhere from `location_first` to `location_last` (job ids, both ends included). `effect` is level after ÷
    level before − 1 with its 99 % interval. `evaluations`: how many in a row found it."""

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
    """Why that cause: "11 of 24 series of lab-1 moved within 2 runs"; null: nobody said."""
    words: str
    """`14.2 % slower: 1.2 ms → 1.37 ms`."""
    interval_words: str
    """`lower` to `upper`: `13.4 % to 15.0 % slower`, or both ways where it crosses zero."""
    method: str
    filters: list[ChangeFilterOut]
    alert_id: str | None
    found_at: datetime
    updated_at: datetime


class SegmentOut(Response):
    """Points at one level, from `start_job_id` to `stop_job_id` (both included). `lower`, `upper`: where
    single points of it ordinarily lie (three sigma of their scatter). `environment` is an index into the
    series' environments."""

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
    """What the target was: a fingerprint with its factors. `change` says what differs from the one before."""

    index: int
    fingerprint: str
    factors: dict[str, Factor]
    first_at: datetime
    change: str | None


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
    """A note on a series, or on a target (then all its series show it), at an instant."""

    series_id: str | None = Field(default=None, max_length=64)
    target_id: str | None = Field(default=None, max_length=64)
    at: Instant
    commit: str | None = Field(default=None, pattern=r"^[0-9a-f]{7,64}$")
    text: str = Field(min_length=1, max_length=500)

    @model_validator(mode="after")
    def _one_place(self) -> AnnotationIn:
        if (self.series_id is None) is (self.target_id is None):
            raise ValueError("expected either series_id or target_id")
        return self


class NoiseBandOut(Response):
    """What this target resolves for this series: effects below `mde` (a share) are not seen. `lower`,
    `upper`: the band around the present level in which differences say nothing. `basis`: measured by an A/A
    job, or estimated from the scatter of the series' own points before there was one."""

    mde: float
    lower: float | None
    upper: float | None
    basis: Literal["a_a", "history"]
    measured_at: datetime
    job_id: str
    words: str


class RuleInForceOut(Response):
    """The rule that decides about this series. `limit`: the value beyond which it fires, from the present
    level; null while there is none."""

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
    """All of a series but its points. `state` says in one sentence where it stands; `level` is that of the
    newest segment, null before detection has looked (`evaluated_at` null). `changes`: newest first."""

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
    """What one job says: the median of its warm samples with a 99 % interval of it, `n` samples in
    `launches`. `excluded`: why it is shown and never judged. `environment`: index into `environments`;
    `conditions`: the target's tracks meanwhile."""

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
    """The points of one window, oldest first. `total` lie in the window; when there are more than
    `max_points`, neighbours share buckets that keep their lowest and highest point, and `note` says so. Both
    ends and points at which a level changed are always kept. `first_at`, `last_at`: of the whole series."""

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
    """Why a benchmark (or one of its arms) is gone on purpose."""

    reason: str = Field(min_length=1, max_length=500)


class RetiredOut(Response):
    """What a person called gone on purpose; `arm` null: the whole benchmark."""

    suite: str
    benchmark: str
    arm: str | None
    reason: str
    retired_by: str
    retired_at: datetime


class NoiseFloorOut(Response):
    """What a target resolves of one measurement, by its newest A/A job: a true effect as large as `mde` (a
    share) is called slower in 80 of 100 jobs, a smaller one less often. `lower`, `upper`: the interval of the
    A/A ratio itself, which should hold 1. A rule that asks for less than `mde` is refused;
    `proposed_threshold` is what it had better ask for."""

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
