"""Wire shapes of agents and targets."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from paceline_server.catalog.schemas import SuiteAnnounceIn, SuiteRefusedOut
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


class HeartbeatOut(Response):
    """`refused`: suites of this heartbeat that were not taken; everything else of it was."""

    heartbeat_s: float
    refused: list[SuiteRefusedOut] = Field(default_factory=list)


class AgentOut(Response):
    id: str
    name: str
    version: str
    state: Literal["online", "offline"]
    last_seen_at: datetime | None
    created_at: datetime


class MaintenanceIn(Request):
    on: bool
    reason: str | None = Field(default=None, max_length=500)


class TargetOut(Response):
    """`state` is reachability and use; `hold` is the independent reason it must not be used, if any."""

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
