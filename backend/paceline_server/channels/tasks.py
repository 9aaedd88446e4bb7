"""Handles the outbox topics of channels."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.orm import Session

from paceline_server.channels import delivering, digests
from paceline_server.channels.delivering import Result
from paceline_server.channels.publishing import DELIVER, DIGEST, lane_of
from paceline_server.store.outbox import handle_topic, handle_topic_outside


@handle_topic_outside(DELIVER, delivering.prepare, delivering.send, lane_of)
def deliver(session: Session, key: str, result: Result) -> datetime | None:
    """Record the result of a delivery. `key` is `channel:delivery`."""
    return delivering.record(session, key, result)


@handle_topic(DIGEST)
def send_digest(session: Session, key: str) -> None:
    """Send the digest of a channel. `key` is the channel's id."""
    digests.send_digest(session, key)
