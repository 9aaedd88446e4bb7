"""Carries out one delivery: reads what to send, sends it in no transaction, records the attempt and its consequences.

    outbox ─▶ prepare ─▶ send ─▶ record ─┬─▶ delivered
              (reads)   (nothing  (one   ├─▶ postponed: the channel waits, or will be tried again
                         is open) write) └─▶ failed; after a day the channel is broken, which other channels report

A message is sent at least once: if the process dies between `send` and `record`, it is sent again with the same id.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy.orm import Session

from paceline_server.channels import queries, retrying, sending
from paceline_server.channels.notices import Notice
from paceline_server.channels.publishing import (
    BROKEN,
    DELIVER,
    key_of,
    publish,
    split_key,
)
from paceline_server.channels.sending import AttemptOutcome, describe_receiver
from paceline_server.kernel import clock, ids, settings
from paceline_server.store import outbox
from paceline_server.store.tables.channels import Channel, Delivery, DeliveryAttempt

log = structlog.get_logger("paceline.channels")

AFTER_OTHERS = timedelta(seconds=1)
"""A message that failed waits this much longer than another one, because the receiver may refuse only this message."""


@dataclass(frozen=True)
class Postponement:
    """The delivery waits until this instant, because the channel's receiver fails."""

    until: datetime


@dataclass(frozen=True)
class Refusal:
    """The delivery ends without an attempt."""

    reason: str


Preparation = sending.Outgoing | Postponement | Refusal | None
Result = AttemptOutcome | Postponement | Refusal | None


def prepare(session: Session, key: str) -> Preparation:
    """Return what to send for a delivery now, or why it waits or ends; None if it is over."""
    channel_id, delivery_id = split_key(key)
    delivery = queries.delivery(session, delivery_id)
    if delivery is None or delivery.state != "pending":
        return None
    channel = queries.channel(session, channel_id)
    if channel is None:
        return Refusal("The channel was deleted.")
    at = clock.now()
    if not delivery.by_hand:
        if channel.state == "broken":
            return Refusal(BROKEN)
        if channel.retry_at is not None and channel.retry_at > at:
            return Postponement(channel.retry_at + AFTER_OTHERS)
    return sending.prepare_message(session, channel, delivery, at)


def send(prepared: Preparation) -> Result:
    """Send a prepared message and return the outcome; return any other preparation unchanged."""
    if prepared is None or isinstance(prepared, Postponement | Refusal):
        return prepared
    return prepared.send()


def record(session: Session, key: str, result: Result) -> datetime | None:
    """Store the result of a delivery; returns the instant to which it is postponed, or None if it is over."""
    channel_id, delivery_id = split_key(key)
    delivery = queries.delivery(session, delivery_id, lock=True)
    if result is None or delivery is None or delivery.state != "pending":
        return None
    if isinstance(result, Postponement):
        return result.until
    if isinstance(result, Refusal):
        _finish(delivery, "skipped", result.reason)
        return None
    _add_attempt(session, delivery, result)
    channel = queries.channel(session, channel_id, lock=True)
    if result.error is None:
        _finish(delivery, "delivered", result.note)
        if channel is not None:
            _mark_healthy(channel)
        return None
    log.warning("delivery_failed", delivery_id=delivery.id, error=result.error)
    if delivery.by_hand or channel is None or channel.state == "broken":
        _finish(delivery, "failed", result.error)
        return None
    return _record_failure(session, channel, delivery, result)


def _add_attempt(session: Session, delivery: Delivery, outcome: AttemptOutcome) -> None:
    delivery.attempts += 1
    delivery.payload = outcome.payload
    delivery.progress = outcome.progress
    session.add(
        DeliveryAttempt(
            id=ids.new_id("att"),
            delivery_id=delivery.id,
            number=delivery.attempts,
            at=outcome.at,
            status=outcome.status,
            answer=outcome.answer,
            error=outcome.error,
            latency_ms=outcome.latency_ms,
        )
    )


def _finish(delivery: Delivery, state: str, reason: str | None) -> None:
    delivery.state = state
    delivery.reason = reason
    delivery.by_hand = False
    delivery.finished_at = clock.now()


def _mark_healthy(channel: Channel) -> None:
    channel.state = "healthy"
    channel.failures = 0
    channel.failing_since = channel.retry_at = channel.last_error = None


def _record_failure(
    session: Session, channel: Channel, delivery: Delivery, outcome: AttemptOutcome
) -> datetime | None:
    at = clock.now()
    own = None
    if not outcome.is_final:
        own = retrying.next_attempt(
            delivery.attempts, at, delivery.requested_at, outcome.retry_after_s
        )
    if outcome.blames_channel:
        channel.state = "failing"
        channel.last_error = outcome.error
        channel.failures += 1
        channel.failing_since = channel.failing_since or at
        channel.retry_at = retrying.next_attempt(
            channel.failures, at, channel.failing_since, outcome.retry_after_s
        )
        if channel.retry_at is None or outcome.status == retrying.GONE:
            _finish(delivery, "failed", outcome.error)
            _mark_broken(session, channel)
            return None
        _postpone_others(session, delivery, channel.retry_at)
    if own is None:
        _finish(delivery, "failed", outcome.error)
        return None
    if channel.retry_at is None:
        return own
    return max(own, channel.retry_at + AFTER_OTHERS)


def _postpone_others(session: Session, delivery: Delivery, retry_at: datetime) -> None:
    """Let one other message of the channel try whether the receiver works again, and the rest wait for it.

    The rest are postponed in one statement, because thousands of messages that try one by one would delay other
    channels.
    """
    by_hand = [key_of(other) for other in queries.pending_by_hand(session, delivery)]
    first = queries.next_pending(session, delivery)
    trying = [] if first is None else [key_of(first)]
    for key in trying:
        outbox.postpone_pending(session, DELIVER, key, retry_at)
    outbox.postpone_pending(
        session,
        DELIVER,
        f"{delivery.channel_id}:",
        retry_at + AFTER_OTHERS,
        but=[*by_hand, *trying],
    )


def _mark_broken(session: Session, channel: Channel) -> None:
    """Mark a channel as broken, and notify its owner through the other channels."""
    channel.state = "broken"
    channel.retry_at = None
    session.flush()
    notified = publish(
        session, _broken_notice(session, channel), except_channel=channel.id
    )
    log.error(
        "channel_broken", channel=channel.name, error=channel.last_error, told=notified
    )


def _broken_notice(session: Session, channel: Channel) -> Notice:
    owner = queries.owner_name(session, channel)
    where = settings.current().public_url or ""
    return Notice(
        kind="channel.broken",
        severity="warning",
        subject_id=channel.id,
        state="broken",
        title=f"Channel {channel.name} is broken",
        summary=f"{describe_receiver(channel)} fails: {channel.last_error}.",
        text=f"{owner}: channel {channel.name} gets no more messages until a test of it succeeds. "
        "Messages that waited are listed there and can be sent again.",
        url=f"{where}/channels/{channel.id}",
    )
