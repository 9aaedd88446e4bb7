"""Wire shapes of agents and targets. What belongs to the life of a device is in `device_schemas.py`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

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
    OrderRefusedIn,
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
    orders_refused: list[OrderRefusedIn] = Field(default_factory=list, max_length=64)
    """Orders that will not be carried out."""
    configuration: list[ConfigurationName] | None = Field(default=None, max_length=32)
    """Names of the configuration errors it has now; omitted: as said before. Like boot id and gates they are
    what the agent knew last: taken only while the connection is `online`."""

    @property
    def reached(self) -> bool:
        """Whether what is said of it was read from it: a host is always reached by its agent."""
        return self.kind == "host" or (
            self.connection is not None and self.connection.state == "online"
        )


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


MAX_TARGETS = 64
"""Targets of one agent: a host and a rack of devices."""


class TargetRefusedOut(Response):
    """A target of this heartbeat that was not taken, and why."""

    kind: str
    serial: str
    why: str


class HeartbeatIn(Request):
    """Sent at start and every `heartbeat_s`; `refuses` on a target says why it takes no jobs (disk full,
    …). Each target is taken or refused by itself: one device's odd value does not take the agent off."""

    version: str = Field(max_length=100)
    targets: list[TargetAnnounceIn] = Field(max_length=MAX_TARGETS)
    suites: list[SuiteAnnounceIn] = Field(default_factory=list, max_length=100)
    _refused: list[TargetRefusedOut] = PrivateAttr(default_factory=list)

    @property
    def refused_targets(self) -> list[TargetRefusedOut]:
        """Those that were left out of `targets`."""
        return self._refused

    @model_validator(mode="wrap")
    @classmethod
    def _one_by_one(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        said = data.get("targets") if isinstance(data, dict) else None
        if not isinstance(said, list):
            return handler(data)
        taken: list[TargetAnnounceIn] = []
        refused: list[TargetRefusedOut] = []
        for one in said:
            try:
                target = TargetAnnounceIn.model_validate(one)
            except ValidationError as error:
                refused.append(_refused(one, _first_fault(error)))
                continue
            if len(taken) < MAX_TARGETS:
                taken.append(target)
            else:
                refused.append(
                    _refused(one, f"an agent has at most {MAX_TARGETS} targets")
                )
        made = handler({**data, "targets": taken})
        made._refused = refused
        return made


def _refused(one: object, why: str) -> TargetRefusedOut:
    known = one if isinstance(one, dict) else {}
    kind, serial = (
        str(known.get(name, "")).encode("utf-8", "replace").decode()[:200]
        for name in ("kind", "serial")
    )
    return TargetRefusedOut(kind=kind, serial=serial, why=why)


def _first_fault(error: ValidationError) -> str:
    """The field and what is wrong with it, without what was sent: that may be no text to repeat."""
    fault = error.errors(include_input=False, include_url=False, include_context=False)[
        0
    ]
    where = ".".join(str(part) for part in fault["loc"])
    return f"{where}: {fault['msg']}" if where else str(fault["msg"])


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
    driven_by: str | None = None
    """Set: another agent drives it now, of this name; nothing of it was taken and nothing is asked."""
    check_due: bool
    orders: list[OrderForAgentOut]
    checks_heard: list[str]
    recovery_heard: list[str]


class HeartbeatOut(Response):
    """`refused`, `refused_targets`: what of this heartbeat was not taken; everything else of it was."""

    heartbeat_s: float
    refused: list[SuiteRefusedOut] = Field(default_factory=list)
    refused_targets: list[TargetRefusedOut] = Field(default_factory=list)
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
    imported: bool
    """Only figures that another tool measured are known of it: it has no agent and is never asked."""
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
    """The last health check; its `steps` and `raw` only of one target."""
    orders: list[OrderOut]
    """Those that wait to be carried out."""
    refused_orders: list[OrderOut]
    """Those its agent refused within the last hour, with why."""
    reboots_left: int
    """How many more a person or the recovery ladder may ask for within a day."""
    actions: list[Action]
    """What is possible in this state."""
