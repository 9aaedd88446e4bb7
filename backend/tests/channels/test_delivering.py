"""Deliveries whose receivers fail: nobody else waits for them, nothing is lost, and a day ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from paceline_contract.testing.child_process import ChildProcess
from paceline_contract.testing.waiting import WITHIN_S
from paceline_server.channels import delivering, retrying
from paceline_server.kernel.settings import Settings
from paceline_server.runtime import broker
from paceline_server.runtime.embedded import Background
from paceline_server.runtime.sweeper import ANNOUNCE_AGAIN_S
from paceline_server.store import outbox
from paceline_server.store.session import (
    Database,
    read_scope,
    session_scope,
)
from paceline_server.store.session import (
    database as current_database,
)
from paceline_server.store.tables.messages import OutboxMessage
from paceline_server.testing import receiver as behaviours
from paceline_server.testing.concurrency import ContextThread
from paceline_server.testing.receiver import (
    Receiver,
    ReceiverHandler,
    answering,
    receiving,
)
from paceline_server.testing.servers import Redis
from sqlalchemy import select

ChannelLab = Any
DAY_S = 24 * 3600
EVENTS = 300

WORKER = """
import sys
from datetime import datetime
from paceline_server.kernel import clock, settings
from paceline_server.runtime import handlers
from paceline_server.store import outbox, session

url, at, message_id = sys.argv[1:]
settings.set_current(settings.Settings(database_url=url, channel_networks="127.0.0.1", webhook_timeout_s=25))
with clock.using(clock.FrozenClock(datetime.fromisoformat(at))), session.using(session.Database(url)):
    handlers.load()
    print(outbox.carry_out(int(message_id)))
"""


def ids(receiver: Receiver) -> list[str]:
    return [request.headers["webhook-id"] for request in receiver.received]


def titles(receiver: Receiver) -> list[str]:
    return [json.loads(request.body)["data"]["title"] for request in receiver.received]


def waiting_messages() -> list[int]:
    query = select(OutboxMessage.id).where(OutboxMessage.done_at.is_(None))
    with read_scope() as session:
        return list(session.scalars(query.order_by(OutboxMessage.id)))


@pytest.fixture
def dead(port: int) -> str:
    """An address where nobody listens."""
    return f"http://127.0.0.1:{port}/hook"


@pytest.mark.shapes("embedded", "scaled")
def test_a_dead_receiver_neither_delays_nor_repeats_the_others(
    lab: ChannelLab, receiver: Receiver, other: Receiver, dead: str
) -> None:
    channel = lab.make("dead", dead)
    lab.make("first", receiver.url)
    lab.make("second", other.url)
    for number in range(20):
        lab.publish(f"n{number}")
    outbox.drain()
    for _ in range(8):
        lab.clock.advance(3600)
        assert outbox.drain() <= 1  # the others are held back without a look at each
    expected = [f"n{number}" for number in range(20)]
    assert sorted(titles(receiver)) == sorted(titles(other)) == sorted(expected)
    assert sorted(ids(receiver)) == sorted(ids(other))
    assert lab.channel(channel["id"])["state"] == "failing"
    assert lab.channel(channel["id"])["waiting"] == 20
    attempts = [row["attempts"] for row in lab.deliveries(channel["id"])]
    assert 1 <= sum(attempts) <= 9  # one message at a time asks whether it is back


@pytest.mark.shapes("embedded", "scaled")
def test_an_hour_of_500_loses_nothing_and_repeats_the_same_message(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    receiver.usual = answering(500, b"no disk")
    lab.publish()
    lab.clock.advance(1)
    for _ in range(60):
        outbox.drain()
        lab.clock.advance(60)
    failed = len(receiver.received)
    assert 4 <= failed <= len(retrying.PAUSES_S)
    state = lab.channel(channel["id"])
    assert (state["state"], state["last_error"]) == (
        "failing",
        "the receiver answered 500",
    )
    receiver.usual = answering(204)
    lab.clock.advance(3600)
    outbox.drain()
    assert lab.channel(channel["id"])["state"] == "healthy"
    assert len(set(ids(receiver))) == 1
    assert len({request.body for request in receiver.received}) == 1
    [delivery] = lab.deliveries(channel["id"])
    log = lab.detail(delivery["id"])["log"]
    assert [entry["status"] for entry in log] == [500] * failed + [204]
    assert log[0]["answer"] == "no disk"


@pytest.mark.shapes("embedded", "scaled")
def test_after_a_day_a_channel_is_broken_and_its_owner_hears_by_another(
    lab: ChannelLab, receiver: Receiver, dead: str
) -> None:
    broken = lab.make("dead", dead)
    lab.make("alive", receiver.url)
    lab.publish("first")
    outbox.drain()
    for _ in range(26):
        lab.clock.advance(3600)
        outbox.drain()
    assert lab.channel(broken["id"])["state"] == "broken"
    assert titles(receiver) == ["first", "Channel dead is broken"]
    news = json.loads(receiver.received[-1].body)
    assert news["type"] == "channel.broken"
    assert broken["created_by"] in news["data"]["text"]
    lab.publish("second")
    outbox.drain()
    states = {row["title"]: row["state"] for row in lab.deliveries(broken["id"])}
    assert states == {"first": "failed", "second": "skipped"}


def test_a_broken_channel_is_healthy_again_when_a_test_arrives(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    receiver.behaviours.append(answering(410))
    lab.publish("first")
    outbox.drain()
    assert lab.channel(channel["id"])["state"] == "broken"
    lab.call("post", f"/channels/{channel['id']}/test", status=202)
    outbox.drain()
    assert lab.channel(channel["id"])["state"] == "healthy"
    lab.publish("second")
    [first, _, _] = lab.deliveries(channel["id"])
    lab.call("post", f"/deliveries/{first['id']}/redeliver", status=202)
    outbox.drain()
    assert sorted(titles(receiver)) == [
        "Test of channel team",
        "first",
        "first",
        "second",
    ]


def test_a_receiver_says_when_to_come_again(
    lab: ChannelLab, receiver: Receiver
) -> None:
    lab.make("team", receiver.url)
    receiver.behaviours.append(answering(429, headers={"Retry-After": "600"}))
    lab.publish()
    outbox.drain()
    lab.clock.advance(599)
    outbox.drain()
    assert len(receiver.received) == 1
    lab.clock.advance(1 + delivering.AFTER_OTHERS.total_seconds())
    outbox.drain()
    assert len(receiver.received) == 2


def test_a_message_that_one_receiver_refuses_for_a_day_breaks_no_channel(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)

    def refuse_bad(handler: ReceiverHandler) -> None:
        is_bad = b'"bad"' in handler.server.received[-1].body
        answering(400 if is_bad else 204)(handler)

    receiver.usual = refuse_bad
    lab.publish("bad")
    for number in range(30):
        outbox.drain()
        lab.clock.advance(3600)
        lab.publish(f"n{number}")
    outbox.drain()
    states = {row["title"]: row["state"] for row in lab.deliveries(channel["id"])}
    assert states.pop("bad") == "failed"
    assert set(states.values()) == {"delivered"}
    assert lab.channel(channel["id"])["state"] == "healthy"


@pytest.mark.shapes("embedded", "scaled")
def test_no_transaction_is_open_during_a_request(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    receiver.behaviours.append(behaviours.hang)
    lab.publish()
    [message_id] = waiting_messages()
    sending = ContextThread(target=outbox.carry_out, args=(message_id,))
    sending.start()
    try:
        receiver.wait_for(1)
        status = current_database().engine.pool.status()
        assert "Current Checked out connections: 0" in status
    finally:
        receiver.let_go.set()
        sending.join(WITHIN_S)
    assert lab.channel(channel["id"])["state"] == "failing"  # it hung up


def elsewhere(message_id: int, at: str) -> ChildProcess[str]:
    """A worker in another process that carries the message out."""
    argv = [sys.executable, "-c", WORKER, current_database().url, at, str(message_id)]
    return ChildProcess[str](argv, stdout=subprocess.PIPE, text=True)


@pytest.mark.shapes("embedded", "scaled")
def test_a_worker_killed_after_it_sent_sends_again_with_the_same_id(
    lab: ChannelLab, receiver: Receiver
) -> None:
    channel = lab.make("team", receiver.url)
    lab.publish()
    [message_id] = waiting_messages()
    workers: list[ChildProcess[str]] = []
    started = threading.Event()

    def kill(handler: ReceiverHandler) -> None:
        started.wait(WITHIN_S)
        os.kill(workers[0].pid, signal.SIGKILL)
        behaviours.hang(handler)

    receiver.behaviours.append(kill)
    workers.append(elsewhere(message_id, lab.clock.now().isoformat()))
    started.set()
    with workers[0]:
        workers[0].communicate(timeout=WITHIN_S)
    assert workers[0].returncode == -signal.SIGKILL
    assert not outbox.carry_out(message_id)  # claimed
    lab.clock.advance(outbox.CLAIM_S)
    with read_scope() as session:
        assert outbox.list_unannounced(session, lab.clock.now(), ANNOUNCE_AGAIN_S) == [
            message_id
        ]
    assert outbox.carry_out(message_id)
    assert len(receiver.received) == 2
    assert len(set(ids(receiver))) == 1
    assert lab.deliveries(channel["id"])[0]["state"] == "delivered"


@pytest.mark.shapes("embedded", "scaled")
def test_a_slow_receiver_is_told_once_whoever_else_looks_for_work(
    lab: ChannelLab, receiver: Receiver
) -> None:
    lab.make("team", receiver.url)
    release = threading.Event()

    def answer_late(handler: ReceiverHandler) -> None:
        release.wait(WITHIN_S)
        answering(200)(handler)

    receiver.behaviours.append(answer_late)
    lab.publish()
    [message_id] = waiting_messages()
    first = ContextThread(target=outbox.carry_out, args=(message_id,))
    first.start()
    try:
        receiver.wait_for(1)
        at = lab.clock.now()
        with read_scope() as session:
            soon = at + timedelta(seconds=2 * ANNOUNCE_AGAIN_S)
            assert outbox.list_unannounced(session, soon, ANNOUNCE_AGAIN_S) == []
        with elsewhere(message_id, at.isoformat()) as worker:
            said, _ = worker.communicate(timeout=WITHIN_S)
        assert said.strip() == "False"
    finally:
        release.set()
        first.join(WITHIN_S)
    assert len(receiver.received) == 1
    assert waiting_messages() == []


@pytest.fixture
def background(settings: Settings, database: Database) -> Iterator[Background]:
    running = Background(settings, database, broker.make_celery(settings))
    running.start()
    yield running
    running.stop()


@pytest.mark.shapes("embedded", "scaled")
def test_a_receiver_that_hangs_holds_up_nobody_else(
    lab: ChannelLab, receiver: Receiver, other: Receiver, background: Background
) -> None:
    """It hangs until all other messages have arrived, and there are many more than threads that send."""
    hanging = lab.make("hanging", receiver.url)
    receiver.usual = behaviours.hang
    with receiving() as third:
        for name, server in (("second", other), ("third", third)):
            lab.make(name, server.url)
        for number in range(EVENTS):
            lab.publish(f"n{number}")
        expected = sorted(f"n{number}" for number in range(EVENTS))
        for server in (other, third):
            server.wait_for(EVENTS)
            assert sorted(titles(server)) == expected, "once each"
        assert sorted(ids(other)) == sorted(ids(third))
    receiver.wait_for(1)
    assert len(receiver.received) == 1  # the others wait for it, in its lane
    assert lab.channel(hanging["id"])["waiting"] == EVENTS
    done = threading.Event()
    outbox.handle_topic("test.work")(lambda *_: done.set())
    with session_scope() as session:
        outbox.add(session, "test.work", "analysis")
    assert done.wait(WITHIN_S)
    assert not receiver.let_go.is_set()
    receiver.let_go.set()
    outbox._handlers.pop("test.work")


@pytest.mark.shapes("scaled")
def test_flushing_redis_loses_no_delivery(
    lab: ChannelLab,
    receiver: Receiver,
    settings: Settings,
    database: Database,
    redis_server: Redis,
) -> None:
    app = broker.make_celery(settings)
    broker.attach(database, app)
    lab.make("team", receiver.url)
    for number in range(5):
        lab.publish(f"n{number}")  # announced; no worker runs yet
    redis_server.flush()
    lab.clock.advance(2 * ANNOUNCE_AGAIN_S)
    running = Background(settings, database, app)
    running.start()
    try:
        receiver.wait_for(5)
    finally:
        running.stop()
    assert sorted(titles(receiver)) == [f"n{number}" for number in range(5)]
