"""Wire shapes of projects, members and granted targets."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from paceline_server.accounts.permissions import Role
from paceline_server.accounts.schemas import AccountOut, Visibility
from paceline_server.kernel.wire import Request, Response

ProjectName = Annotated[
    str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=50)
]
"""The name in URLs: lower-case ASCII, so that no two look alike."""
Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)
]
Branch = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class ProjectIn(Request):
    name: ProjectName
    title: Title
    default_branch: Branch = "main"
    visibility: Visibility = "private"


class ProjectPatchIn(Request):
    """The settings to change. With null `retention_days`, samples are kept for ever."""

    title: Title | None = None
    default_branch: Branch | None = None
    visibility: Visibility | None = None
    retention_days: int | None = Field(default=None, ge=1, le=36500)


class ProjectOut(Response):
    id: str
    name: str
    title: str
    default_branch: str
    visibility: Visibility
    retention_days: int | None
    created_at: datetime


class MemberIn(Request):
    """A new member. `account`: the name or e-mail address of an existing account."""

    account: str = Field(min_length=1, max_length=320)
    role: Role


class RoleIn(Request):
    role: Role


class MemberOut(Response):
    account: AccountOut
    role: Role
    since: datetime
    disabled: bool


class GrantedTargetOut(Response):
    """A target of the installation, and whether the project may use it."""

    id: str
    name: str
    kind: str
    granted: bool
