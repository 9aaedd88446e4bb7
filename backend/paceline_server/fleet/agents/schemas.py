"""Wire shapes of agents as an admin of the installation sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from paceline_server.fleet.grants import RepositoryPattern, TargetPattern
from paceline_server.fleet.schemas import MAX_PATTERNS
from paceline_server.kernel.wire import Request, Response
from paceline_server.projects.schemas import ProjectName

SHORTEST_SILENCE_S = 600
"""Seconds; longer than a restart of the server or the host."""
LONGEST_SILENCE_S = 90 * 86_400
"""Seconds; an agent that is away for longer is better revoked."""


class GrantIn(Request):
    """The grant of an agent from now on. `projects`: names."""

    projects: list[ProjectName] = Field(min_length=1, max_length=MAX_PATTERNS)
    repositories: list[RepositoryPattern] = Field(max_length=MAX_PATTERNS)
    targets: list[TargetPattern] = Field(min_length=1, max_length=MAX_PATTERNS)


class SilenceLimitIn(Request):
    """After how long without a heartbeat the agent's projects are alerted; null: never."""

    limit_s: int | None = Field(ge=SHORTEST_SILENCE_S, le=LONGEST_SILENCE_S)


class GrantOut(Response):
    """`projects`: names; `repositories` and `targets`: patterns in their canonical form."""

    projects: list[str]
    repositories: list[str]
    targets: list[str]


class BoundTargetOut(Response):
    """A target that belongs to an agent."""

    id: str
    name: str
    kind: Literal["host", "device"]
    serial: str


class EnrolledAgentOut(Response):
    """An agent as an admin sees it. `state`: a revoked agent is refused for good. `credential_since`: when its newest
    valid credential was made; null if it has none."""

    id: str
    name: str
    version: str
    state: Literal["online", "offline", "revoked"]
    last_seen_at: datetime | None
    created_at: datetime
    enrolled_by: str | None
    revoked_at: datetime | None
    credential_since: datetime | None
    rotation_requested_at: datetime | None
    """When an admin asked it to replace its credential; null once it did."""
    silence_limit_s: int | None
    """After how long without a heartbeat its projects are alerted; null: never."""
    grant: GrantOut
    targets: list[BoundTargetOut]


class AgentNameOut(Response):
    id: str
    name: str


class ClaimOut(Response):
    """An agent that announces another agent's target: `agent` claims it, `owner` has it."""

    id: str
    target: BoundTargetOut
    agent: AgentNameOut
    owner: AgentNameOut
    state: Literal["open", "moved", "dismissed"]
    first_at: datetime
    last_at: datetime
    decided_by: str | None
    decided_at: datetime | None


class CredentialOut(Response):
    """A new credential, which is returned only here; null if the request was made with the newest one."""

    credential: str | None
