"""Holds all SQL of channels."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Select, delete, func, or_, select, update
from sqlalchemy.orm import Session, undefer

from paceline_server.store.tables.accounts import Account
from paceline_server.store.tables.channels import (
    Channel,
    ChannelKey,
    Delivery,
    DeliveryAttempt,
    Notification,
)
from paceline_server.store.tables.projects import Project


def channels() -> Select[Any]:
    """Return a query for the channels that are not deleted."""
    return select(Channel).where(Channel.deleted_at.is_(None))


def present_channels(session: Session) -> list[Channel]:
    """Return the channels that are not deleted, by name."""
    return list(session.scalars(channels().order_by(Channel.name)))


def channel(session: Session, channel_id: str, *, lock: bool = False) -> Channel | None:
    """Return a channel that is not deleted."""
    query = channels().where(Channel.id == channel_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    return session.scalars(query).one_or_none()


def channel_of_environment(session: Session) -> Channel | None:
    """Return the channel that was made for `PACELINE_WEBHOOK_URL`."""
    query = channels().where(Channel.origin == "environment")
    return session.scalars(query).one_or_none()


def keys(session: Session, channel_id: str) -> list[ChannelKey]:
    """Return a channel's keys without their secrets, the newest first."""
    query = select(ChannelKey).where(ChannelKey.channel_id == channel_id)
    return list(session.scalars(query.order_by(ChannelKey.id.desc())))


def secrets_in_force(session: Session, channel_id: str, at: datetime) -> list[str]:
    """Return the secrets that sign now, the newest first. The database role of requests may not read them."""
    query = (
        select(ChannelKey)
        .options(undefer(ChannelKey.secret))
        .where(
            ChannelKey.channel_id == channel_id,
            or_(ChannelKey.valid_until.is_(None), ChannelKey.valid_until > at),
        )
        .order_by(ChannelKey.id.desc())
    )
    return [key.secret for key in session.scalars(query)]


def delete_keys(session: Session, channel_id: str) -> None:
    session.execute(delete(ChannelKey).where(ChannelKey.channel_id == channel_id))


def notification(session: Session, notification_id: str) -> Notification:
    return session.get_one(Notification, notification_id)


def notifications(
    session: Session, notification_ids: Iterable[str]
) -> dict[str, Notification]:
    """Return notifications by id."""
    query = select(Notification).where(Notification.id.in_(set(notification_ids)))
    return {row.id: row for row in session.scalars(query)}


def delivery(
    session: Session, delivery_id: str, *, lock: bool = False
) -> Delivery | None:
    query = select(Delivery).where(Delivery.id == delivery_id)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    return session.scalars(query).one_or_none()


def deliveries(channel_id: str) -> Select[Any]:
    return select(Delivery).where(Delivery.channel_id == channel_id)


def _others_pending(row: Delivery) -> Select[Any]:
    """Return a query for the other waiting deliveries of a delivery's channel."""
    return deliveries(row.channel_id).where(
        Delivery.state == "pending", Delivery.id != row.id
    )


def next_pending(session: Session, row: Delivery) -> Delivery | None:
    """Return the oldest of the channel's other waiting deliveries that no person requested."""
    query = _others_pending(row).where(Delivery.by_hand.is_(False))
    return session.scalars(
        query.order_by(Delivery.created_at, Delivery.id).limit(1)
    ).first()


def pending_by_hand(session: Session, row: Delivery) -> list[Delivery]:
    """Return the channel's other waiting deliveries that a person requested."""
    return list(session.scalars(_others_pending(row).where(Delivery.by_hand.is_(True))))


def attempts(session: Session, delivery_id: str) -> list[DeliveryAttempt]:
    """Return the attempts of a delivery, the oldest first."""
    query = select(DeliveryAttempt).where(DeliveryAttempt.delivery_id == delivery_id)
    return list(session.scalars(query.order_by(DeliveryAttempt.at, DeliveryAttempt.id)))


def counts_pending(session: Session, channel_ids: Iterable[str]) -> dict[str, int]:
    """Return the number of waiting deliveries of each channel."""
    query = (
        select(Delivery.channel_id, func.count())
        .where(
            Delivery.channel_id.in_(list(channel_ids)),
            Delivery.state.in_(("pending", "collected")),
        )
        .group_by(Delivery.channel_id)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def has_collected(session: Session, channel_id: str) -> bool:
    """Return whether deliveries wait for the channel's next digest."""
    query = select(func.count()).where(
        Delivery.channel_id == channel_id, Delivery.state == "collected"
    )
    return bool(session.scalar(query))


def lock_collected(session: Session, channel_id: str) -> list[Delivery]:
    """Lock and return the deliveries that wait for a channel's next digest, the oldest first."""
    query = (
        select(Delivery)
        .where(Delivery.channel_id == channel_id, Delivery.state == "collected")
        .order_by(Delivery.created_at, Delivery.id)
        .with_for_update()
    )
    return list(session.scalars(query))


def skip_pending(session: Session, channel_id: str, reason: str, at: datetime) -> None:
    """End all waiting deliveries of a channel."""
    session.execute(
        update(Delivery)
        .where(
            Delivery.channel_id == channel_id,
            Delivery.state.in_(("pending", "collected")),
        )
        .values(state="skipped", reason=reason, finished_at=at)
    )


def project_name(session: Session, project_id: str) -> str:
    return session.get_one(Project, project_id).name


def prune(session: Session, before: datetime) -> None:
    """Delete notifications from before an instant, with their deliveries."""
    old = select(Notification.id).where(Notification.created_at < before)
    of_old = select(Delivery.id).where(Delivery.notification_id.in_(old))
    for statement in (
        delete(DeliveryAttempt).where(DeliveryAttempt.delivery_id.in_(of_old)),
        delete(Delivery).where(Delivery.notification_id.in_(old)),
        delete(Notification).where(Notification.created_at < before),
    ):
        session.execute(statement.execution_options(synchronize_session=False))


def owner_name(session: Session, row: Channel) -> str:
    """Return the name of a channel's owner, or of the person who made it."""
    owner = None if row.owner_id is None else session.get(Account, row.owner_id)
    return row.created_by if owner is None else owner.name


def accounts(session: Session, account_ids: Iterable[str | None]) -> dict[str, Account]:
    """Return accounts by id."""
    query = select(Account).where(Account.id.in_({key for key in account_ids if key}))
    return {account.id: account for account in session.scalars(query)}
