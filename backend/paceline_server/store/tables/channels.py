"""Defines channels with their signing keys, notifications, and every attempt to deliver one."""

from __future__ import annotations

from datetime import datetime, time
from typing import Any

from sqlalchemy import Float, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from paceline_server.store.base import Base, Json, JsonOrNull, OrderedJson, Timestamp
from paceline_server.store.owned import ProjectOwned, ProjectRoot

_present = text("deleted_at IS NULL")


class Channel(ProjectRoot, Base):
    """A way to notify people. Names are unique among the channels that are not deleted."""

    __tablename__ = "channel"
    __table_args__ = (
        Index(
            "uq_channel_name",
            "project_id",
            "name",
            unique=True,
            sqlite_where=_present,
            postgresql_where=_present,
        ),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    name: Mapped[str]
    kind: Mapped[str]
    """webhook | slack | chat | email."""
    address: Mapped[str]
    """A URL, or comma-separated e-mail addresses. A URL may hold a secret, so people see it shortened."""
    template: Mapped[dict[str, Any] | None] = mapped_column(OrderedJson)
    """The message of a chat channel, with fields of `chat_messages.FIELDS` in its texts."""
    origin: Mapped[str]
    """api | environment (it was made for `PACELINE_WEBHOOK_URL`, which decides its address)."""
    filters: Mapped[dict[str, list[str]]] = mapped_column(Json)
    """Patterns by `filtering.FIELDS`; an empty or missing list admits everything."""
    time_zone: Mapped[str]
    digest_at: Mapped[time | None]
    """The time of day of a digest, one message with everything since the last; null: each notification is sent at
    once."""
    muted_until: Mapped[datetime | None] = mapped_column(Timestamp)
    state: Mapped[str]
    """healthy | failing (its newest attempt failed, the next is at `retry_at`) | broken (failed for a day)."""
    failures: Mapped[int]
    """Failed attempts since the newest success."""
    failing_since: Mapped[datetime | None] = mapped_column(Timestamp)
    retry_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_error: Mapped[str | None]
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("account.id"))
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)


class ChannelKey(ProjectOwned, Base):
    """A key that signs a webhook's messages. Signing needs the secret itself, so it is stored; on PostgreSQL the role
    of requests cannot read that column."""

    __tablename__ = "channel_key"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    channel_id: Mapped[str] = mapped_column(ForeignKey("channel.id"), index=True)
    secret: Mapped[str] = mapped_column(String, deferred=True)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    valid_until: Mapped[datetime | None] = mapped_column(Timestamp)
    """Null for the newest key; the key before it also signs until this instant."""


class Notification(ProjectRoot, Base):
    """One event that people are notified of. Its id is the idempotency key of every delivery."""

    __tablename__ = "notification"
    __table_args__ = (Index("ix_notification_project_id", "project_id", "created_at"),)
    id: Mapped[str] = mapped_column(String, primary_key=True)
    kind: Mapped[str]
    """For example `alert.opened`."""
    severity: Mapped[str]
    """critical | warning | info."""
    state: Mapped[str | None]
    suite: Mapped[str | None]
    target_id: Mapped[str | None]
    branch: Mapped[str | None]
    subject_id: Mapped[str]
    """Id of the alert, or of the channel, that it is about."""
    content: Mapped[dict[str, Any]] = mapped_column(Json)
    """The fields of a `Notice` that people read, as they were when it happened, and the key of the link to its plot,
    if messages link to plots. It is stored itself, because every message has the same link."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)


class Delivery(ProjectOwned, Base):
    """One notification to one channel."""

    __tablename__ = "delivery"
    __table_args__ = (
        UniqueConstraint("channel_id", "notification_id"),
        Index("ix_delivery_channel", "project_id", "channel_id", "created_at"),
    )
    id: Mapped[str] = mapped_column(String, primary_key=True)
    channel_id: Mapped[str] = mapped_column(ForeignKey("channel.id"))
    notification_id: Mapped[str] = mapped_column(
        ForeignKey("notification.id"), index=True
    )
    state: Mapped[str]
    """pending | collected (for the next digest) | digested | delivered | failed | skipped."""
    reason: Mapped[str | None]
    """Why it failed or was skipped, or the digest that contains it."""
    by_hand: Mapped[bool]
    """True if a person requested it: it is then tried once, even while its channel waits after a failure."""
    attempts: Mapped[int]
    payload: Mapped[str | None]
    """The message; every attempt sends the same, but for a picture that is left out after an attempt failed."""
    progress: Mapped[dict[str, Any] | None] = mapped_column(JsonOrNull)
    """`{accepted, refused}`: the recipients to whom an e-mail is not sent again."""
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    requested_at: Mapped[datetime] = mapped_column(Timestamp)
    """When it was created or last requested again; it is given up a day later."""
    finished_at: Mapped[datetime | None] = mapped_column(Timestamp)


class DeliveryAttempt(ProjectOwned, Base):
    """One request to a receiver and its answer."""

    __tablename__ = "delivery_attempt"
    id: Mapped[str] = mapped_column(String, primary_key=True)
    delivery_id: Mapped[str] = mapped_column(ForeignKey("delivery.id"), index=True)
    number: Mapped[int]
    at: Mapped[datetime] = mapped_column(Timestamp)
    status: Mapped[int | None]
    """The HTTP status of the receiver's response; null: it did not respond."""
    answer: Mapped[str]
    """The beginning of the receiver's response."""
    error: Mapped[str | None]
    """Null: it accepted the message."""
    latency_ms: Mapped[float] = mapped_column(Float)
