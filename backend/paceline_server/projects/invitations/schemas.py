"""Wire shapes of invitations."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from paceline_server.accounts.permissions import Role
from paceline_server.accounts.schemas import NewPassword, Secret
from paceline_server.kernel.wire import Request, Response

State = Literal["open", "accepted", "expired", "revoked"]


class InvitationIn(Request):
    """The person to invite; whoever opens the link must enter the same address."""

    email: str = Field(min_length=3, max_length=254)
    role: Role


class InvitationOut(Response):
    """An invitation without its link."""

    id: str
    email: str
    role: Role
    state: State
    invited_by: str
    created_at: datetime
    expires_at: datetime


class InvitationCreatedOut(InvitationOut):
    """A new invitation with its link, which is returned only here."""

    url: str


class InvitationLinkIn(Request):
    """The one-time token of an invitation's link."""

    token: Secret


class InvitationOfferOut(Response):
    """The project and role that a link offers. The invited address is left out; the invited person knows it."""

    project: str
    title: str
    role: Role
    invited_by: str
    expires_at: datetime


class InvitationAcceptIn(Request):
    """A new account for the invited address."""

    token: Secret
    email: str = Field(min_length=3, max_length=254)
    name: str = Field(min_length=1, max_length=100)
    password: NewPassword


class JoinedOut(Response):
    """The project that the person has joined."""

    project: str
