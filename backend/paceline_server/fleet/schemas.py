"""Wire shapes of agents, their heartbeats and targets; parts that only devices have are in
`device_schemas.py`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from paceline_contract.locations import EVERYTHING
from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from paceline_server.catalog.schemas import SuiteAnnounceIn, SuiteRefusedOut
from paceline_server.fleet.device_schemas import (
    Action,
    CheckIn,
    ConfigurationErrorOut,
    ConfigurationName,
    ConnectionIn,
    ConnectionOut,
    DeviceCheckOut,
    HealthOut,
    HealthState,
    MaintenanceOut,
    OrderKind,
    OrderOut,
    OrderRefusedIn,
    ReadingsIn,
    ReadingsOut,
    RecoveryIn,
    TakesJobsOut,
)
from paceline_server.fleet.grants import (
    EVERY_TARGET,
    RepositoryPattern,
    TargetPattern,
)
from paceline_server.kernel.wire import Request, Response
from paceline_server.projects.schemas import ProjectName

Factor = str | int | float | bool | None

MAX_PATTERNS = 100
"""At most this many patterns of each kind, and projects, in one grant."""


class PreflightFindingIn(Request):
    """One preflight observation with its advice, e.g. governor, turbo, SMT, virtualisation, load, battery."""

    code: str = Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")
    level: Literal["info", "warning", "blocker"]
    text: str = Field(max_length=500)
    advice: str | None = Field(default=None, max_length=500)


class PreflightFindingOut(Response):
    code: str
    level: Literal["info", "warning", "blocker"]
    text: str
    advice: str | None


class TargetAnnouncementIn(Request):
    """A target as its agent reports it. `serial` identifies it for ever; `factors` make up the fingerprint."""

    kind: Literal["host", "device"]
    serial: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=200)
    factors: dict[str, Factor] = Field(max_length=64)
    fingerprint: str = Field(pattern=r"^[0-9a-f]{64}$")
    preflight: list[PreflightFindingIn] = Field(default_factory=list, max_length=64)
    refuses: str | None = Field(default=None, max_length=500)
    simulated: bool = False
    connection: ConnectionIn | None = None
    """Only devices have this and the fields below. While it is not `online`, stored factors and fingerprint stay."""
    boot_id: str | None = Field(default=None, min_length=1, max_length=100)
    gates: ReadingsIn | None = None
    check: CheckIn | None = None
    """The last finished health check, sent until `checks_heard` names it."""
    recovery: list[RecoveryIn] = Field(default_factory=list, max_length=64)
    """Steps of the recovery ladder, each sent until `recovery_heard` names it."""
    orders_done: list[str] = Field(default_factory=list, max_length=64)
    orders_refused: list[OrderRefusedIn] = Field(default_factory=list, max_length=64)
    configuration: list[ConfigurationName] | None = Field(default=None, max_length=32)
    """Names of its current configuration errors; omitted: unchanged. Used only while the connection is
    `online`, like boot id and readings."""

    @property
    def reached(self) -> bool:
        """True if the agent reached the target for this report; an agent always reaches its host."""
        return self.kind == "host" or (
            self.connection is not None and self.connection.state == "online"
        )


class EnrolmentCodeIn(Request):
    """The grant of the agent that will use the code. `projects`: names, by default the request's project. In a pattern,
    `*` stands for any part of a name and `**` for anything."""

    projects: list[ProjectName] | None = Field(
        default=None, min_length=1, max_length=MAX_PATTERNS
    )
    repositories: list[RepositoryPattern] = Field(
        default_factory=lambda: [EVERYTHING], max_length=MAX_PATTERNS
    )
    """Patterns of URLs or absolute paths whose suites it may announce."""
    targets: list[TargetPattern] = Field(
        default_factory=lambda: [EVERY_TARGET], min_length=1, max_length=MAX_PATTERNS
    )
    """`*`, or `host:` or `device:` and a serial number."""
    replaces: str | None = Field(default=None, min_length=1, max_length=100)
    """Id of an agent that the new one replaces: the new one gets its targets and, unless others are given, its
    projects and patterns; the old one is revoked when the code is used."""


class EnrolmentCodeOut(Response):
    code: str
    expires_at: datetime


class EnrolIn(Request):
    code: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=200)
    version: str = Field(max_length=100)
    host_serial: str | None = Field(default=None, min_length=1, max_length=200)
    """The serial of the host that it will announce; older agents send none."""


class EnrolOut(Response):
    agent_id: str
    credential: str


MAX_TARGETS = 64
"""At most this many targets of one agent: a host and a rack of devices."""


class TargetRefusedOut(Response):
    """A target of this heartbeat that was refused, and why."""

    kind: str
    serial: str
    why: str


class HeartbeatIn(Request):
    """A heartbeat: an agent sends it at start and every `heartbeat_s`. A target's `refuses` says why it takes no jobs.

    Each target is accepted or refused on its own, so an invalid value of one device does not stop the agent."""

    version: str = Field(max_length=100)
    targets: list[TargetAnnouncementIn] = Field(max_length=MAX_TARGETS)
    suites: list[SuiteAnnounceIn] = Field(default_factory=list, max_length=100)
    _refused: list[TargetRefusedOut] = PrivateAttr(default_factory=list)

    @property
    def refused_targets(self) -> list[TargetRefusedOut]:
        """Targets of the request that are invalid and therefore not in `targets`."""
        return self._refused

    @model_validator(mode="wrap")
    @classmethod
    def _validate_each_target(
        cls, data: Any, handler: ModelWrapValidatorHandler[Self]
    ) -> Self:
        reports = data.get("targets") if isinstance(data, dict) else None
        if not isinstance(reports, list):
            return handler(data)
        accepted: list[TargetAnnouncementIn] = []
        refused: list[TargetRefusedOut] = []
        for report in reports:
            try:
                target = TargetAnnouncementIn.model_validate(report)
            except ValidationError as error:
                refused.append(_refuse(report, _first_fault(error)))
                continue
            if len(accepted) < MAX_TARGETS:
                accepted.append(target)
            else:
                refused.append(
                    _refuse(report, f"an agent has at most {MAX_TARGETS} targets")
                )
        heartbeat = handler({**data, "targets": accepted})
        heartbeat._refused = refused
        return heartbeat


def _refuse(report: object, why: str) -> TargetRefusedOut:
    fields = report if isinstance(report, dict) else {}
    kind, serial = (
        str(fields.get(name, "")).encode("utf-8", "replace").decode()[:200]
        for name in ("kind", "serial")
    )
    return TargetRefusedOut(kind=kind, serial=serial, why=why)


def _first_fault(error: ValidationError) -> str:
    """Return the first invalid field and what is wrong with it, without its value, which may be unprintable."""
    fault = error.errors(include_input=False, include_url=False, include_context=False)[
        0
    ]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])


class AgentOrderOut(Response):
    id: str
    kind: OrderKind


class TargetReplyOut(Response):
    """The reply about one announced target. `check_due`: run the health check as soon as no job holds the
    device."""

    kind: Literal["host", "device"]
    serial: str
    target_id: str
    health: HealthState
    driven_by: str | None = None
    """The name of another agent that drives it now: the report was ignored and nothing is requested."""
    check_due: bool
    orders: list[AgentOrderOut]
    checks_heard: list[str]
    recovery_heard: list[str]


class HeartbeatOut(Response):
    """`refused`, `refused_targets`: the parts of the heartbeat that were refused; all others were stored."""

    heartbeat_s: float
    refused: list[SuiteRefusedOut] = Field(default_factory=list)
    refused_targets: list[TargetRefusedOut] = Field(default_factory=list)
    targets: list[TargetReplyOut] = Field(default_factory=list)
    manifests_wanted: list[str] = Field(default_factory=list)
    """Digests of announced manifests that the server lacks; the agent sends them with its next heartbeat."""
    rotate_credential: bool = False
    """True if the agent should replace its credential: it calls `POST /agents/self/credential` until that returns
    null."""
    notes: list[str] = Field(default_factory=list)
    """Sentences for the agent's log and its host's page: what is wrong with its identity, and what to do."""


class AgentOut(Response):
    id: str
    name: str
    version: str
    state: Literal["online", "offline"]
    last_seen_at: datetime | None
    created_at: datetime


class TargetOut(Response):
    """A target. `state` says whether it is reachable and busy; `hold`, independently, why it must not be used, with
    maintenance before quarantine before cooling. A host has no connection, readings (`gates`) or checks, and its only
    hold is maintenance."""

    id: str
    kind: Literal["host", "device"]
    name: str
    serial: str
    agent_id: str
    agent_name: str
    state: Literal["online", "busy", "offline"]
    hold: Literal["maintenance", "quarantined", "cooling"] | None
    hold_reason: str | None
    refuses: str | None
    factors: dict[str, Factor]
    fingerprint: str
    preflight: list[PreflightFindingOut]
    simulated: bool
    imported: bool
    """True if its figures are imported only; it has no agent and runs no jobs."""
    last_seen_at: datetime | None
    active_job_id: str | None
    connection: ConnectionOut | None
    boot_id: str | None
    health: HealthOut
    maintenance: MaintenanceOut | None
    takes_jobs: TakesJobsOut
    gates: ReadingsOut | None
    configuration: list[ConfigurationErrorOut]
    check: DeviceCheckOut | None
    """The last health check; `steps` and `raw` are empty in a list of targets."""
    orders: list[OrderOut]
    """Orders that wait to be carried out."""
    refused_orders: list[OrderOut]
    """Orders that its agent refused within the last hour."""
    reboots_left: int
    """How many more restarts people and the recovery ladder may make within a day."""
    actions: list[Action]
    """Actions that a person can take in this state."""
