"""Defines projects, their members and the targets granted to them, which decide what a person may see (I18)."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Timestamp
from paceline_server.store.owned import ProjectRoot


class Project(Base):
    __tablename__ = "project"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String, unique=True)
    """The name in URLs: lower-case ASCII, so that no two look alike."""
    title: Mapped[str]
    default_branch: Mapped[str]
    visibility: Mapped[str]
    """private | public (anybody may read it without signing in)."""
    retention_days: Mapped[int | None]
    """How long samples are kept; null: for ever."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class ProjectMember(Base):
    __tablename__ = "project_member"
    project_id: Mapped[str] = mapped_column(ForeignKey("project.id"), primary_key=True)
    account_id: Mapped[str] = mapped_column(
        ForeignKey("account.id"), primary_key=True, index=True
    )
    role: Mapped[str]
    """viewer | triager | maintainer | admin."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class Invitation(ProjectRoot, Base):
    """A one-time link that makes the holder of an e-mail address a member. It is stored as SHA-256."""

    __tablename__ = "invitation"
    __table_args__ = (Index("ix_invitation_project_id", "project_id", "id"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    token_sha256: Mapped[str] = mapped_column(String, unique=True)
    email: Mapped[str]
    role: Mapped[str]
    invited_by: Mapped[str]
    """The name of the person who invited, at that time."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    accepted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    accepted_by: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)


class TargetGrant(Base):
    """A target of the installation that a project may use and see."""

    __tablename__ = "target_grant"
    target_id: Mapped[str] = mapped_column(ForeignKey("target.id"), primary_key=True)
    project_id: Mapped[str] = mapped_column(
        ForeignKey("project.id"), primary_key=True, index=True
    )
    created_at: Mapped[datetime] = mapped_column(Timestamp)
