"""Holds all SQL of invitations; returns rows or None."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.projects import Invitation, Project, ProjectMember


def invitations() -> Select[Any]:
    """Return a query for the invitations of the session's project."""
    return select(Invitation)


def invitation(session: Session, invitation_id: str) -> Invitation | None:
    return session.get(Invitation, invitation_id)


def revoke_open(session: Session, email: str, at: datetime) -> None:
    """Revoke the open invitations of an address to the session's project."""
    statement = (
        update(Invitation)
        .where(
            Invitation.email == email,
            Invitation.accepted_at.is_(None),
            Invitation.revoked_at.is_(None),
        )
        .values(revoked_at=at)
        .execution_options(synchronize_session=False)
    )
    session.execute(statement)


def usable_invitation(
    session: Session, token_sha256: str, at: datetime
) -> Invitation | None:
    """Return the invitation with this hash, unless accepted, revoked or expired."""
    query = select(Invitation).where(
        Invitation.token_sha256 == token_sha256,
        Invitation.accepted_at.is_(None),
        Invitation.revoked_at.is_(None),
        Invitation.expires_at > at,
    )
    return session.scalars(query).one_or_none()


def take_invitation(
    session: Session, invitation_id: str, account_id: str, at: datetime
) -> bool:
    """Mark an invitation as accepted; returns False if it is not open any more. It is a single UPDATE, so only one of
    several concurrent requests succeeds."""
    statement = (
        update(Invitation)
        .where(
            Invitation.id == invitation_id,
            Invitation.accepted_at.is_(None),
            Invitation.revoked_at.is_(None),
            Invitation.expires_at > at,
        )
        .values(accepted_at=at, accepted_by=account_id)
        .returning(Invitation.id)
        .execution_options(synchronize_session=False)
    )
    return session.execute(statement).scalar_one_or_none() is not None


def project(session: Session, project_id: str) -> Project:
    return session.get_one(Project, project_id)


def account_with_email(session: Session, email: str) -> Account | None:
    return session.scalars(select(Account).where(Account.email == email)).one_or_none()


def is_member_with_email(session: Session, project_id: str, email: str) -> bool:
    """Return whether the holder of an address is a member of a project."""
    query = (
        select(ProjectMember.account_id)
        .join(Account, Account.id == ProjectMember.account_id)
        .where(ProjectMember.project_id == project_id, Account.email == email)
    )
    return session.scalars(query).first() is not None
