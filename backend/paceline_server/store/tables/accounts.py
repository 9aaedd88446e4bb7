"""Accounts, sessions, tokens and one-time sign-in links. Secrets are stored as SHA-256 only."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, Timestamp


class Account(Base):
    __tablename__ = "account"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str] = mapped_column(String, unique=True)
    email: Mapped[str | None] = mapped_column(String, unique=True)
    password_hash: Mapped[str | None]
    """argon2id; null: the account signs in by link or token only. There is no default password."""
    scopes: Mapped[list[str]] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class BrowserSession(Base):
    __tablename__ = "browser_session"
    token_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class SignInLink(Base):
    __tablename__ = "sign_in_link"
    token_sha256: Mapped[str] = mapped_column(String, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("account.id"))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    expires_at: Mapped[datetime] = mapped_column(Timestamp)
    used_at: Mapped[datetime | None] = mapped_column(Timestamp)


class Token(Base):
    """`secret = prefix + "_" + 256 random bits`; shown once."""

    __tablename__ = "token"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    prefix: Mapped[str]
    secret_sha256: Mapped[str] = mapped_column(String, unique=True)
    scopes: Mapped[list[str]] = mapped_column(Json)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    agent_id: Mapped[str | None] = mapped_column(String, index=True)
    """Set on an agent's credential; such a token speaks for that agent only."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    revoked_at: Mapped[datetime | None] = mapped_column(Timestamp)


class SignInThrottle(Base):
    """Failed password sign-ins per key (an address, or an address from one place); cleared by a success."""

    __tablename__ = "sign_in_throttle"
    key: Mapped[str] = mapped_column(String, primary_key=True)
    failures: Mapped[int]
    blocked_until: Mapped[datetime | None] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
