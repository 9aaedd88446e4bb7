"""Wire shapes of accounts, sessions and tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from paceline_server.accounts.permissions import Permission, Role
from paceline_server.kernel.wire import Request, Response

Visibility = Literal["private", "public"]


class AccountOut(Response):
    id: str
    name: str
    email: str | None


class MembershipOut(Response):
    """A project of the signed-in person; `role` is null for an admin of the installation who is not a member."""

    name: str
    title: str
    visibility: Visibility
    role: Role | None


class SessionOut(Response):
    """Who signed in, and what they may do in the project of the request."""

    account: AccountOut
    has_password: bool
    project: str | None
    role: Role | None
    permissions: list[Permission]
    projects: list[MembershipOut]
    expires_at: datetime


class BrowserSessionOut(Response):
    """A session of one browser. `ends_at`: when it ends if it is not used before."""

    id: str
    method: str
    device: str
    place: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    ends_at: datetime
    is_current: bool


Secret = Annotated[str, StringConstraints(min_length=1, max_length=200)]
NewPassword = Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class LinkSignInIn(Request):
    """The one-time token of a sign-in link."""

    token: Secret


class PasswordChangeIn(Request):
    """A new password. `current`: the current one, needed if the account has one."""

    current: str | None = Field(default=None, max_length=1024)
    password: NewPassword


class PasswordResetIn(Request):
    """The one-time token of a reset link, and the new password."""

    token: Secret
    password: NewPassword


class OneTimeLinkOut(Response):
    """A link that works once; it is returned only here."""

    url: str
    expires_at: datetime


class InstallationAccountOut(Response):
    """An account as admins of the installation see it."""

    id: str
    name: str
    email: str | None
    has_password: bool
    is_installation_admin: bool
    created_at: datetime
    disabled_at: datetime | None


class InstallationAdminIn(Request):
    is_installation_admin: bool


class PasswordSignInIn(Request):
    email: str = Field(min_length=3, max_length=320)
    password: str = Field(min_length=1, max_length=1024)


class TokenIn(Request):
    name: str = Field(min_length=1, max_length=100)
    permissions: list[Permission] = Field(min_length=1, max_length=50)
    expires_in_days: int | None = Field(default=None, ge=1, le=3650)


class TokenOut(Response):
    id: str
    name: str
    prefix: str
    permissions: list[Permission]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None
    made_by: str | None
    """The name of the member who made it; null if they left, and for tokens made in the server's shell."""


class TokenCreatedOut(TokenOut):
    """A new token with its secret, which is returned only here."""

    secret: str
