"""Invites people by e-mail address, and makes the holder of that address a member.

An invitation is a link that is shown once. It works once, until it expires, is revoked, or is replaced by a newer one
for the same address. Whoever accepts it must give the invited address, so a leaked link is not enough; wrong addresses
are throttled.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from paceline_server.accounts import credentials, throttling
from paceline_server.accounts import service as accounts
from paceline_server.accounts.names import email_key, normalize_email, normalize_name
from paceline_server.accounts.permissions import Role
from paceline_server.accounts.sessions import NewSession, Visitor, begin_session
from paceline_server.kernel import clock
from paceline_server.kernel.errors import ProblemError, conflict, not_found
from paceline_server.kernel.ids import new_id, new_secret, sha256_hex
from paceline_server.kernel.wire import Page
from paceline_server.projects import service as projects
from paceline_server.projects.invitations import queries
from paceline_server.projects.invitations.schemas import (
    InvitationAcceptIn,
    InvitationCreatedOut,
    InvitationOfferOut,
    InvitationOut,
    JoinedOut,
    State,
)
from paceline_server.store import access, audit
from paceline_server.store.access import Actor
from paceline_server.store.page import page
from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.projects import Invitation

INVITATION_PAGE = "invitation"
"""The page that an invitation's link opens."""


@dataclass(frozen=True)
class Inviter:
    """The name of the person who invites, the dashboard's URL, and how long the invitation is valid."""

    name: str
    public_url: str
    valid_days: float


def invite(
    session: Session, project_id: str, email: str, role: Role, inviter: Inviter
) -> InvitationCreatedOut:
    """Invite the holder of an address. Raises 409 `already_member`, 400 if `email` is no address."""
    email = normalize_email(email)
    if queries.is_member_with_email(session, project_id, email):
        raise conflict(f"{email} is a member already.", "already_member")
    secret = new_secret("pli")
    at = clock.now()
    queries.revoke_open(session, email, at)
    invitation = Invitation(
        id=new_id("inv"),
        token_sha256=sha256_hex(secret),
        email=email,
        role=role,
        invited_by=inviter.name,
        created_at=at,
        expires_at=at + timedelta(days=inviter.valid_days),
        accepted_at=None,
        accepted_by=None,
        revoked_at=None,
    )
    session.add(invitation)
    session.flush()
    detail = {"name": email, "role": role}
    audit.record(session, inviter.name, "invite", "member", invitation.id, detail)
    return InvitationCreatedOut(
        **_invitation_out(invitation, at).model_dump(),
        url=credentials.link_url(inviter.public_url, secret, INVITATION_PAGE),
    )


def list_invitations(
    session: Session, *, limit: int, cursor: str | None
) -> Page[InvitationOut]:
    """Return invitations to the session's project, the newest first."""
    at = clock.now()
    return page(
        session,
        queries.invitations(),
        [Invitation.id],
        lambda row: [row.id],
        lambda row: _invitation_out(row, at),
        limit=limit,
        cursor=cursor,
    )


def _invitation_out(row: Invitation, at: datetime) -> InvitationOut:
    return InvitationOut.of_row(row, state=_state(row, at))


def _state(row: Invitation, at: datetime) -> State:
    if row.accepted_at is not None:
        return "accepted"
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at <= at else "open"


def revoke(session: Session, invitation_id: str, actor: str) -> None:
    """Revoke an invitation, so that its link stops working; revoking twice changes nothing. Raises 404, 409
    `already_accepted`."""
    invitation = queries.invitation(session, invitation_id)
    if invitation is None:
        raise not_found("invitation", invitation_id)
    if invitation.accepted_at is not None:
        raise conflict(
            "This invitation was accepted: remove the member instead.",
            "already_accepted",
        )
    if invitation.revoked_at is None:
        invitation.revoked_at = clock.now()
        detail = {"name": invitation.email}
        audit.record(
            session, actor, "revoke_invitation", "member", invitation_id, detail
        )


def show_offer(session: Session, secret: str) -> InvitationOfferOut:
    """Return the project and role that a link offers. Raises 410 `invitation_invalid`."""
    invitation = _find_usable(session, secret)
    project = queries.project(session, invitation.project_id)
    return InvitationOfferOut.of_row(
        invitation, project=project.name, title=project.title
    )


def _find_usable(session: Session, secret: str) -> Invitation:
    invitation = queries.usable_invitation(session, sha256_hex(secret), clock.now())
    if invitation is None:
        raise _invalid_invitation()
    return invitation


def _invalid_invitation() -> ProblemError:
    return ProblemError(
        410,
        "invitation_invalid",
        "This invitation was used, withdrawn or has expired; ask whoever invited you for a new one.",
    )


def reserve_acceptance(
    session: Session, acceptance: InvitationAcceptIn
) -> tuple[str, str]:
    """Count an attempt, and check name and address before the password is hashed; returns both as they will be stored.
    Attempts are throttled. Raises 410 `invitation_invalid`, 403 `other_address`, 409 `account_exists`, 429."""
    invitation = _find_usable(session, acceptance.token)
    throttling.count_failures(session, {"invitation": _throttle_key(invitation)})
    if email_key(acceptance.email) != invitation.email:
        raise _other_address(keeps_changes=True)
    if queries.account_with_email(session, invitation.email) is not None:
        raise conflict(
            "This address has an account already: sign in with it, then open the link again.",
            "account_exists",
        )
    return normalize_name(acceptance.name), invitation.email


def _throttle_key(invitation: Invitation) -> str:
    return f"invitation:{invitation.id}"


def _other_address(*, keeps_changes: bool = False) -> ProblemError:
    return ProblemError(
        403,
        "other_address",
        "This invitation is for another e-mail address.",
        keeps_changes=keeps_changes,
    )


def accept_with_new_account(
    session: Session,
    acceptance: InvitationAcceptIn,
    password_hash: str,
    days: float,
    visitor: Visitor,
) -> NewSession:
    """Create an account for the invited address, make it a member and sign it in. Raises 410
    `invitation_invalid`, 409 `account_exists`."""
    invitation = _find_usable(session, acceptance.token)
    account = accounts.create_account(
        session, acceptance.name, email=invitation.email, password_hash=password_hash
    )
    with access.acting_as(session, Actor("account", account.id, account.name)):
        detail = {"name": account.name, "invited_by": invitation.invited_by}
        audit.record(session, account.name, "create", "account", account.id, detail)
    _add_member(session, invitation, account)
    return begin_session(session, account, days, "invitation", visitor)


def accept(session: Session, secret: str, account_id: str) -> JoinedOut:
    """Make a signed-in account a member; returns the project. Raises 410 `invitation_invalid`, 403
    `other_address` unless the invited address is theirs."""
    invitation = _find_usable(session, secret)
    account = session.get_one(Account, account_id)
    if account.email != invitation.email:
        raise _other_address()
    _add_member(session, invitation, account)
    return JoinedOut(project=queries.project(session, invitation.project_id).name)


def _add_member(session: Session, invitation: Invitation, account: Account) -> None:
    """Use up the invitation and make the account a member; an account that is a member already keeps its role."""
    if not queries.take_invitation(session, invitation.id, account.id, clock.now()):
        raise _invalid_invitation()
    if queries.is_member_with_email(session, invitation.project_id, invitation.email):
        return
    role: Role = invitation.role  # type: ignore[assignment]  # checked when it was stored
    with access.acting_as(session, Actor("account", account.id, account.name)):
        projects.set_member(session, invitation.project_id, account, role, account.name)
