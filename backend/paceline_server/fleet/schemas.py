"""Wire shapes of agents and targets. What belongs to the life of a device is in `device_schemas.py`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from paceline_server.catalog.schemas import SuiteAnnounceIn, SuiteRefusedOut
from paceline_server.fleet.device_schemas import (
    Action,
    CheckIn,
    CheckOut,
    ConfigurationErrorOut,
    ConfigurationName,
    ConnectionIn,
    ConnectionOut,
    GatesIn,
    GatesOut,
    HealthOut,
    HealthState,
    MaintenanceOut,
    OrderKind,
    OrderOut,
    RecoveryIn,
    TakesJobsOut,
)
from paceline_server.kernel.wire import Request, Response

Factor = str | int | float | bool | None


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


class TargetAnnounceIn(Request):
    """A target as its agent sees it. `serial` identifies it for ever; `factors` make up the fingerprint."""

    kind: Literal["host", "device"]
    serial: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=200)
    factors: dict[str, Factor] = Field(max_length=64)
    fingerprint: str = Field(pattern=r"^[0-9a-f]{64}$")
    preflight: list[PreflightFindingIn] = Field(default_factory=list, max_length=64)
    refuses: str | None = Field(default=None, max_length=500)
    simulated: bool = False
    connection: ConnectionIn | None = None
    """Of a device, like everything below. Unless it is `online`, factors and fingerprint of before stay."""
    boot_id: str | None = Field(default=None, min_length=1, max_length=100)
    gates: GatesIn | None = None
    check: CheckIn | None = None
    """The last health check that ended, sent until `checks_heard` names it."""
    recovery: list[RecoveryIn] = Field(default_factory=list, max_length=64)
    """Steps of the recovery ladder, each sent until `recovery_heard` names it."""
    orders_done: list[str] = Field(default_factory=list, max_length=64)
    configuration: list[ConfigurationName] | None = Field(default=None, max_length=32)
    """Names of the configuration errors it has now; omitted: as said before."""


class EnrolmentCodeOut(Response):
    code: str
    expires_at: datetime


class EnrolIn(Request):
    code: str = Field(min_length=1, max_length=200)
    name: str = Field(min_length=1, max_length=200)
    version: str = Field(max_length=100)


class EnrolOut(Response):
    agent_id: str
    credential: str


class HeartbeatIn(Request):
    """Sent at start and every `heartbeat_s`; `refuses` on a target says why it takes no jobs (disk full,
    …)."""

    version: str = Field(max_length=100)
    targets: list[TargetAnnounceIn] = Field(max_length=64)
    suites: list[SuiteAnnounceIn] = Field(default_factory=list, max_length=100)


class OrderForAgentOut(Response):
    id: str
    kind: OrderKind


class TargetHeardOut(Response):
    """What the server answers about one announced target. `check_due`: run the health check as soon as no job
    holds the device."""

    kind: Literal["host", "device"]
    serial: str
    target_id: str
    health: HealthState
    check_due: bool
    orders: list[OrderForAgentOut]
    checks_heard: list[str]
    recovery_heard: list[str]


class HeartbeatOut(Response):
    """`refused`: suites of this heartbeat that were not taken; everything else of it was."""

    heartbeat_s: float
    refused: list[SuiteRefusedOut] = Field(default_factory=list)
    targets: list[TargetHeardOut] = Field(default_factory=list)


class AgentOut(Response):
    id: str
    name: str
    version: str
    state: Literal["online", "offline"]
    last_seen_at: datetime | None
    created_at: datetime


class TargetOut(Response):
    """`state` is reachability and use; `hold` the independent reason it must not be used, if any: maintenance
    before quarantine before cooling. Hosts have no connection, gates or checks, and nothing holds them back
    but a person."""

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
    last_seen_at: datetime | None
    active_job_id: str | None
    connection: ConnectionOut | None
    boot_id: str | None
    health: HealthOut
    maintenance: MaintenanceOut | None
    takes_jobs: TakesJobsOut
    gates: GatesOut | None
    configuration: list[ConfigurationErrorOut]
    check: CheckOut | None
    """The last health check; its `raw` only of one target."""
    orders: list[OrderOut]
    """Those that wait to be carried out."""
    reboots_left: int
    """How many more a person or the recovery ladder may ask for within a day."""
    actions: list[Action]
    """What is possible in this state."""
