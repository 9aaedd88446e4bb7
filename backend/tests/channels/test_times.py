"""What a channel is sent, and when: filters, quiet hours, digests, mutes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time
from typing import Any

import pytest
from paceline_server.channels.local_times import QuietHours, next_time, quiet_until
from paceline_server.store import outbox
from paceline_server.testing.receiver import Receiver

ChannelLab = Any
BERLIN = "Europe/Berlin"
NIGHT = QuietHours(time(22), time(7))


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
def test_what_happens_in_quiet_hours_follows_at_their_end(
    lab: ChannelLab, receiver: Receiver
) -> None:
    """The frozen clock begins at 09:26:53 UTC, which is 10:26:53 in Berlin."""
    lab.make(
        "team",
        receiver.url,
        time_zone=BERLIN,
        quiet_hours={"begins": "10:00", "ends": "10:30"},
    )
    assert lab.publish("at night") == ["team"]
    outbox.drain()
    lab.clock.advance(186)
    outbox.drain()
    assert receiver.received == []
    lab.clock.advance(1)
    outbox.drain()
    assert titles(receiver) == ["at night"]
    lab.publish("by day")
    outbox.drain()
    assert titles(receiver) == ["at night", "by day"]


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
    channel = lab.make(
        "team",
        receiver.url,
        digest_at="08:00",
        quiet_hours={"begins": "22:00", "ends": "07:00"},
    )
    path = f"/channels/{channel['id']}"
    kept = lab.call("patch", path, {"filters": {"suites": ["hashing"]}})
    assert (kept["digest_at"], kept["quiet_hours"]["ends"]) == ("08:00", "07:00")
    ended = lab.call("patch", path, {"digest_at": None, "quiet_hours": None})
    assert (ended["digest_at"], ended["quiet_hours"]) == (None, None)
    assert ended["filters"]["suites"] == ["hashing"]
    for wrong in (
        {"time_zone": "Mars/Olympus"},
        {"digest_at": "24:00"},
        {"quiet_hours": {"begins": "07:00", "ends": "07:00"}},
        {"filters": {"severities": ["terrible"]}},
    ):
        lab.call("patch", path, wrong, status=422)


@pytest.mark.parametrize(
    ("at", "until"),
    [
        ("2026-01-10T20:59:59Z", None),
        ("2026-01-10T21:00:00Z", "2026-01-11T06:00:00Z"),
        ("2026-01-11T05:59:59Z", "2026-01-11T06:00:00Z"),
        ("2026-01-11T06:00:00Z", None),
        # the clocks of Berlin go forward on 2026-03-29: the night is an hour shorter
        ("2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"),
    ],
)
def test_quiet_hours_over_midnight_are_those_of_the_time_zone(
    at: str, until: str | None
) -> None:
    expected = None if until is None else datetime.fromisoformat(until)
    assert quiet_until(NIGHT, BERLIN, datetime.fromisoformat(at)) == expected


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
