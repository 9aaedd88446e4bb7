"""Creates, changes and deletes channels, and lists and repeats deliveries.

A secret is shown when its key is made and never again. The channel of the environment cannot be changed here, because
it may reach addresses that members may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from paceline_server.accounts.principal import Principal
from paceline_server.accounts.schemas import AccountOut
from paceline_server.channels import publishing, queries
from paceline_server.channels.addresses import AddressPolicy, literal_address
from paceline_server.channels.notices import Link, Notice, Ratios, Severity
from paceline_server.channels.plot_links import draw_linked_plot
from paceline_server.channels.publishing import publish, sync_environment_channel
from paceline_server.channels.schemas import (
    ChannelCreatedOut,
    ChannelIn,
    ChannelKeyOut,
    ChannelOut,
    ChannelPatchIn,
    DeliveryAttemptOut,
    DeliveryDetailOut,
    DeliveryOut,
    FiltersOut,
)
from paceline_server.kernel import clock, settings
from paceline_server.kernel.errors import conflict, invalid_request, not_found
from paceline_server.kernel.wire import Page
from paceline_server.store import audit
from paceline_server.store.page import page
from paceline_server.store.tables.channels import Channel, Delivery, Notification

KEPT = timedelta(days=90)
"""Notifications and deliveries are kept this long."""

__all__ = [
    "Link",
    "Notice",
    "Ratios",
    "Severity",
    "change_channel",
    "create_channel",
    "delete_channel",
    "delete_old",
    "delivery_detail",
    "draw_linked_plot",
    "get_channel",
    "list_channels",
    "list_deliveries",
    "mute_channel",
    "publish",
    "redeliver",
    "rotate_key",
    "send_test",
    "sync_environment_channel",
    "unmute_channel",
]


def list_channels(
    session: Session, *, limit: int, cursor: str | None
) -> Page[ChannelOut]:
    """Return the project's channels, the newest first."""
    rows = page(
        session,
        queries.channels(),
        [Channel.created_at, Channel.id],
        lambda row: (row.created_at, row.id),
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    return Page(items=_channels_out(session, rows.items), next=rows.next)


def get_channel(session: Session, channel_id: str) -> ChannelOut:
    """Return one channel. Raises 404."""
    return _channels_out(session, [_find(session, channel_id)])[0]


def create_channel(
    session: Session, spec: ChannelIn, who: Principal
) -> ChannelCreatedOut:
    """Create a channel with its first key. Raises 400 `invalid_request` for a refused address, 409 `name_taken`."""
    address = _address_of(spec.url, spec.recipients)
    channel = publishing.new_channel(
        spec.name,
        spec.kind,
        address,
        origin="api",
        created_by=who.name,
        owner_id=who.account_id,
    )
    channel.filters = spec.filters.model_dump()
    channel.time_zone = spec.time_zone
    channel.template = spec.template
    channel.digest_at = _time(spec.digest_at)
    _save_name(session, channel, spec.name)
    secret = None
    if spec.kind == "webhook":
        secret = publishing.add_key(session, channel.id)
    detail = {
        "name": spec.name,
        "kind": spec.kind,
        "address": _shown_address(spec.kind, address),
    }
    audit.record(session, who.name, "create", "channel", channel.id, detail)
    session.flush()
    return ChannelCreatedOut(channel=get_channel(session, channel.id), secret=secret)


def change_channel(
    session: Session, channel_id: str, patch: ChannelPatchIn, who: Principal
) -> ChannelOut:
    """Change the fields that `patch` names. A new address makes the channel healthy. Raises 404, and 400 and 409 as
    `create_channel` does."""
    channel = _find_own(session, channel_id)
    detail: dict[str, Any] = patch.model_dump(
        exclude_unset=True, exclude={"url", "recipients", "template"}
    )
    if patch.name is not None and patch.name != channel.name:
        _save_name(session, channel, patch.name)
    if patch.url is not None or patch.recipients is not None:
        if (channel.kind == "email") == (patch.url is not None):
            raise invalid_request(
                "E-mail has recipients, every other kind a url.",
                {"body": "url and recipients are of different kinds"},
            )
        channel.address = _address_of(patch.url, patch.recipients)
        channel.state = "healthy"
        channel.failures = 0
        channel.failing_since = channel.retry_at = channel.last_error = None
        detail["address"] = _shown_address(channel.kind, channel.address)
    if patch.template is not None:
        if channel.kind != "chat":
            raise invalid_request(
                "Only a chat has a template.", {"body.template": "not of this kind"}
            )
        channel.template = patch.template
        detail["template"] = "changed"
    _change_filters_and_times(channel, patch)
    audit.record(session, who.name, "change", "channel", channel.id, detail)
    session.flush()
    return get_channel(session, channel_id)


def _change_filters_and_times(channel: Channel, patch: ChannelPatchIn) -> None:
    if patch.filters is not None:
        channel.filters = patch.filters.model_dump()
    if patch.time_zone is not None:
        channel.time_zone = patch.time_zone
    if "digest_at" in patch.model_fields_set:
        channel.digest_at = _time(patch.digest_at)


def _time(text: str | None) -> time | None:
    return None if text is None else time.fromisoformat(text)


def mute_channel(
    session: Session, channel_id: str, hours: float, who: Principal
) -> ChannelOut:
    """Mute a channel for some hours. Raises 404."""
    channel = _find(session, channel_id, lock=True)
    channel.muted_until = clock.now() + timedelta(hours=hours)
    detail = {"name": channel.name, "until": channel.muted_until.isoformat()}
    audit.record(session, who.name, "mute", "channel", channel.id, detail)
    session.flush()
    return get_channel(session, channel_id)


def unmute_channel(session: Session, channel_id: str, who: Principal) -> ChannelOut:
    """End the mute of a channel now. Raises 404, 409 if it is not muted."""
    channel = _find(session, channel_id, lock=True)
    if channel.muted_until is None or channel.muted_until <= clock.now():
        raise conflict(f"Channel {channel.name} is not muted.")
    channel.muted_until = None
    audit.record(
        session, who.name, "unmute", "channel", channel.id, {"name": channel.name}
    )
    session.flush()
    return get_channel(session, channel_id)


def delete_channel(session: Session, channel_id: str, who: Principal) -> None:
    """Delete a channel with its keys, and skip its waiting deliveries. Raises 404."""
    channel = _find_own(session, channel_id)
    channel.deleted_at = clock.now()
    queries.delete_keys(session, channel.id)
    queries.skip_pending(session, channel.id, "The channel was deleted.", clock.now())
    audit.record(
        session, who.name, "delete", "channel", channel.id, {"name": channel.name}
    )


def rotate_key(
    session: Session, channel_id: str, keep_hours: int, who: Principal
) -> ChannelCreatedOut:
    """Create a new key. The previous one also signs for `keep_hours`; older ones stop. Raises 404, 409."""
    channel = _find(session, channel_id, lock=True)
    if channel.kind != "webhook":
        raise conflict("Only webhooks are signed.")
    at = clock.now()
    ends = at + timedelta(hours=keep_hours)
    for key in queries.keys(session, channel_id):
        key.valid_until = ends if key.valid_until is None else min(key.valid_until, at)
    secret = publishing.add_key(session, channel_id)
    audit.record(
        session, who.name, "rotate_key", "channel", channel.id, {"name": channel.name}
    )
    session.flush()
    return ChannelCreatedOut(channel=get_channel(session, channel_id), secret=secret)


def send_test(session: Session, channel_id: str, who: Principal) -> DeliveryOut:
    """Send a test to a channel at once, even if it is broken; a success makes it healthy again. Raises 404."""
    channel = _find(session, channel_id)
    notice = Notice(
        kind="channel.test",
        severity="info",
        subject_id=channel.id,
        title=f"Test of channel {channel.name}",
        summary="Nothing happened: this shows that messages arrive.",
        text=f"{who.name} asked for it.",
        url=f"{settings.current().public_url or ''}/channels/{channel.id}",
    )
    row = publishing.store_notice(session, notice)
    delivery = publishing.add_delivery(session, channel, row, by_hand=True)
    audit.record(
        session, who.name, "test", "channel", channel.id, {"name": channel.name}
    )
    return _delivery_out(delivery, row)


def list_deliveries(
    session: Session, channel_id: str, *, limit: int, cursor: str | None
) -> Page[DeliveryOut]:
    """Return a channel's deliveries, the newest first. Raises 404."""
    _find(session, channel_id)
    rows = page(
        session,
        queries.deliveries(channel_id),
        [Delivery.created_at, Delivery.id],
        lambda row: (row.created_at, row.id),
        lambda row: row,
        limit=limit,
        cursor=cursor,
    )
    notifications = queries.notifications(
        session, (row.notification_id for row in rows.items)
    )
    return Page(
        items=[
            _delivery_out(row, notifications[row.notification_id]) for row in rows.items
        ],
        next=rows.next,
    )


def delivery_detail(session: Session, delivery_id: str) -> DeliveryDetailOut:
    """Return a delivery with its payload and attempts. Raises 404."""
    delivery = _find_delivery(session, delivery_id)
    row = queries.notification(session, delivery.notification_id)
    log = [
        DeliveryAttemptOut.model_validate(attempt)
        for attempt in queries.attempts(session, delivery_id)
    ]
    return DeliveryDetailOut(
        **_delivery_out(delivery, row).model_dump(), payload=delivery.payload, log=log
    )


def redeliver(session: Session, delivery_id: str, who: Principal) -> DeliveryOut:
    """Send a finished delivery again at once, with the same id and payload. Raises 404, 409 while it waits or if its
    channel was deleted."""
    delivery = _find_delivery(session, delivery_id, lock=True)
    if queries.channel(session, delivery.channel_id) is None:
        raise conflict("The channel was deleted.")
    if delivery.state in ("pending", "collected"):
        raise conflict("This delivery is not over yet: it will be sent by itself.")
    delivery.state = "pending"
    delivery.reason = delivery.finished_at = None
    delivery.by_hand = True
    delivery.requested_at = clock.now()
    publishing.enqueue(session, delivery)
    row = queries.notification(session, delivery.notification_id)
    detail = {"delivery_id": delivery.id}
    audit.record(session, who.name, "redeliver", "channel", delivery.channel_id, detail)
    return _delivery_out(delivery, row)


def delete_old(session: Session, at: datetime) -> None:
    """Delete notifications and deliveries that are older than `KEPT`."""
    queries.prune(session, at - KEPT)


def _find(session: Session, channel_id: str, *, lock: bool = False) -> Channel:
    channel = queries.channel(session, channel_id, lock=lock)
    if channel is None:
        raise not_found("channel", channel_id)
    return channel


def _find_own(session: Session, channel_id: str) -> Channel:
    """Return a channel that members may change, locked."""
    channel = _find(session, channel_id, lock=True)
    if channel.origin == "environment":
        raise conflict(
            "The server's operator set this channel with PACELINE_WEBHOOK_URL: change it there."
        )
    return channel


def _find_delivery(
    session: Session, delivery_id: str, *, lock: bool = False
) -> Delivery:
    delivery = queries.delivery(session, delivery_id, lock=lock)
    if delivery is None:
        raise not_found("delivery", delivery_id)
    return delivery


def _save_name(session: Session, channel: Channel, name: str) -> None:
    try:
        with session.begin_nested():
            channel.name = name
            session.add(channel)
            session.flush()
    except IntegrityError:
        raise conflict(
            f"A channel named {name!r} exists already: choose another name.",
            "name_taken",
        ) from None


def _refuse_address(url: str) -> None:
    """Raise 400 for a URL whose host is an address that channels may not reach. A name is checked only when a
    connection is made, because its address may change."""
    address = literal_address(urlsplit(url).hostname or "")
    policy = AddressPolicy(settings.current().reachable_networks)
    if address is not None and not policy.permits(address):
        raise invalid_request(
            f"{address} is not a public address. The installation's admin allows others with "
            "PACELINE_CHANNEL_NETWORKS.",
            {"body.url": "not a public address"},
        )


def _address_of(url: str | None, recipients: list[str] | None) -> str:
    """Return the address of a channel as it is stored. Raises 400 if it is not public, 409 `no_mail_server`."""
    if url is not None:
        _refuse_address(url)
        return url
    if settings.current().smtp_host is None:
        raise conflict(
            "This installation sends no e-mail: its operator sets PACELINE_SMTP_HOST and PACELINE_SMTP_FROM.",
            "no_mail_server",
        )
    return ", ".join(dict.fromkeys(recipients or ()))


def _shown_address(kind: str, address: str) -> str:
    """Return an address as people may see it, without a chat's path, which is a secret, and without a query, which may
    hold one."""
    if kind == "email":
        return address
    parts = urlsplit(address)._replace(query="", fragment="")
    return urlunsplit(parts if kind == "webhook" else parts._replace(path="/…"))


def _channels_out(session: Session, rows: Sequence[Channel]) -> list[ChannelOut]:
    waiting = queries.counts_pending(session, [row.id for row in rows])
    owners = queries.accounts(session, (row.owner_id for row in rows))
    return [
        ChannelOut.of_row(
            row,
            address=_shown_address(row.kind, row.address),
            waiting=waiting.get(row.id, 0),
            filters=FiltersOut.model_validate(row.filters),
            digest_at=_time_out(row.digest_at),
            owner=_account_out(owners.get(row.owner_id or "")),
            keys=_keys_out(session, row.id),
        )
        for row in rows
    ]


def _time_out(at: time | None) -> str | None:
    return None if at is None else at.strftime("%H:%M")


def _account_out(account: object | None) -> AccountOut | None:
    return None if account is None else AccountOut.model_validate(account)


def _keys_out(session: Session, channel_id: str) -> list[ChannelKeyOut]:
    at = clock.now()
    return [
        ChannelKeyOut.model_validate(key)
        for key in queries.keys(session, channel_id)
        if key.valid_until is None or key.valid_until > at
    ]


def _delivery_out(delivery: Delivery, notification: Notification) -> DeliveryOut:
    return DeliveryOut.of_row(
        delivery,
        kind=notification.kind,
        severity=notification.severity,
        title=notification.content["title"],
        url=notification.content["url"],
    )
