"""Wire shapes that the dashboard and CI read; the server computes ratios and sentences (I17)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from paceline_contract.events import ParamValue
from paceline_contract.items import SideName
from paceline_contract.units import Unit

from paceline_server.alerts.schemas import AlertOut
from paceline_server.detect.schemas import ComparisonOut
from paceline_server.fleet.schemas import AgentOut
from paceline_server.jobs.schemas import RunOut
from paceline_server.kernel.wire import Response
from paceline_server.series.schemas import ChangeDirection, ChangeState
from paceline_server.store.audit import ObjectKind


class ArmsOut(Response):
    """The newest comparisons of a benchmark per target, with the rule and a summary in words."""

    suite: str
    benchmark: str
    reference: str
    device_reference: str
    metric: str
    rule: str
    summary: str
    comparisons: list[ComparisonOut]
    name_texts: dict[str, str]
    """The original text of each imported name that contains a digest."""


class EcdfPointOut(Response):
    value: float
    share: float


class ArmDistributionOut(Response):
    arm: str
    n: int
    median: float
    points: list[EcdfPointOut]


class DistributionOut(Response):
    """The empirical distribution of each arm: at most 150 points, values in the metric's base unit."""

    job_id: str
    benchmark: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    summary: str
    arms: list[ArmDistributionOut]


class FalseAlarmsOut(Response):
    """Paceline's false alarms (stats/README.md §4.8): alerts opened in the last `days` that vanished or were called
    invalid. `share` is null if fewer than five opened."""

    days: int
    since: datetime
    opened: int
    vanished: int
    invalid: int
    share: float | None
    words: str


class OverviewOut(Response):
    """Alerts by state without those in shadow, false alarms, agents and the newest runs."""

    alerts_by_state: dict[str, int]
    false_alarms: FalseAlarmsOut
    agents: list[AgentOut]
    runs: list[RunOut]


class ChangeSinceOut(Response):
    """A change of a series' level that was found in the period."""

    id: str
    series_id: str
    suite: str
    benchmark: str
    arm: str
    metric: str
    params: dict[str, ParamValue]
    title: str | None
    target_id: str
    target_name: str
    state: ChangeState
    direction: ChangeDirection
    words: str
    commit: str
    alert_id: str | None
    found_at: datetime


class FlippedVerdictOut(Response):
    """An arm at one point whose newest decided verdict, of the runs requested in the period, is another than the last
    one of the 90 days before, on the same target and branch. `words` is about the newest."""

    suite: str
    benchmark: str
    arm: str
    reference: str
    metric: str
    params: dict[str, ParamValue]
    target_id: str
    target_name: str
    branch: str | None
    before: Literal["pass", "fail"]
    verdict: Literal["pass", "fail"]
    words: str
    run_id: str
    job_id: str
    measured_at: datetime


SinceList = Literal["changes", "flips", "alerts", "runs"]


class SinceOut(Response):
    """What is new since an instant, each list the newest first; those in `more` go on. `runs` failed, were lost or
    expired, by the time they were requested."""

    since: datetime
    words: str
    changes: list[ChangeSinceOut]
    flips: list[FlippedVerdictOut]
    alerts: list[AlertOut]
    runs: list[RunOut]
    more: list[SinceList]


class WaitingOut(Response):
    """What waits now: open alerts that nobody has taken, runs that no agent has taken, quarantined targets. Alerts in
    shadow and simulated targets do not count."""

    alerts_open: int
    runs_queued: int
    targets_quarantined: int


class TargetEstimateOut(Response):
    """How long a job would take. `seconds` is null without past jobs. `based_on` counts the past jobs used; unless
    they had the same selection (`same_choice`), the figure is scaled by the amount of work."""

    target_id: str
    target_name: str
    cases: int
    seconds: float | None
    least_s: float
    based_on: int
    same_choice: bool
    words: str


class SlowdownOut(Response):
    """The percentage from which a knob makes its arm slower than the reference on a target, by the newest
    measurements: `percent` at one point at least, `everywhere_percent` at all points; null if unknown."""

    knob: str
    target_id: str
    target_name: str
    percent: int | None
    everywhere_percent: int | None
    words: str


class RunEstimateOut(Response):
    """How long a request would take now: building and measuring, without waiting for a target. `words` says
    what the estimate is based on."""

    words: str
    targets: list[TargetEstimateOut]
    slowdowns: list[SlowdownOut]


class LiveSeriesOut(Response):
    """Recent values of a case while a job measures, thinned: `values` per iteration in the base unit. Only A/B
    jobs have a `side`."""

    benchmark: str
    arm: str
    params: dict[str, ParamValue]
    metric: str
    unit: Unit
    n: int
    median: float
    values: list[float]
    side: SideName | None = None


ActorKind = Literal["account", "token", "agent", "system", "anonymous"]


@dataclass(frozen=True)
class AuditFilters:
    """Selects entries of the audit log; None: any. `until` itself is not included."""

    object_kind: ObjectKind | None = None
    object_id: str | None = None
    actor: str | None = None
    actor_kind: ActorKind | None = None
    since: datetime | None = None
    until: datetime | None = None


class AuditEntryOut(Response):
    """A change somebody made: `action` is a verb, `detail` depends on it, `words` is a sentence."""

    id: int
    at: datetime
    actor: str
    actor_kind: ActorKind
    action: str
    object_kind: str
    object_id: str
    detail: dict[str, Any]
    words: str


class IncidentOut(Response):
    """An incident for operators of Paceline; `detail` depends on `code`."""

    id: str
    at: datetime
    code: str
    detail: dict[str, Any]


class TrackPointOut(Response):
    at: datetime
    value: float


class TrackOut(Response):
    """A reading of a target over time: battery_c (°C), battery_percent, thermal_status (0 none … 6), free_bytes,
    charging (0 or 1). A reading is stored when it changes and every ten minutes."""

    key: Literal[
        "battery_c", "battery_percent", "thermal_status", "free_bytes", "charging"
    ]
    unit: str
    points: list[TrackPointOut]


class JobConditionsOut(Response):
    """The conditions of a target during an analysed job."""

    job_id: str
    run_id: str
    suite: str
    at: datetime
    verdict: Literal["pass", "fail", "inconclusive"] | None
    conditions: dict[str, dict[Literal["median", "max"], float]]
    suppressed: list[str]


class GapOut(Response):
    """A period without readings, from the last reading before it to the first after it."""

    after: datetime
    until: datetime


class TargetConditionsOut(Response):
    """The conditions of a target. `note` says what the tracks can show. `gaps` are those of all tracks, in order;
    do not draw a line through one."""

    tracks: list[TrackOut]
    gaps: list[GapOut]
    jobs: list[JobConditionsOut]
    note: str
