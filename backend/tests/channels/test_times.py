"""What a channel is sent, and when: filters, digests, mutes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from typing import Any

import pytest
from paceline_server.channels.local_times import next_time
from paceline_server.store import outbox
from paceline_server.testing.receiver import Receiver

ChannelLab = Any
BERLIN = "Europe/Berlin"


def titles(receiver: Receiver) -> list[str]:
    return [json.loads(request.body)["data"]["title"] for request in receiver.received]


@pytest.mark.parametrize(
    ("filters", "is_told"),
    [
        ({}, True),
        ({"severities": ["critical"]}, True),
        ({"severities": ["warning", "info"]}, False),
        ({"suites": ["sort*"]}, True),
        ({"suites": ["hash*", "crypto"]}, False),
        ({"targets": ["lab-*"]}, True),
        ({"targets": ["pixel-*"]}, False),
        ({"branches": ["main"]}, True),
        ({"branches": ["release/*"]}, False),
        ({"states": ["open"]}, True),
        ({"states": ["fixed"]}, False),
        ({"kinds": ["alert.*"]}, True),
        ({"kinds": ["channel.*"]}, False),
        ({"suites": ["sorting"], "targets": ["pixel-*"]}, False),
    ],
)
def test_a_channel_is_sent_what_passes_every_filter(
    lab: ChannelLab, filters: dict[str, list[str]], is_told: bool
) -> None:
    lab.make("team", "http://127.0.0.1:9/", filters=filters)
    assert lab.publish() == (["team"] if is_told else [])


def test_an_event_without_a_value_passes_the_filter_of_it(lab: ChannelLab) -> None:
    lab.make("team", "http://127.0.0.1:9/", filters={"suites": ["hashing"]})
    assert lab.publish(suite=None, kind="channel.broken") == ["team"]


@pytest.mark.shapes("embedded", "scaled")
def test_a_digest_has_everything_since_the_last_one(
    lab: ChannelLab, receiver: Receiver, other: Receiver
) -> None:
    channel = lab.make("daily", receiver.url, digest_at="12:00")
    lab.make("at once", other.url)
    lab.publish("first", severity="info")
    lab.publish("second", severity="critical")
    outbox.drain()
    assert (len(receiver.received), len(other.received)) == (0, 2)
    assert lab.channel(channel["id"])["waiting"] == 2
    lab.clock.advance(3 * 3600)
    outbox.drain()
    [request] = receiver.received
    body = json.loads(request.body)
    assert (body["type"], body["data"]["severity"]) == ("digest", "critical")
    assert body["data"]["title"] == "2 events since the last digest"
    assert body["data"]["summary"] == "1 critical, 1 info"
    assert body["data"]["text"].splitlines() == [
        "second: 12.6 % slower",
        "first: 12.6 % slower",
    ]
    states = [row["state"] for row in lab.deliveries(channel["id"])]
    assert sorted(states) == ["delivered", "digested", "digested"]
    lab.clock.advance(24 * 3600)
    outbox.drain()
    assert len(receiver.received) == 1  # nothing happened, so nothing is sent
    lab.publish("third")
    lab.clock.advance(24 * 3600)
    outbox.drain()
    assert json.loads(receiver.received[1].body)["data"]["title"].startswith("1 event ")


def test_a_muted_channel_skips_what_happens_until_it_speaks_again(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    lab.call("post", f"/channels/{channel['id']}/mute", {"hours": 2})
    assert lab.publish("muted") == []
    lab.call("post", f"/channels/{channel['id']}/unmute")
    lab.call("post", f"/channels/{channel['id']}/unmute", status=409)
    lab.publish("heard")
    lab.call("post", f"/channels/{channel['id']}/mute", {"hours": 2})
    lab.clock.advance(2 * 3600)
    lab.publish("after its end")
    outbox.drain()
    assert sorted(titles(receiver)) == ["after its end", "heard"]
    reasons = {row["title"]: row["reason"] for row in lab.deliveries(channel["id"])}
    assert reasons["muted"] == "The channel was muted."


def test_times_and_filters_change_and_end(lab: ChannelLab, receiver: Receiver) -> None:
    channel = lab.make("team", receiver.url, digest_at="08:00")
    path = f"/channels/{channel['id']}"
    kept = lab.call("patch", path, {"filters": {"suites": ["hashing"]}})
    assert kept["digest_at"] == "08:00"
    ended = lab.call("patch", path, {"digest_at": None})
    assert ended["digest_at"] is None
    assert ended["filters"]["suites"] == ["hashing"]
    for wrong in (
        {"time_zone": "Mars/Olympus"},
        {"digest_at": "24:00"},
        {"filters": {"severities": ["terrible"]}},
    ):
        lab.call("patch", path, wrong, status=422)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        # an hour that comes twice, on 2026-10-25: its end is always later than now
        ("2026-10-25T00:20:00Z", "2026-10-25T00:30:00Z"),
        ("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
        ("2026-10-25T01:10:00Z", "2026-10-25T01:30:00Z"),
        # an hour that is skipped, on 2026-03-29
        ("2026-03-29T00:00:00Z", "2026-03-29T01:30:00Z"),
        ("2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"),
    ],
)
def test_the_next_time_of_day_is_after_now_where_clocks_change(
    at: str, expected: str
) -> None:
    found = next_time(time(2, 30), BERLIN, datetime.fromisoformat(at))
    assert found == datetime.fromisoformat(expected)
    assert found.tzinfo is UTC
