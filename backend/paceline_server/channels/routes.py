"""Serves channels over HTTP: create, change, test and delete them, and read the log of their deliveries; and the plots
that their messages link to."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from paceline_server.accounts.auth import ANYONE, Principal, require
from paceline_server.accounts.idempotency import Once
from paceline_server.channels import service
from paceline_server.channels.schemas import (
    ChannelCreatedOut,
    ChannelIn,
    ChannelMuteIn,
    ChannelOut,
    ChannelPatchIn,
    DeliveryDetailOut,
    DeliveryOut,
    RotateIn,
)
from paceline_server.kernel.wire import Page
from paceline_server.store.page import Cursor, Limit
from paceline_server.store.session import DbSession, SystemSession

router = APIRouter(tags=["channels"])

Writer = Annotated[Principal, Depends(require("channels.write"))]
"""Reading also needs this permission, because not everybody may see the addresses and responses of receivers."""


@router.get("/channels")
def list_channels(
    _: Writer, session: DbSession, limit: Limit = 50, cursor: Cursor = None
) -> Page[ChannelOut]:
    """List the project's channels, the newest first."""
    return service.list_channels(session, limit=limit, cursor=cursor)


@router.post("/channels", status_code=201)
def create_channel(
    body: ChannelIn, who: Writer, session: DbSession, once: Once
) -> ChannelCreatedOut:
    """Create a channel. The secret with which receivers check signatures is returned only here."""
    return once.answer_secret(
        session, lambda: service.create_channel(session, body, who)
    )


@router.get("/channels/{channel_id}")
def get_channel(channel_id: str, _: Writer, session: DbSession) -> ChannelOut:
    """Return one channel with its health."""
    return service.get_channel(session, channel_id)


@router.patch("/channels/{channel_id}")
def change_channel(
    channel_id: str, body: ChannelPatchIn, who: Writer, session: DbSession
) -> ChannelOut:
    """Change a channel's name, address, filters or times. 409 for the channel of `PACELINE_WEBHOOK_URL`."""
    return service.change_channel(session, channel_id, body, who)


@router.delete("/channels/{channel_id}", status_code=204)
def delete_channel(channel_id: str, who: Writer, session: DbSession) -> None:
    """Delete a channel; its waiting messages are not sent."""
    service.delete_channel(session, channel_id, who)


@router.post("/channels/{channel_id}/rotate")
def rotate_channel_key(
    channel_id: str, body: RotateIn, who: Writer, session: DbSession
) -> ChannelCreatedOut:
    """Create a new signing key. The current one also signs for `keep_hours`."""
    return service.rotate_key(session, channel_id, body.keep_hours, who)


@router.post("/channels/{channel_id}/mute")
def mute_channel(
    channel_id: str, body: ChannelMuteIn, who: Writer, session: DbSession
) -> ChannelOut:
    """Mute a channel for some hours. Events in that time are listed as skipped."""
    return service.mute_channel(session, channel_id, body.hours, who)


@router.post("/channels/{channel_id}/unmute")
def unmute_channel(channel_id: str, who: Writer, session: DbSession) -> ChannelOut:
    """End the mute of a channel now."""
    return service.unmute_channel(session, channel_id, who)


@router.post("/channels/{channel_id}/test", status_code=202)
def test_channel(channel_id: str, who: Writer, session: DbSession) -> DeliveryOut:
    """Send a test at once. If it arrives, a failing or broken channel is healthy again."""
    return service.send_test(session, channel_id, who)


@router.get("/channels/{channel_id}/deliveries")
def list_deliveries(
    channel_id: str,
    _: Writer,
    session: DbSession,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[DeliveryOut]:
    """List the channel's deliveries, the newest first."""
    return service.list_deliveries(session, channel_id, limit=limit, cursor=cursor)


@router.get("/deliveries/{delivery_id}")
def get_delivery(delivery_id: str, _: Writer, session: DbSession) -> DeliveryDetailOut:
    """Return one delivery with its payload and every attempt with answer and latency."""
    return service.delivery_detail(session, delivery_id)


@router.post("/deliveries/{delivery_id}/redeliver", status_code=202)
def redeliver(delivery_id: str, who: Writer, session: DbSession) -> DeliveryOut:
    """Send a finished delivery again, with the same id. 409 while it is pending."""
    return service.redeliver(session, delivery_id, who)


@router.get(
    "/plots/{notification_id}.png",
    response_class=Response,
    responses={
        200: {
            "content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}
        }
    },
    dependencies=[ANYONE],
)
def get_plot(notification_id: str, session: SystemSession, key: str = "") -> Response:
    """Return the plot that a message to Slack links to, as PNG. Its key is the only credential; it opens this plot alone
    and works for 30 days. 404 for everything else."""
    return Response(
        service.draw_linked_plot(session, notification_id, key),
        media_type="image/png",
        headers={"Cache-Control": "private, max-age=86400, immutable"},
    )
