"""Outbox messages are carried out by the worker of either shape, whatever gets lost on the way (I4, I5)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest
from paceline_contract.testing.waiting import WITHIN_S, wait_until
from paceline_server.fleet import service as fleet
from paceline_server.kernel import clock as clock_module
from paceline_server.kernel.clock import FrozenClock
from paceline_server.kernel.settings import Settings
from paceline_server.runtime import broker
from paceline_server.runtime.embedded import Background
from paceline_server.runtime.sweeper import Sweeper
from paceline_server.store import outbox
from paceline_server.store.session import Database, read_scope, session_scope, using
from paceline_server.store.tables.messages import OutboxMessage
from paceline_server.testing import servers
from paceline_server.testing.concurrency import ContextThread
from paceline_server.testing.servers import Redis
from sqlalchemy.orm import Session

pytestmark = pytest.mark.shapes("embedded", "scaled")
TOPIC = "test.work"


class Work:
    """Counts effects per key; `wait(key)` until one has committed."""

    def __init__(self) -> None:
        self.effects: Counter[str] = Counter()
        self.failing: set[str] = set()
        self._changed = threading.Condition()

    def __call__(self, _: Session, key: str) -> None:
        with self._changed:
            is_failing = key in self.failing  # before whoever waits may change it
            self.effects[key] += 1
            self._changed.notify_all()
        if is_failing:
            raise RuntimeError("told to fail")

    def wait(self, key: str, times: int = 1) -> None:
        with self._changed:
            assert self._changed.wait_for(
                lambda: self.effects[key] >= times, WITHIN_S
            ), self.effects


@pytest.fixture
def work() -> Iterator[Work]:
    doing = Work()
    outbox.handle_topic(TOPIC)(doing)
    yield doing
    outbox._handlers.pop(TOPIC)


@pytest.fixture
def background(settings: Settings, database: Database) -> Iterator[Background]:
    running = Background(settings, database, broker.make_celery(settings))
    running.start()
    yield running
    running.stop()


def leave(key: str, due_in_s: float = 0) -> int:
    with session_scope() as session:
        message_id: int = outbox.add(session, TOPIC, key, due_in_s).id
    return message_id


def done(message_id: int) -> bool:
    with read_scope() as session:
        message = session.get(OutboxMessage, message_id)
        return message is not None and message.done_at is not None


def test_a_message_is_carried_out_after_its_commit(
    background: Background, work: Work
) -> None:
    for number in range(5):
        leave(f"k{number}")
    for number in range(5):
        work.wait(f"k{number}")


def test_a_message_of_a_rolled_back_change_is_never_carried_out(
    background: Background, work: Work
) -> None:
    try:
        with session_scope() as session:
            outbox.add(session, TOPIC, "never")
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    leave("after")
    work.wait("after")
    assert work.effects["never"] == 0


def test_a_delayed_message_is_carried_out_when_due(
    clock: FrozenClock, background: Background, work: Work
) -> None:
    message_id = leave("later", due_in_s=60)
    leave("now")
    background.sweeper.sweep()
    work.wait("now")
    assert not done(message_id)
    clock.advance(60)
    work.wait("later")


def test_the_sweeper_handles_messages_that_were_not_announced(
    database: Database, work: Work, settings: Settings
) -> None:
    """A server may die between its commit and its announcement."""
    message_id = leave("orphan")
    with session_scope() as session:
        message = session.get(OutboxMessage, message_id)
        assert message is not None
        message.created_at = message.due_at = clock_module.now() - timedelta(minutes=1)
    running = Background(settings, database, broker.make_celery(settings))
    running.start()
    try:
        work.wait("orphan")
    finally:
        running.stop()


@pytest.mark.shapes("scaled")
def test_flushing_redis_loses_nothing(
    settings: Settings, database: Database, work: Work, redis_server: Redis
) -> None:
    app = broker.make_celery(settings)
    broker.attach(database, app)
    ids = [leave(f"k{number}") for number in range(20)]  # announced; no worker runs yet
    redis_server.flush()
    with session_scope() as session:  # as if the sweeper's patience had passed
        for message_id in ids:
            message = session.get(OutboxMessage, message_id)
            assert message is not None
            message.created_at = message.due_at = clock_module.now() - timedelta(
                minutes=1
            )
    running = Background(settings, database, app)
    running.start()
    try:
        for number in range(20):
            work.wait(f"k{number}")
    finally:
        running.stop()
    assert outbox.drain() == 0
    assert all(done(message_id) for message_id in ids)


def test_a_failing_message_is_tried_again_and_keeps_its_error(
    background: Background, work: Work
) -> None:
    work.failing.add("bad")
    message_id = leave("bad")
    work.wait("bad", times=2)
    work.failing.clear()
    work.wait("bad", times=3)
    with read_scope() as session:
        message = session.get(OutboxMessage, message_id)
        assert message is not None
        assert message.attempts >= 1
        assert "told to fail" in (message.last_error or "")


def test_a_message_announced_many_times_has_one_effect(
    background: Background, work: Work
) -> None:
    message_id = leave("once")
    for _ in range(10):
        background.app.send_task(broker.TASK, args=[message_id], queue=broker.QUEUE)
    work.wait("once")
    leave("last")
    work.wait("last")
    assert work.effects["once"] == 1


def test_a_message_handled_by_many_at_once_has_one_effect(
    database: Database, work: Work, together: object
) -> None:
    message_id = leave("race")
    results = together(*[lambda: outbox.carry_out(message_id)] * 8)  # type: ignore[operator]
    assert sorted(results) == [False] * 7 + [True]
    assert work.effects["race"] == 1


@pytest.mark.shapes("scaled")
def test_changes_neither_fail_nor_wait_while_redis_is_away(
    settings: Settings, work: Work, port: int
) -> None:
    away = f"redis://127.0.0.1:{port}/0"
    app = broker.make_celery(settings.model_copy(update={"redis_url": away}))
    database = Database(settings.database_url, away)
    broker.attach(database, app)
    stored: list[int] = []
    with using(database):
        change = ContextThread(target=lambda: stored.append(leave("kept")), daemon=True)
        change.start()
        change.join(WITHIN_S)
        assert stored, "the change still waits for Redis"
        assert not done(stored[0])
        assert outbox.drain() == 1
        assert not broker.is_reachable(app)
        with pytest.raises(
            broker.BrokerAwayError
        ):  # at once: an outage does not slow every request
            database.publish_outbox([1])
    database.dispose()


@pytest.mark.usefixtures("server")
def test_the_process_that_agents_talk_to_notes_its_uptime() -> None:
    def is_up() -> bool:
        with read_scope() as session:
            return bool(fleet.read_uptime(session).periods)

    wait_until("a note that the API is up", is_up)


def test_a_sweep_notes_no_uptime_of_the_api(
    settings: Settings, database: Database
) -> None:
    Sweeper(settings, database.publish_outbox).sweep()
    with read_scope() as session:
        assert fleet.read_uptime(session).periods == []


@pytest.mark.shapes("scaled")
def test_a_worker_continues_after_redis_was_away(
    settings: Settings, work: Work, port: int
) -> None:
    moved = settings.model_copy(update={"redis_url": f"redis://127.0.0.1:{port}/0"})
    database = Database(moved.database_url, moved.redis_url)
    with using(database):
        with servers.redis(port):
            running = Background(moved, database, broker.make_celery(moved))
            running.start()
            leave("before")
            work.wait("before")
        message_id = leave("meanwhile")
        with session_scope() as session:  # as if the sweeper's patience had passed
            message = session.get(OutboxMessage, message_id)
            assert message is not None
            message.created_at = message.due_at = clock_module.now() - timedelta(
                minutes=1
            )
        with servers.redis(port):
            work.wait("meanwhile")
            running.stop()
    database.dispose()
