"""Defines accounts, sessions, tokens and one-time links. Secrets are stored only as SHA-256."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp
from paceline_server.store.owned import PerhapsOwned


class Account(Base):
    __tablename__ = "account"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    name_key: Mapped[str] = mapped_column(String, unique=True)
    """The form of the name that is unique: case folded, with single spaces (`accounts/names.py`)."""
    email: Mapped[str | None] = mapped_column(String, unique=True)
    """Normalized (`accounts/names.py`)."""
    password_hash: Mapped[str | None]
    """argon2id; null: the account signs in by link or token only. There is no default password."""
    is_installation_admin: Mapped[bool] = mapped_column(default=False)
    """Independent of the roles in projects (`project_member`)."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    disabled_at: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    """While it is set, neither its sessions nor its tokens work."""


class BrowserSession(Base):
    __tablename__ = "browser_session"
    token_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    id: Mapped[str] = mapped_column(String, unique=True)
    """The id in lists of sessions, which is no secret."""
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_seen_at: Mapped[datetime] = mapped_column(Timestamp)
    """The time of the last request, to a minute; a session that is idle for too long ends."""
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    """When it ends even if it is used."""
    method: Mapped[str]
    """How the person signed in: link | password | invitation."""
    device: Mapped[str]
    """Browser and system, such as `Firefox on Linux`."""
    place: Mapped[str]
    """The network address from which it began."""


class SignInLink(Base):
    """A one-time link for signing in or (`reset`) for setting a new password."""

    __tablename__ = "sign_in_link"
    token_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"), index=True)
    purpose: Mapped[str]
    """sign_in | reset."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Token(PerhapsOwned, Base):
    """A token, whose secret is shown once: the prefix, `_` and 256 random bits. An agent's has no project."""

    __tablename__ = "token"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    prefix: Mapped[str]
    secret_sha256: Mapped[str] = mapped_column(String, unique=True)
    permissions: Mapped[list[str]] = mapped_column(Json)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    agent_id: Mapped[str | None] = mapped_column(String, index=True)
    """The agent whose credential this is; null for tokens of programs."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)


class SignInThrottle(Base):
    """Failures of one key: of sign-ins (an address, a place, or both), of an account's password checks, or of an
    invitation. A successful sign-in deletes those of its address."""

    __tablename__ = "sign_in_throttle"
    key: Mapped[str] = mapped_column(String, primary_key=True)
    failures: Mapped[int]
    blocked_until: Mapped[datetime | None] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
