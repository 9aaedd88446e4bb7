"""Telling people of a confirmed alert, once.

Place: the outbox topic `alerts.notify`, left by `service` in the transaction that opened the alert.
Invariant (I13): only an alert that is open is told of; telling is remembered in its history. A channel
that fails makes the outbox try again later, so a channel must bear a repeat.
"""

from __future__ import annotations

from sqlalchemy.orm import Session

from paceline_server.alerts import queries
from paceline_server.alerts.channels.base import Channel, Notice
from paceline_server.alerts.channels.log import LogChannel
from paceline_server.alerts.channels.webhook import WebhookChannel
from paceline_server.alerts.history import SYSTEM, remember
from paceline_server.alerts.words import explanation
from paceline_server.detect import service as detect
from paceline_server.kernel import settings


def channels() -> list[Channel]:
    """The channels of this process, by its settings."""
    own = settings.current()
    webhook = [WebhookChannel(own.webhook_url, own.webhook_timeout_s)] if own.webhook_url else []
    return [LogChannel(), *webhook]


def deliver(session: Session, alert_id: str) -> list[str]:
    """Tell every channel of an open alert; names the channels told. Anything else is not worth a person's
    time.

    Runs in a read-only transaction: a slow receiver must not hold up the database's writer.
    """
    alert = queries.alert(session, alert_id)
    if alert is None or alert.state not in ("open", "acknowledged"):
        return []
    target = queries.target_name(session, alert.target_id)
    notice = Notice(
        alert_id=alert.id,
        title=alert.title,
        words=alert.words,
        explanation=explanation(alert, target, detect.findings_of(session, [alert.id])),
        url=f"{settings.current().public_url or ''}/alerts/{alert.id}",
        demonstration=alert.demonstration,
    )
    for channel in (used := channels()):
        channel.send(notice)
    return [channel.name for channel in used]


def record(session: Session, alert_id: str, told: list[str]) -> None:
    """Remember in the alert's history who was told."""
    alert = queries.lock_alert(session, alert_id) if told else None
    if alert is not None:
        remember(session, alert, "notified", SYSTEM, ", ".join(told))
