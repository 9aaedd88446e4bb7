"""Publishes a notice: stores the notification and, per channel, one delivery with its outbox message (I20).

All of this commits in the transaction of the event that the notice is about.
"""

from __future__ import annotations

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.channels import queries, signing
from paceline_server.channels.local_times import next_time
from paceline_server.channels.notices import PLOT_KEY, Notice, is_wanted
from paceline_server.kernel import clock, ids, settings
from paceline_server.store import outbox
from paceline_server.store.tables.channels import (
    Channel,
    ChannelKey,
    Delivery,
    Notification,
)

DELIVER = "channels.deliver"
"""Outbox topic for a delivery that waits to be sent; the key is `channel:delivery`."""
DIGEST = "channels.digest"
"""Outbox topic for a channel's digest that is due; the key is the channel's id."""
OF_ENVIRONMENT = "PACELINE_WEBHOOK_URL"
"""The name of the channel that is made for this variable."""
BROKEN = "The channel was broken."


def publish(
    session: Session, notice: Notice, *, except_channel: str | None = None
) -> list[str]:
    """Publish a notice to the channels of the session's project whose filters admit it; returns the names of those
    that will send it. `except_channel`: the id of a channel to leave out."""
    sync_environment_channel(session)
    row = store_notice(session, notice)
    notified = []
    for channel in queries.present_channels(session):
        if channel.id == except_channel or not is_wanted(channel.filters, notice):
            continue
        reason = _why_skipped(channel)
        if reason is not None:
            add_delivery(session, channel, row, skipped_because=reason)
            continue
        notified.append(channel.name)
        if channel.digest_at is None:
            add_delivery(session, channel, row)
        else:
            _collect(session, channel, row)
    return notified


def _why_skipped(channel: Channel) -> str | None:
    if channel.state == "broken":
        return BROKEN
    if channel.muted_until is not None and channel.muted_until > clock.now():
        return "The channel was muted."
    return None


def _collect(session: Session, channel: Channel, notification: Notification) -> None:
    """Store a delivery for the channel's next digest, and schedule that digest."""
    at = clock.now()
    if channel.digest_at is not None and not queries.has_collected(session, channel.id):
        due = next_time(channel.digest_at, channel.time_zone, at)
        due_in_s = (due - at).total_seconds()
        outbox.add(session, DIGEST, channel.id, due_in_s=due_in_s)
    session.add(_new_delivery(channel, notification, "collected"))
    session.flush()


def store_notice(session: Session, notice: Notice) -> Notification:
    """Store a notice as a notification, with a key to its plot if messages link to plots, and return it."""
    row = Notification(id=ids.new_id("ntf"), created_at=clock.now(), **notice.columns())
    if notice.ratios is not None and settings.current().slack_pictures:
        row.content[PLOT_KEY] = ids.new_secret("plot")
    session.add(row)
    session.flush()
    return row


def add_delivery(
    session: Session,
    channel: Channel,
    notification: Notification,
    *,
    by_hand: bool = False,
    skipped_because: str | None = None,
) -> Delivery:
    """Store a delivery of a notification to a channel, with its outbox message unless it is skipped."""
    delivery = _new_delivery(channel, notification, "pending")
    delivery.by_hand = by_hand
    if skipped_because is not None:
        delivery.state = "skipped"
        delivery.reason = skipped_because
        delivery.finished_at = delivery.created_at
    session.add(delivery)
    session.flush()
    if skipped_because is None:
        enqueue(session, delivery)
    return delivery


def _new_delivery(channel: Channel, notification: Notification, state: str) -> Delivery:
    at = clock.now()
    return Delivery(
        id=ids.new_id("dlv"),
        channel_id=channel.id,
        notification_id=notification.id,
        state=state,
        reason=None,
        by_hand=False,
        attempts=0,
        payload=None,
        progress=None,
        created_at=at,
        requested_at=at,
        finished_at=None,
    )


def enqueue(session: Session, delivery: Delivery) -> None:
    """Add the outbox message that carries out a pending delivery."""
    outbox.add(session, DELIVER, key_of(delivery))


def key_of(delivery: Delivery) -> str:
    """Return the key of a delivery's `DELIVER` messages."""
    return f"{delivery.channel_id}:{delivery.id}"


def split_key(key: str) -> tuple[str, str]:
    """Return the two ids in the key of a `DELIVER` message."""
    channel_id, _, delivery_id = key.partition(":")
    return channel_id, delivery_id


def lane_of(key: str) -> str:
    """Return the lane of a `DELIVER` message, its channel, so that messages of one channel wait for each other."""
    return split_key(key)[0]


def add_key(session: Session, channel_id: str) -> str:
    """Store a new signing key of a channel, and return its secret."""
    secret = signing.new_secret()
    session.add(
        ChannelKey(
            id=ids.new_id("chk"),
            channel_id=channel_id,
            secret=secret,
            created_at=clock.now(),
            valid_until=None,
        )
    )
    return secret


def sync_environment_channel(session: Session) -> None:
    """Create or update the project's channel of `PACELINE_WEBHOOK_URL`; delete it if the variable is not set."""
    url = settings.current().webhook_url
    channel = queries.channel_of_environment(session)
    if channel is not None:
        if url is None:
            channel.deleted_at = clock.now()
        elif channel.address != url:
            channel.address = url
        session.flush()
    elif url is not None:
        _make_channel_of_environment(session, url)


def _make_channel_of_environment(session: Session, url: str) -> None:
    channel = new_channel(
        OF_ENVIRONMENT, "webhook", url, origin="environment", created_by="paceline"
    )
    try:
        with session.begin_nested():
            session.add(channel)
            session.flush()
            add_key(session, channel.id)
            session.flush()
    except IntegrityError:
        return  # Another transaction made it at the same moment.


def new_channel(
    name: str,
    kind: str,
    address: str,
    *,
    origin: str,
    created_by: str,
    owner_id: str | None = None,
) -> Channel:
    """Return a healthy channel, not stored yet."""
    return Channel(
        id=ids.new_id("chn"),
        name=name,
        kind=kind,
        address=address,
        origin=origin,
        filters={},
        time_zone="UTC",
        template=None,
        digest_at=None,
        muted_until=None,
        state="healthy",
        failures=0,
        failing_since=None,
        retry_at=None,
        last_error=None,
        owner_id=owner_id,
        created_by=created_by,
        created_at=clock.now(),
        deleted_at=None,
    )
