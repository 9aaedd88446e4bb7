"""Accounts, sessions, tokens and one-time sign-in links. Secrets are stored as SHA-256 only."""

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
    """What two names may not share: the name without case and with single spaces (`accounts/names.py`)."""
    email: Mapped[str | None] = mapped_column(String, unique=True)
    """In its one spelling (`accounts/names.py`)."""
    password_hash: Mapped[str | None]
    """argon2id; null: the account signs in by link or token only. There is no default password."""
    is_installation_admin: Mapped[bool] = mapped_column(default=False)
    """Above the roles of projects (`project_member`)."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    disabled_at: Mapped[datetime | None] = mapped_column(Timestamp, default=None)
    """Set: neither its sessions nor its tokens work."""


class BrowserSession(Base):
    __tablename__ = "browser_session"
    token_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    id: Mapped[str] = mapped_column(String, unique=True)
    """What lists of sessions name it by; it opens nothing."""
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_seen_at: Mapped[datetime] = mapped_column(Timestamp)
    """Of the last request, to a minute: the session ends when it is idle for too long."""
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    """When it ends however much it is used."""
    method: Mapped[str]
    """How the person signed in: link | password | invitation."""
    device: Mapped[str]
    """Browser and system, as the browser calls itself."""
    place: Mapped[str]
    """The network address it began from."""


class SignInLink(Base):
    """A one-time link: it signs in, or (`reset`) sets a new password."""

    __tablename__ = "sign_in_link"
    token_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"), index=True)
    purpose: Mapped[str]
    """sign_in | reset."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Token(PerhapsOwned, Base):
    """`secret = prefix + "_" + 256 random bits`; shown once. An agent's has no project."""

    __tablename__ = "token"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    prefix: Mapped[str]
    secret_sha256: Mapped[str] = mapped_column(String, unique=True)
    permissions: Mapped[list[str]] = mapped_column(Json)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    agent_id: Mapped[str | None] = mapped_column(String, index=True)
    """Set on an agent's credential; such a token speaks for that agent only."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)


class SignInThrottle(Base):
    """Failures per key: of sign-ins (an address, a place, both), of a session's password checks, of an invitation's
    addresses. A success clears those of its address."""

    __tablename__ = "sign_in_throttle"
    key: Mapped[str] = mapped_column(String, primary_key=True)
    failures: Mapped[int]
    blocked_until: Mapped[datetime | None] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
