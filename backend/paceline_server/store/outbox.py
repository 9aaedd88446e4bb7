"""The outbox: consequences written in the transaction of their cause, carried out afterwards, once (I5).

Place: between a change (ingest, jobs, alerts) and what follows from it (analysis, confirmation). Invariants:
- `done_at` is set in the transaction of the effect, so an effect happens exactly once in the rows;
- two carriers never work on one message at a time (PostgreSQL: row lock, skipped; SQLite: one writer);
- one that reads first is claimed for `CLAIM_S`, so that what reading does outside (a webhook) is not done
  twice while it is done; after a crash it may be, never its rows;
- a failing message is tried again later, ever more slowly, and its last error is kept; a topic that somebody
  waits for gives up after `INCIDENT_AFTER` failures instead (`gives_up`).

    pending --carry_out--> done            (effect and done_at commit together)
       ^           |
       +--failed---+--given up--> done     (attempts + 1, due_at moved by the back-off)

Knows no Celery: `worker.py` turns ids into messages, the sweeper finds ids nobody announced.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from paceline_server.kernel import clock
from paceline_server.store import incidents
from paceline_server.store.session import OUTBOX, read_scope, session_scope
from paceline_server.store.tables.messages import OutboxMessage

log = structlog.get_logger("paceline.outbox")

BACK_OFF_S = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0)
"""Pause after the first, second, … failure; the last repeats."""
CLAIM_S = 30.0
"""How long a message that is read for is nobody else's: longer than any receiver is waited for. A carrier
that dies meanwhile delays its message by this much."""
INCIDENT_AFTER = 5
"""Failures after which it is an incident: an error in the log and a number in `/metrics`, for a person."""

Effect = Callable[[Session, str, Any], None]
Reads = Callable[[Session, str], Any]
GivesUp = Callable[[Session, str, str], None]


@dataclass(frozen=True)
class Handler:
    """What carries out a topic: `reads` (optional, read-only transaction, may take long) then `effect`."""

    topic: str
    effect: Effect
    reads: Reads | None


_handlers: dict[str, Handler] = {}
_give_ups: dict[str, GivesUp] = {}
_at_it: set[int] = set()
"""Messages this process is carrying out: one announced twice is not read for twice."""
_at_it_lock = threading.Lock()


def handles(
    topic: str,
) -> Callable[[Callable[[Session, str], None]], Callable[[Session, str], None]]:
    """Register `effect(session, key)`; it runs in the write transaction that marks the message done."""

    def register(
        effect: Callable[[Session, str], None],
    ) -> Callable[[Session, str], None]:
        _add(Handler(topic, lambda session, key, _: effect(session, key), None))
        return effect

    return register


def handles_after_reading(topic: str, reads: Reads) -> Callable[[Effect], Effect]:
    """Register `effect(session, key, found)` where `found = reads(read_only_session, key)`.

    For long computations: nothing is locked while `reads` works, so on SQLite ingest goes on meanwhile. The
    effect must check that what was read still holds.
    """

    def register(effect: Effect) -> Effect:
        _add(Handler(topic, effect, reads))
        return effect

    return register


def gives_up(topic: str) -> Callable[[GivesUp], GivesUp]:
    """Register `end(session, key, error)` for a topic: after `INCIDENT_AFTER` failures it is carried out in
    place of the effect and the message is done. Topics without one are tried for ever."""

    def register(end: GivesUp) -> GivesUp:
        _give_ups[topic] = end
        return end

    return register


def _add(handler: Handler) -> None:
    _handlers[handler.topic] = handler


def add(session: Session, topic: str, key: str, due_in_s: float = 0) -> OutboxMessage:
    """Leave a message; announced after commit when due at once, else found by the sweeper when due."""
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


def due(session: Session, at: datetime, limit: int = 100) -> list[int]:
    """Ids of pending messages due by `at`, oldest first."""
    query = (
        select(OutboxMessage.id)
        .where(OutboxMessage.done_at.is_(None), OutboxMessage.due_at <= at)
        .order_by(OutboxMessage.due_at, OutboxMessage.id)
        .limit(limit)
    )
    return list(session.scalars(query))


def unannounced(
    session: Session, at: datetime, grace_s: float, limit: int = 500
) -> list[int]:
    """Ids the sweeper must announce: due later than they were made (delayed, or tried again), or pending for
    longer than `grace_s` although they were announced at once."""
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
    """Forget messages carried out before then."""
    session.execute(delete(OutboxMessage).where(OutboxMessage.done_at < before))


def pending(session: Session) -> tuple[int, datetime | None]:
    """How many messages wait, and since when the oldest is due."""
    query = select(func.count(), func.min(OutboxMessage.due_at)).where(
        OutboxMessage.done_at.is_(None)
    )
    count, oldest = session.execute(query).one()
    return count, oldest


def carry_out(message_id: int) -> bool:
    """Carry out one message if it is pending, due and nobody else is at it. True when its effect committed.

    Never raises for a failing handler: the failure is stored with the message and logged.
    """
    with _at_it_lock:
        if message_id in _at_it:
            return False
        _at_it.add(message_id)
    try:
        return _carry_out(message_id)
    finally:
        with _at_it_lock:
            _at_it.discard(message_id)


def _carry_out(message_id: int) -> bool:
    handler, key = _claimable(message_id)
    if handler is None or (handler.reads is not None and not _claim(message_id)):
        return False
    try:
        found = None
        if handler.reads is not None:
            with read_scope() as session:
                found = handler.reads(session, key)
        with session_scope() as session:
            query = (
                select(OutboxMessage)
                .where(OutboxMessage.id == message_id, OutboxMessage.done_at.is_(None))
                .with_for_update(skip_locked=True)
            )
            message = session.scalars(query).one_or_none()
            if message is None:
                return False
            handler.effect(session, key, found)
            message.done_at = clock.now()
    except Exception as error:
        log.exception(
            "outbox_failed", topic=handler.topic, key=key, message_id=message_id
        )
        said = repr(error)[:2000]
        end = _give_ups.get(handler.topic)
        if _failed(message_id, said) >= INCIDENT_AFTER and end is not None:
            _give_up(message_id, end, said)
        return False
    return True


def _claimable(message_id: int) -> tuple[Handler | None, str]:
    with read_scope() as session:
        message = session.get(OutboxMessage, message_id)
        if (
            message is None
            or message.done_at is not None
            or message.due_at > clock.now()
        ):
            return None, ""
        handler = _handlers.get(message.topic)
        if handler is None:
            log.error(
                "outbox_without_handler", topic=message.topic, message_id=message_id
            )
        return handler, message.key


def _claim(message_id: int) -> bool:
    """Put a due message off for everybody else; of two carriers one succeeds."""
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


def _failed(message_id: int, error: str) -> int:
    """Keep the failure and put the message off; returns how often it has failed (0: it is done or gone)."""
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


def _give_up(message_id: int, end: GivesUp, error: str) -> None:
    """End what waits for the message. When even that fails, the message stays pending and is tried again."""
    try:
        with session_scope() as session:
            query = (
                select(OutboxMessage)
                .where(OutboxMessage.id == message_id, OutboxMessage.done_at.is_(None))
                .with_for_update(skip_locked=True)
            )
            message = session.scalars(query).one_or_none()
            if message is not None:
                end(session, message.key, error)
                message.done_at = clock.now()
    except Exception:
        log.exception("outbox_cannot_give_up", message_id=message_id)


def drain(rounds: int = 100) -> int:
    """Carry out everything due, including what follows from it; returns how many effects committed."""
    done = 0
    for _ in range(rounds):
        with read_scope() as session:
            waiting = due(session, clock.now())
        carried = sum(carry_out(message_id) for message_id in waiting)
        done += carried
        if not carried:
            return done
    return done
