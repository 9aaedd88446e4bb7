"""Wire shapes of devices: connection, health, checks, orders, readings, events, and actions of people.

`schemas.py` builds a target from them. The server words every sentence; pages only lay them out (I17).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from paceline_contract.items import MAX_OUTPUT, MAX_OUTPUTS
from pydantic import Field, StringConstraints

from paceline_server.kernel.wire import Instant, Request, Response

ConnectionState = Literal["absent", "offline", "unauthorized", "booting", "online"]
HealthState = Literal[
    "unknown", "checking", "good", "recovering", "suspect", "quarantined"
]
OrderKind = Literal["check", "reboot"]
Action = Literal["recheck", "reboot", "quarantine", "release", "maintenance"]
Axis = Literal["connection", "health", "maintenance", "order", "recovery"]
RecoveryStep = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
"""A step an agent tried, such as `reconnect`. Two have a meaning for the server: `reboot` counts as a restart,
`give_up` leads to quarantine."""
ConfigurationName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]

Id = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Words = Annotated[str, StringConstraints(max_length=4000)]
Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)
]
MAX_AGO_MS = 10 * 365 * 86_400_000
"""Ten years: a report is accepted however long the agent waited for its server."""


class RawIn(Request):
    """The output of one command. `status`: its exit status, null if it was killed; `at_ms`: when it started, by
    the agent's clock."""

    command: str = Field(min_length=1, max_length=4000)
    status: int | None = None
    at_ms: int
    took_ms: float = Field(ge=0)
    text: str = Field(max_length=MAX_OUTPUT)


class ConnectionIn(Request):
    """How the agent reaches the device, or why it does not and what to do."""

    state: ConnectionState
    reason: Words | None = None
    advice: Words | None = None
    route: str | None = Field(default=None, max_length=300)


class ReadingsIn(Request):
    """The readings that decide whether the device may be used now; null: not reported."""

    battery_c: float | None = Field(default=None, ge=-100, le=200)
    battery_percent: float | None = Field(default=None, ge=0, le=100)
    charging: bool | None = None
    thermal_status: int | None = Field(default=None, ge=0, le=6)
    free_bytes: int | None = Field(default=None, ge=0)
    ms_ago: int | None = Field(default=None, ge=0, le=MAX_AGO_MS)
    """The age of the readings: an agent repeats its last ones until it reads again. Null: unknown, and only
    changed values count as new."""


class CheckStepIn(Request):
    """One step of a health check. `ok` null: not checked, which is neither a failure nor a pass."""

    name: str = Field(min_length=1, max_length=64)
    ok: bool | None
    text: Words = ""
    value: float | None = None
    unit: str | None = Field(default=None, max_length=32)


class CheckIn(Request):
    """A finished health check. `infrastructure`: whether the device or the connection to it failed; false if the
    device was only hot, low on charge or full."""

    id: Id
    started_at_ms_ago: int = Field(ge=0, le=MAX_AGO_MS)
    took_ms: float = Field(ge=0)
    ok: bool
    infrastructure: bool = False
    steps: list[CheckStepIn] = Field(max_length=32)
    raw: list[RawIn] = Field(default_factory=list, max_length=MAX_OUTPUTS)


class RecoveryIn(Request):
    """A step of the recovery ladder that the agent took; `give_up` is the last. A step with an `id` is stored once,
    however often it is sent."""

    id: Id | None = None
    step: RecoveryStep
    ok: bool
    text: Words = ""
    ms_ago: int = Field(default=0, ge=0, le=MAX_AGO_MS)
    order_id: Id | None = None
    """The order that this step carried out; order and step count as one restart."""


class OrderRefusedIn(Request):
    """An order the agent will not carry out, and why."""

    id: Id
    why: Words = ""


class MaintenanceIn(Request):
    """Whether a target is in maintenance. `until`: when it ends by itself; if omitted, a person ends it."""

    on: bool
    reason: str | None = Field(default=None, max_length=500)
    until: Instant | None = None


class ReasonIn(Request):
    """The reason for a person's decision, stored with who decided and when."""

    reason: Reason


class RawOut(Response):
    command: str
    status: int | None
    at_ms: int
    took_ms: float
    text: str


class ConnectionOut(Response):
    state: ConnectionState
    reason: str | None
    advice: str | None
    route: str | None
    since: datetime | None


class HealthOut(Response):
    """The health of a device. `failures`: infrastructure failures since its last successful run."""

    state: HealthState
    reason: str | None
    advice: str | None
    since: datetime | None
    failures: int


class MaintenanceOut(Response):
    by: str
    reason: str | None
    until: datetime | None
    since: datetime


class TakesJobsOut(Response):
    """Says whether a job may be leased for a target now, in `words` for people."""

    ok: bool
    words: str


class ReadingsOut(Response):
    battery_c: float | None
    battery_percent: float | None
    charging: bool | None
    thermal_status: int | None
    free_bytes: int | None
    at: datetime


class ConfigurationErrorOut(Response):
    """A setting of the device that makes its jobs inconclusive unless a job suppresses this name."""

    name: str
    text: str
    advice: str


class CheckStepOut(Response):
    """One step of a health check. `ok` null: not checked."""

    name: str
    ok: bool | None
    text: str
    value: float | None
    unit: str | None


class DeviceCheckOut(Response):
    id: str
    at: datetime
    took_ms: float
    ok: bool
    infrastructure: bool
    steps: list[CheckStepOut]
    """Empty in a list of targets, as is `raw`."""
    raw: list[RawOut]


class OrderOut(Response):
    """An action on a device that a person requested of its agent."""

    id: str
    kind: OrderKind
    life: Literal["pending", "done", "refused", "expired"]
    requested_by: str
    requested_at: datetime
    why: str | None
    """Why the agent refused it."""


class TargetEventOut(Response):
    """An event of a target; `evidence` is what led to it, `words` the sentence."""

    id: str
    at: datetime
    axis: Axis
    event: str
    from_state: str | None
    to_state: str | None
    reason: str | None
    evidence: dict[str, Any]
    actor: str
    words: str
