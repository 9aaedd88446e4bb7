"""Wire shapes of what the dashboard and CI read; ratios and sentences are the server's
(I17).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from paceline_contract.events import ParamValue
from paceline_contract.units import Unit

from paceline_server.detect.schemas import ComparisonOut
from paceline_server.fleet.schemas import AgentOut
from paceline_server.jobs.schemas import RunOut
from paceline_server.kernel.wire import Response


class ArmsOut(Response):
    """The newest comparisons of one benchmark per target, with the rule in words and a one-sentence
    summary."""

    suite: str
    benchmark: str
    reference: str
    device_reference: str
    metric: str
    rule: str
    summary: str
    comparisons: list[ComparisonOut]


class EcdfPointOut(Response):
    value: float
    share: float


class ArmDistributionOut(Response):
    arm: str
    n: int
    median: float
    points: list[EcdfPointOut]


class DistributionOut(Response):
    """Empirical distribution per arm, at most 150 points each, values in the metric's base unit."""

    job_id: str
    benchmark: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    summary: str
    arms: list[ArmDistributionOut]


class FalseAlarmsOut(Response):
    """Our own false alarms (STATISTICS §4.8): of the alerts people heard of in the last `days`, those that
    vanished or were called invalid. `share` is null with fewer than five."""

    days: int
    opened: int
    vanished: int
    invalid: int
    share: float | None
    words: str


class OverviewOut(Response):
    """Alerts in shadow are not counted."""

    alerts_by_state: dict[str, int]
    false_alarms: FalseAlarmsOut
    agents: list[AgentOut]
    runs: list[RunOut]


class TargetEstimateOut(Response):
    """How long one job would take. `seconds` null: nothing is known yet; `based_on`: past jobs it rests on;
    `same_choice`: they measured exactly this, else the figure is scaled by the amount of work."""

    target_id: str
    target_name: str
    cases: int
    seconds: float | None
    least_s: float
    based_on: int
    same_choice: bool
    words: str


class SlowdownOut(Response):
    """From how many percent on a knob makes its arm slower than the reference on a target, by the newest
    measurements. `percent`: at the first point; `everywhere_percent`: at all of them; null: unknown."""

    knob: str
    target_id: str
    target_name: str
    percent: int | None
    everywhere_percent: int | None
    words: str


class RunEstimateOut(Response):
    """How long a request would take if it were made now: building and measuring, without waiting for a
    target. `words` says on what that is based."""

    words: str
    targets: list[TargetEstimateOut]
    slowdowns: list[SlowdownOut]


class LiveSeriesOut(Response):
    """Thinned recent values of one case while a job measures: `values` per iteration, base unit; in an A/B
    job of one `side`."""

    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    n: int
    median: float
    values: list[float]
    side: Literal["base", "head"] | None = None


class AuditEntryOut(Response):
    """`action` is a verb, `detail` depends on it, never a secret; `words` says it in a sentence."""

    id: int
    at: datetime
    actor: str
    action: str
    object_kind: str
    object_id: str
    detail: dict[str, Any]
    words: str


class IncidentOut(Response):
    """What who operates Paceline should know; `code` is a literal, `detail` depends on it."""

    id: str
    at: datetime
    code: str
    detail: dict[str, Any]


class TrackPointOut(Response):
    at: datetime
    value: float


class TrackOut(Response):
    """One reading of a target over time: battery_c (°C), battery_percent, thermal_status (0 none … 6),
    free_bytes, charging (0 or 1). Kept when it changed and every ten minutes."""

    key: Literal[
        "battery_c", "battery_percent", "thermal_status", "free_bytes", "charging"
    ]
    unit: str
    points: list[TrackPointOut]


class JobConditionsOut(Response):
    """What a target was like during one of its jobs, as far as it was analysed."""

    job_id: str
    run_id: str
    suite: str
    at: datetime
    verdict: Literal["pass", "fail", "inconclusive"] | None
    conditions: dict[str, dict[Literal["median", "max"], float]]
    suppressed: list[str]


class GapOut(Response):
    """A stretch in which nothing was read, from the last reading before it to the first after it."""

    after: datetime
    until: datetime


class TargetConditionsOut(Response):
    """`note`: what the tracks can and cannot say, in a sentence. `gaps`: of all tracks, in order; a value
    does not hold through one."""

    tracks: list[TrackOut]
    gaps: list[GapOut]
    jobs: list[JobConditionsOut]
    note: str
