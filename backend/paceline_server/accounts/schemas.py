"""Wire shapes of accounts, sessions and tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from paceline_server.kernel.wire import Request, Response

Scope = Literal["agent", "ingest", "read", "alerts:write", "admin"]


class AccountOut(Response):
    id: str
    name: str
    email: str | None


class SessionOut(Response):
    account: AccountOut
    scopes: list[Scope]
    expires_at: datetime


class LinkSignInIn(Request):
    """The one-time token of a sign-in link."""

    token: str = Field(min_length=1, max_length=200)


class PasswordSignInIn(Request):
    email: str = Field(min_length=3, max_length=320)
    password: str = Field(min_length=1, max_length=1024)


class TokenIn(Request):
    name: str = Field(min_length=1, max_length=100)
    scopes: list[Scope] = Field(min_length=1)
    expires_in_days: int | None = Field(default=None, ge=1, le=3650)


class TokenOut(Response):
    id: str
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


class TokenCreatedOut(TokenOut):
    """The only answer that ever carries the secret."""

    secret: str
