"""Carries out what must follow from a change, exactly once: messages are written in the transaction of the change (I5).

- `done_at` is set in the transaction of the effect, so the effect's rows change exactly once.
- Two processes never work on one message at a time (PostgreSQL: row lock; SQLite: one writer).
- A message with a reading step is claimed for `CLAIM_S`, so that no other process begins it.
- Requests to others (a webhook) are made between two transactions, in none. After a crash they are made again.
- A failing message is retried with growing pauses and keeps its last error. A topic with a give-up handler ends
  after `INCIDENT_AFTER` failures.

    pending --carry_out--> done            (effect and done_at commit together)
       ^           |
       |           +--given up--> done
       +--failed---+                       (attempts + 1, due_at moved by the back-off)
       +-postponed-+                       (the effect named a later instant)

A message belongs to the project it was added in, and its effect sees and changes only that project. This module does
not know Celery: `worker.py` turns ids of messages into tasks, and the sweeper finds ids that were not announced.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import Select, delete, func, or_, select, update
from sqlalchemy.orm import Session

from paceline_server.kernel import clock
from paceline_server.store import access, incidents
from paceline_server.store.session import OUTBOX, read_scope, session_scope
from paceline_server.store.tables.messages import OutboxMessage

log = structlog.get_logger("paceline.outbox")

BACK_OFF_S = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
"""Pauses after the first, second, … failure; the last one repeats."""
CLAIM_S = 30.0
"""How long a claim lasts: longer than the timeout of any receiver. After a crash, the message waits this long."""
INCIDENT_AFTER = 5
"""Failures after which an incident is reported."""

EffectStep = Callable[[Session, str, Any], datetime | None]
"""Returns the instant to which the message is postponed, or None if it is done."""
ReadStep = Callable[[Session, str], Any]
ActStep = Callable[[Any], Any]
LaneOf = Callable[[str], str]
GiveUpStep = Callable[[Session, str, str], None]


@dataclass(frozen=True)
class Handler:
    """The steps that carry out messages of a topic: `reads` (optional, in a read-only transaction, may take long),
    `acts` (optional, in no transaction), then `effect`. `lane_of`: messages of the same lane wait for each other."""

    topic: str
    effect: EffectStep
    reads: ReadStep | None = None
    acts: ActStep | None = None
    lane_of: LaneOf | None = None


_handlers: dict[str, Handler] = {}
_give_ups: dict[str, GiveUpStep] = {}
_in_progress: set[int] = set()
"""Messages this process is carrying out, so that a message announced twice is not read twice."""
_in_progress_lock = threading.Lock()


def handle_topic(
    topic: str,
) -> Callable[[Callable[[Session, str], None]], Callable[[Session, str], None]]:
    """Register `effect(session, key)`; it runs in the write transaction that marks the message done."""

    def register(
        effect: Callable[[Session, str], None],
    ) -> Callable[[Session, str], None]:
        _handlers[topic] = Handler(topic, lambda session, key, _: effect(session, key))
        return effect

    return register


def handle_topic_after_reading(
    topic: str, reads: ReadStep
) -> Callable[[EffectStep], EffectStep]:
    """Register `effect(session, key, result)` where `result = reads(read_only_session, key)`.

    It is for long computations: `reads` locks nothing, so that ingest continues on SQLite. The effect must check that
    what was read still holds.
    """

    def register(effect: EffectStep) -> EffectStep:
        _handlers[topic] = Handler(topic, effect, reads)
        return effect

    return register


def handle_topic_outside(
    topic: str, reads: ReadStep, acts: ActStep, lane_of: LaneOf
) -> Callable[[EffectStep], EffectStep]:
    """Register `effect(session, key, result)` where `result = acts(reads(read_only_session, key))`.

    It is for requests to others, which may take long: no transaction is open while `acts` runs, and messages of
    different lanes (`lane_of(key)`) are carried out at the same time. `acts` returns failures; an exception it raises
    is a bug of ours.
    """

    def register(effect: EffectStep) -> EffectStep:
        _handlers[topic] = Handler(topic, effect, reads, acts, lane_of)
        return effect

    return register


def on_give_up(topic: str) -> Callable[[GiveUpStep], GiveUpStep]:
    """Register `end(session, key, error)`, which replaces the effect after `INCIDENT_AFTER` failures. Messages of
    topics without it are retried for ever."""

    def register(end: GiveUpStep) -> GiveUpStep:
        _give_ups[topic] = end
        return end

    return register


def add(session: Session, topic: str, key: str, due_in_s: float = 0) -> OutboxMessage:
    """Add a message. One that is due at once is announced after the commit; the sweeper finds others."""
    at = clock.now()
    message = OutboxMessage(
        topic=topic,
        key=key,
        created_at=at,
        due_at=at + timedelta(seconds=due_in_s),
        attempts=0,
        last_error=None,
        done_at=None,
    )
    session.add(message)
    session.flush()
    if due_in_s <= 0:
        session.info.setdefault(OUTBOX, []).append(message)
    return message


def postpone_pending(
    session: Session,
    topic: str,
    prefix: str,
    until: datetime,
    *,
    but: Collection[str] = (),
) -> None:
    """Postpone the pending messages whose keys begin with `prefix` to `until`, except the keys in `but`.

    Messages that another transaction has locked are skipped, which rules out deadlocks with it.
    """
    held = (
        select(OutboxMessage.id)
        .where(
            OutboxMessage.done_at.is_(None),
            OutboxMessage.due_at < until,
            OutboxMessage.topic == topic,
            OutboxMessage.key.startswith(prefix, autoescape=True),
            OutboxMessage.key.not_in(but),
        )
        .with_for_update(skip_locked=True)
    )
    session.execute(
        update(OutboxMessage)
        .where(OutboxMessage.id.in_(held))
        .values(due_at=until)
        .execution_options(synchronize_session=False)
    )


def pending_keys(topic: str) -> Select[str]:
    """Return a query for the keys of a topic's pending messages."""
    return select(OutboxMessage.key).where(
        OutboxMessage.topic == topic, OutboxMessage.done_at.is_(None)
    )


def list_due(session: Session, at: datetime, limit: int = 100) -> list[int]:
    """Return the ids of pending messages due by `at`, oldest first."""
    query = (
        select(OutboxMessage.id)
        .where(OutboxMessage.done_at.is_(None), OutboxMessage.due_at <= at)
        .order_by(OutboxMessage.due_at, OutboxMessage.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def list_unannounced(
    session: Session, at: datetime, grace_s: float, limit: int = 500
) -> list[int]:
    """Return the ids that the sweeper must announce: of delayed or retried messages that are due, and of messages
    that are still pending `grace_s` after they were announced."""
    query = (
        select(OutboxMessage.id)
        .where(
            OutboxMessage.done_at.is_(None),
            OutboxMessage.due_at <= at,
            or_(
                OutboxMessage.due_at > OutboxMessage.created_at,
                OutboxMessage.created_at <= at - timedelta(seconds=grace_s),
            ),
        )
        .order_by(OutboxMessage.due_at, OutboxMessage.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def prune(session: Session, before: datetime) -> None:
    """Delete messages that were carried out before an instant."""
    session.execute(delete(OutboxMessage).where(OutboxMessage.done_at < before))


def count_pending(session: Session) -> tuple[int, datetime | None]:
    """Return the number of pending messages, and when the oldest became due."""
    query = select(func.count(), func.min(OutboxMessage.due_at)).where(
        OutboxMessage.done_at.is_(None)
    )
    count, oldest = session.execute(query).one()
    return count, oldest


def lane_of_message(message_id: int) -> str | None:
    """Return the lane of a pending message whose topic has lanes; None for all others."""
    with read_scope() as session:
        message = session.get(OutboxMessage, message_id)
        if message is None or message.done_at is not None:
            return None
        handler = _handlers.get(message.topic)
        if handler is None or handler.lane_of is None:
            return None
        return handler.lane_of(message.key)


def carry_out(message_id: int) -> bool:
    """Carry out one message if it is pending, due and not in progress; returns whether its effect committed.

    A failing handler does not raise here: its failure is stored with the message and logged.
    """
    with _in_progress_lock:
        if message_id in _in_progress:
            return False
        _in_progress.add(message_id)
    try:
        return _carry_out(message_id)
    finally:
        with _in_progress_lock:
            _in_progress.discard(message_id)


def _carry_out(message_id: int) -> bool:
    claimable = _find_claimable(message_id)
    if claimable is None:
        return False
    with access.using(access.of_project(claimable.project_id)):
        return _carry_out_in_project(message_id, claimable.handler, claimable.key)


def _carry_out_in_project(message_id: int, handler: Handler, key: str) -> bool:
    if handler.reads is not None and not _claim(message_id):
        return False
    try:
        result = None
        if handler.reads is not None:
            with read_scope() as session:
                result = handler.reads(session, key)
        if handler.acts is not None:
            result = handler.acts(result)
        with session_scope() as session:
            message = _lock_pending(session, message_id)
            if message is None:
                return False
            postponed_to = handler.effect(session, key, result)
            if postponed_to is None:
                message.done_at = clock.now()
            else:
                message.due_at = postponed_to
    except Exception as error:
        log.exception(
            "outbox_failed", topic=handler.topic, key=key, message_id=message_id
        )
        error_text = repr(error)[:2000]
        end = _give_ups.get(handler.topic)
        if _store_failure(message_id, error_text) >= INCIDENT_AFTER and end is not None:
            _give_up(message_id, end, error_text)
        return False
    return True


def _lock_pending(session: Session, message_id: int) -> OutboxMessage | None:
    """Lock and return the message; None if it is done or another process has locked it."""
    query = (
        select(OutboxMessage)
        .where(OutboxMessage.id == message_id, OutboxMessage.done_at.is_(None))
        .with_for_update(skip_locked=True)
    )
    return session.scalars(query).one_or_none()


@dataclass(frozen=True)
class _Claimable:
    handler: Handler
    key: str
    project_id: str


def _find_claimable(message_id: int) -> _Claimable | None:
    with read_scope() as session:
        message = session.get(OutboxMessage, message_id)
        if (
            message is None
            or message.done_at is not None
            or message.due_at > clock.now()
        ):
            return None
        handler = _handlers.get(message.topic)
        if handler is None:
            log.error(
                "outbox_without_handler", topic=message.topic, message_id=message_id
            )
            return None
        return _Claimable(handler, message.key, message.project_id)


def _claim(message_id: int) -> bool:
    """Claim a due message for `CLAIM_S`; only one process succeeds."""
    at = clock.now()
    query = (
        update(OutboxMessage)
        .where(
            OutboxMessage.id == message_id,
            OutboxMessage.done_at.is_(None),
            OutboxMessage.due_at <= at,
        )
        .values(due_at=at + timedelta(seconds=CLAIM_S))
        .returning(OutboxMessage.id)
    )
    with session_scope() as session:
        return session.execute(query).scalar_one_or_none() is not None


def _store_failure(message_id: int, error: str) -> int:
    """Store a failure and postpone the message; returns its number of failures, or 0 if it is done or deleted."""
    with session_scope() as session:
        message = session.get(OutboxMessage, message_id)
        if message is None or message.done_at is not None:
            return 0
        failures = message.attempts + 1
        pause = BACK_OFF_S[min(message.attempts, len(BACK_OFF_S) - 1)]
        session.execute(
            update(OutboxMessage)
            .where(OutboxMessage.id == message_id)
            .values(
                attempts=OutboxMessage.attempts + 1,
                last_error=error,
                due_at=clock.now() + timedelta(seconds=pause),
            )
        )
        if failures == INCIDENT_AFTER:
            detail = {"topic": message.topic, "key": message.key, "error": error}
            incidents.report(session, incidents.OUTBOX_STUCK, detail)
        return failures


def _give_up(message_id: int, end: GiveUpStep, error: str) -> None:
    """Carry out the give-up step. If that fails too, the message stays pending and is retried."""
    try:
        with session_scope() as session:
            message = _lock_pending(session, message_id)
            if message is not None:
                end(session, message.key, error)
                message.done_at = clock.now()
    except Exception:
        log.exception("outbox_cannot_give_up", message_id=message_id)


def drain(rounds: int = 100) -> int:
    """Carry out all due messages, including those that follow from them; returns how many effects committed."""
    total = 0
    for _ in range(rounds):
        with read_scope() as session:
            due = list_due(session, clock.now())
        done = sum(carry_out(message_id) for message_id in due)
        total += done
        if not done:
            return total
    return total
