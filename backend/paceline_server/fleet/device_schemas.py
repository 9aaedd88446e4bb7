"""Wire shapes of a device's life: connection, health, orders, readings, and what people do about them.

Place: beside `schemas.py`, which builds a target of them. Words are the server's (I17): a page lays them out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

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
"""reconnect, new_connection, adb_reconnect, reboot and whatever else an agent tries. Two are looked at here:
`reboot` counts as a restart, `give_up` ends in quarantine."""
ConfigurationName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]

MAX_RAW_TEXT = 262_144
"""Characters of one command's output that are kept; `dumpsys` of a phone prints some tens of thousands."""
MAX_RAW = 64
"""Outputs kept of one health check or one reading of the conditions."""

Id = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Words = Annotated[str, StringConstraints(max_length=4000)]
Reason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)
]
MAX_AGO_MS = 10 * 365 * 86_400_000
"""Ten years: what an agent says that waited for its server must be taken, whatever its age."""


class RawIn(Request):
    """What one command printed: kept beside what was read out of it. `status`: its exit status, null when it
    did not end by itself; `at_ms` on the agent's clock."""

    command: str = Field(min_length=1, max_length=4000)
    status: int | None = None
    at_ms: int
    took_ms: float = Field(ge=0)
    text: str = Field(max_length=MAX_RAW_TEXT)


class ConnectionIn(Request):
    """How the agent reaches the device, or why it does not and what to do about it."""

    state: ConnectionState
    reason: Words | None = None
    advice: Words | None = None
    route: str | None = Field(default=None, max_length=300)


class GatesIn(Request):
    """The readings that decide whether the device may be used now; null: it could not say."""

    battery_c: float | None = Field(default=None, ge=-100, le=200)
    battery_percent: float | None = Field(default=None, ge=0, le=100)
    charging: bool | None = None
    thermal_status: int | None = Field(default=None, ge=0, le=6)
    free_bytes: int | None = Field(default=None, ge=0)
    ms_ago: int | None = Field(default=None, ge=0, le=MAX_AGO_MS)
    """How long ago they were read; an agent repeats its last reading while it reads nothing. Null: it does
    not say, so that only values other than before are taken for new ones."""


class CheckStepIn(Request):
    """`ok` null: it was not looked at, which is neither a failure nor a pass."""

    name: str = Field(min_length=1, max_length=64)
    ok: bool | None
    text: Words = ""
    value: float | None = None
    unit: str | None = Field(default=None, max_length=32)


class CheckIn(Request):
    """A health check that ended. `infrastructure`: what failed lies between us and the device, or is the
    device itself; not the state it is in for a while (hot, empty, full)."""

    id: Id
    started_at_ms_ago: int = Field(ge=0, le=MAX_AGO_MS)
    took_ms: float = Field(ge=0)
    ok: bool
    infrastructure: bool = False
    steps: list[CheckStepIn] = Field(max_length=32)
    raw: list[RawIn] = Field(default_factory=list, max_length=MAX_RAW)


class RecoveryIn(Request):
    """A step of the recovery ladder that was taken; `give_up` is the last: nothing is left to try. With an
    `id` it may be sent until it was heard; without one it is kept as often as it is sent."""

    id: Id | None = None
    step: RecoveryStep
    ok: bool
    text: Words = ""
    ms_ago: int = Field(default=0, ge=0, le=MAX_AGO_MS)
    order_id: Id | None = None
    """The order that asked for it; the server counts such a restart once."""


class OrderRefusedIn(Request):
    """An order that will not be carried out, and why."""

    id: Id
    why: Words = ""


class MaintenanceIn(Request):
    """`until`: ends by itself then; omitted: until a person ends it."""

    on: bool
    reason: str | None = Field(default=None, max_length=500)
    until: Instant | None = None


class ReasonIn(Request):
    """Why a person decided so: kept with who and when."""

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
    """`failures`: infrastructure failures since its last good run."""

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
    """Whether a job may be leased for it now, in a sentence."""

    ok: bool
    words: str


class GatesOut(Response):
    battery_c: float | None
    battery_percent: float | None
    charging: bool | None
    thermal_status: int | None
    free_bytes: int | None
    at: datetime


class ConfigurationErrorOut(Response):
    """Something about how the device is set up that voids its jobs unless it is suppressed by this name."""

    name: str
    text: str
    advice: str


class CheckStepOut(Response):
    """`ok` null: not looked at."""

    name: str
    ok: bool | None
    text: str
    value: float | None
    unit: str | None


class CheckOut(Response):
    id: str
    at: datetime
    took_ms: float
    ok: bool
    infrastructure: bool
    steps: list[CheckStepOut]
    """Only of one target, like `raw`: a list leaves both empty."""
    raw: list[RawOut]


class OrderOut(Response):
    """What a person asked the agent to do with a device."""

    id: str
    kind: OrderKind
    life: Literal["pending", "done", "refused", "expired"]
    requested_by: str
    requested_at: datetime
    why: str | None
    """Why its agent refused it."""


class TargetEventOut(Response):
    """One step in a target's life; `evidence` is what led to it, `words` says it in a sentence."""

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
