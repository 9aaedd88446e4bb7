"""Channels through the API: their secrets, their keys, their addresses, the log of what they were sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from paceline_server.channels import service
from paceline_server.kernel import settings as process_settings
from paceline_server.store import access, outbox
from paceline_server.store.access import DEFAULT_PROJECT_ID, Actor
from paceline_server.store.session import read_scope, session_scope
from paceline_server.store.tables.channels import ChannelKey
from paceline_server.testing.receiver import Receiver, answering
from sqlalchemy import select
from sqlalchemy.exc import ProgrammingError
from standardwebhooks import Webhook, WebhookVerificationError

ChannelLab = Any


def verify(secret: str, receiver: Receiver, index: int = -1) -> dict[str, Any]:
    """The body of a received request, checked as a receiver does."""
    request = receiver.received[index]
    return dict(Webhook(secret).verify(request.body, dict(request.headers)))


@pytest.fixture
def wall_clock(lab: ChannelLab) -> None:
    """Signatures of now, which the library wants."""
    lab.clock.advance((datetime.now(UTC) - lab.clock.now()).total_seconds())


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.usefixtures("wall_clock")
def test_a_webhook_is_signed_by_the_specification(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    assert lab.publish() == ["team"]
    outbox.drain()
    body = verify(channel["secret"], receiver)
    [delivery] = lab.deliveries(channel["id"])
    assert receiver.received[0].headers["webhook-id"] == delivery["notification_id"]
    assert (body["type"], body["data"]["title"]) == ("alert.opened", "native slower")
    assert body["data"]["project"] == "default"
    with pytest.raises(WebhookVerificationError):
        verify(lab.make("another", receiver.url)["secret"], receiver)


@pytest.mark.shapes("embedded", "scaled")
@pytest.mark.usefixtures("wall_clock")
def test_while_a_key_is_replaced_both_verify(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    old = channel["secret"]
    new = lab.call("post", f"/channels/{channel['id']}/rotate", {"keep_hours": 1})[
        "secret"
    ]
    lab.publish()
    outbox.drain()
    assert verify(old, receiver) == verify(new, receiver)
    assert len(lab.channel(channel["id"])["keys"]) == 2
    newest = lab.call("post", f"/channels/{channel['id']}/rotate", {"keep_hours": 0})[
        "secret"
    ]
    lab.publish()
    outbox.drain()
    assert verify(newest, receiver)
    for ended in (old, new):
        with pytest.raises(WebhookVerificationError):
            verify(ended, receiver)


@pytest.mark.shapes("embedded", "scaled")
def test_a_secret_is_shown_once_and_requests_cannot_read_it(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    for path in ("/channels", f"/channels/{channel['id']}"):
        assert channel["secret"] not in json.dumps(lab.call("get", path))
    limits = access.of_request(DEFAULT_PROJECT_ID, Actor("account", None, "x"))
    query = select(ChannelKey.secret)
    with read_scope() as session:
        assert session.scalars(query).all() == [channel["secret"]]
    with access.using(limits), read_scope() as session:
        if session.get_bind().dialect.name == "postgresql":
            with pytest.raises(ProgrammingError, match="permission denied"):
                session.scalars(query).all()


def test_what_was_sent_and_answered_is_kept_and_can_be_sent_again(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    receiver.behaviours.append(answering(200, b"got it"))
    lab.publish()
    outbox.drain()
    [delivery] = lab.deliveries(channel["id"])
    detail = lab.detail(delivery["id"])
    assert (detail["state"], detail["payload"]) == (
        "delivered",
        receiver.received[0].body.decode(),
    )
    [attempt] = detail["log"]
    assert (attempt["status"], attempt["answer"], attempt["error"]) == (
        200,
        "got it",
        None,
    )
    assert attempt["latency_ms"] > 0
    lab.call("post", f"/deliveries/{delivery['id']}/redeliver", status=202)
    lab.call("post", f"/deliveries/{delivery['id']}/redeliver", status=409)
    outbox.drain()
    first, again = receiver.received
    assert (first.body, first.headers["webhook-id"]) == (
        again.body,
        again.headers["webhook-id"],
    )
    assert lab.detail(delivery["id"])["attempts"] == 2


def test_a_test_is_sent_to_its_channel_alone_and_tried_once(
    lab: ChannelLab, receiver: Receiver, other: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    lab.make("others", other.url)
    receiver.behaviours.append(answering(500))
    sent = lab.call("post", f"/channels/{channel['id']}/test", status=202)
    outbox.drain()
    lab.clock.advance(3600)
    outbox.drain()
    detail = lab.detail(sent["id"])
    assert (detail["state"], detail["reason"]) == (
        "failed",
        "the receiver answered 500",
    )
    assert lab.channel(channel["id"])["state"] == "healthy"
    assert (len(receiver.received), len(other.received)) == (1, 0)
    assert json.loads(receiver.received[0].body)["type"] == "channel.test"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "https://",
        "https://user:secret@example.org/",
        "https://example.org:99999/",
        "https://example.org/ space",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_address_of_a_receiver_is_refused(lab: ChannelLab, url: str) -> None:
    lab.call("post", "/channels", {"name": "x", "url": url}, status=422)


def test_an_address_of_our_own_network_is_refused_unless_the_admin_allows_it(
    lab: ChannelLab,
) -> None:
    body = {"name": "x", "url": "http://[::1]:9/"}
    assert "not a public address" in json.dumps(
        lab.call("post", "/channels", body, status=400)
    )
    channel = lab.make("allowed", "http://127.0.0.1:9/")
    patch = {"url": "http://169.254.169.254/latest/meta-data"}
    lab.call("patch", f"/channels/{channel['id']}", patch, status=400)


def test_the_query_of_an_address_is_shown_to_nobody(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", f"{receiver.url}&key=hidden")
    assert channel["address"] == receiver.url.partition("?")[0]
    log = json.dumps(lab.call("get", "/audit"))
    assert "hidden" not in log
    assert channel["id"] in log


def test_names_are_unique_among_the_channels_that_exist(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    second = {"name": "team", "url": receiver.url}
    refused = lab.call("post", "/channels", second, status=409)
    assert refused["code"] == "name_taken"
    lab.call("delete", f"/channels/{channel['id']}", status=204)
    assert lab.make("team", receiver.url)["id"] != channel["id"]
    assert len(lab.call("get", "/channels")["items"]) == 1


def test_a_deleted_channel_is_sent_nothing(lab: ChannelLab, receiver: Receiver) -> None:
    channel = lab.make("team", receiver.url)
    lab.publish()
    lab.call("delete", f"/channels/{channel['id']}", status=204)
    outbox.drain()
    assert lab.publish() == []
    assert receiver.received == []


@pytest.mark.shapes("embedded", "scaled")
def test_the_webhook_of_the_environment_is_a_channel_of_its_operator(
    lab: ChannelLab, receiver: Receiver
) -> None:
    own = process_settings.current()
    update = {"webhook_url": receiver.url, "channel_networks": ""}
    process_settings.set_current(own.model_copy(update=update))
    assert lab.publish() == ["PACELINE_WEBHOOK_URL"]
    outbox.drain()
    assert len(receiver.received) == 1
    [channel] = lab.call("get", "/channels")["items"]
    assert channel["origin"] == "environment"
    for method, body in (("patch", {"url": "https://example.org/"}), ("delete", None)):
        lab.call(method, f"/channels/{channel['id']}", body, status=409)
    process_settings.set_current(own)
    assert lab.publish() == []
    assert lab.call("get", "/channels")["items"] == []


def test_what_is_old_is_deleted(lab: ChannelLab, receiver: Receiver) -> None:
    channel = lab.make("team", receiver.url)
    lab.publish("old")
    outbox.drain()
    lab.clock.advance(service.KEPT.total_seconds() + 1)
    lab.publish("new")
    with session_scope() as session:
        service.delete_old(session, lab.clock.now())
    assert [row["title"] for row in lab.deliveries(channel["id"])] == ["new"]
